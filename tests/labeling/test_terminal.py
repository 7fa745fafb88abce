"""The terminal, through a pseudo-terminal as over ssh."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from rich.console import Console

from hedgeclipper.labeling.terminal import _plain
from tests.labeling.served import CLASSES, write_rows

fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))  # not on Windows
FAST = (
    "import sys; from sklearn.linear_model import LogisticRegression as L; "
    "from sklearn.pipeline import make_pipeline as p; from sklearn.preprocessing import "
    "StandardScaler as S; from hedgeclipper import cli; import hedgeclipper.labeling.loop as loop; "
    "loop.HedgeClipperClassifier = lambda random_state: p(S(), L()); "
    "sys.exit(cli.main(sys.argv[1:]))"
)
WORDS = ["label", "rows.csv", "--target", "diagnosis", "--terminal", "--max-error", "0.1"]


def take_interrupts():
    """Undo what a shell does to commands in the background, which then ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begin_terminal():
    take_interrupts()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C is for it alone


class Terminal:
    """The command in a terminal of its own: ``expect`` reads, ``press`` writes."""

    def __init__(self, folder):
        self.ours, theirs = pty.openpty()
        words = [sys.executable, "-c", FAST, *WORDS, "--classes", ",".join(CLASSES)]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=begin_terminal,
        )
        os.close(theirs)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def expect(self, pattern, seconds=60):
        """Read until the pattern is there, and return its match; what was before it is dropped."""
        end = time.monotonic() + seconds
        while (found := re.search(pattern, self.text)) is None:
            if not select.select([self.ours], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError(f"No {pattern!r} in {self.text!r}")
            printed = os.read(self.ours, 65536).decode(errors="replace")
            self.text += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", printed)
        self.text = self.text[found.end() :]
        return found

    def press(self, keys):
        os.write(self.ours, keys.encode(errors="surrogateescape"))


def row_of(terminal):
    row = int(terminal.expect(r"Row ([\d,]+) ")[1].replace(",", "")) - 1
    terminal.expect("q quit")
    return row


def test_labels_undo_skip_note_and_quit_and_the_next_start_goes_on(tmp_path):
    truth = write_rows(tmp_path)
    with Terminal(tmp_path) as terminal:
        first = row_of(terminal)
        terminal.press("1")
        terminal.expect("Saved: benign")
        second = row_of(terminal)
        terminal.press("u")
        terminal.expect("Taken back")
        assert row_of(terminal) == first
        terminal.press("n")
        terminal.expect("Note: ")
        terminal.press("odd\udcc3\r")  # a letter of which one byte was deleted
        terminal.press("m")
        terminal.expect("Saved: malignant")
        assert row_of(terminal) == second
        terminal.press("o")
        terminal.expect("not seen enough labels")
        terminal.press("x")
        terminal.press("s")
        terminal.expect("Saved: cannot tell")
        row_of(terminal)
        terminal.press("q")
        terminal.expect("again to go on")
    lines = map(json.loads, (tmp_path / "rows.csv.session.jsonl").read_text().splitlines())
    events = [(e["event"], e["row"], e.get("label"), e.get("note")) for e in lines if "row" in e]
    assert events == [
        ("label", first, "benign", None),
        ("undo", first, None, None),
        ("label", first, "malignant", "odd?"),
        ("label", second, None, None),
    ]
    with Terminal(tmp_path) as terminal:
        terminal.expect("Going on with")
        label_all(terminal, truth)
    assert len(pd.read_csv(tmp_path / "rows.labeled.csv")) == len(truth)


def label_all(terminal, truth):
    """Label until the command says that the file is written."""
    while found := terminal.expect(r"Row ([\d,]+) [\s\S]*?q quit|Written to"):
        if found[1] is None:
            return
        terminal.press("12"[truth[int(found[1].replace(",", "")) - 1]])


def test_arrows_do_nothing_and_ctrl_c_ends_it(tmp_path):
    write_rows(tmp_path)
    with Terminal(tmp_path) as terminal:
        row_of(terminal)
        terminal.press("\x1b[B")  # an arrow is no label
        terminal.press("\x03")
        terminal.expect("0 of 300 rows have a label")
        assert terminal.process.wait(60) == 0


def test_ctrl_c_ends_the_wait_for_a_key_also_if_it_does_not_interrupt_the_read():
    """A signal that comes right before a read, or in another thread, does not interrupt it."""
    words = (
        "import signal, threading\n"
        "from hedgeclipper.labeling.keys import Keys\n"
        "def interrupt():\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGINT)\n"
        "with Keys() as keys:\n"
        "    threading.Timer(0.5, interrupt).start()\n"
        "    try:\n"
        "        keys.read()\n"
        "    except KeyboardInterrupt:\n"
        "        print('ended')\n"
    )
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", words]
    found = subprocess.run(
        command,
        stdin=theirs,
        capture_output=True,
        timeout=60,
        check=True,
        preexec_fn=take_interrupts,
    )
    assert found.stdout == b"ended\n"
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("text", ["\x1b]0;title\x07", "\x1b[2J", "\x9b2J", "a\rb", "\x08"])
def test_cells_do_not_reach_the_terminal_as_commands(text):
    console = Console(force_terminal=True, color_system=None)
    with console.capture() as found:
        console.print(_plain(text))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", found.get())
