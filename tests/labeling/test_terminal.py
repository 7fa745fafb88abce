"""The terminal, through a pseudo-terminal as over ssh."""

import json
import os
import re
import select
import signal
import sys
import threading
import time

import pandas as pd
import pytest
from rich.console import Console

from hedgeclipper.labeling.terminal import Keys, _plain
from tests.command_line import forking_context
from tests.labeling.served import CLASSES, run_fast, write_rows

pty, termios, tty = map(pytest.importorskip, ("pty", "termios", "tty"))  # not on Windows
WORDS = ["label", "rows.csv", "--target", "diagnosis", "--terminal", "--max-error", "0.1"]
WORDS += ["--classes", ",".join(CLASSES)]


def begin_terminal(name):
    """Make a terminal that of this process, which Ctrl-C ends then."""
    os.setsid()
    handle = os.open(name, os.O_RDWR)
    for number in range(3):
        os.dup2(handle, number)
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="strict")  # as in most terminals
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(TERM="xterm", COLUMNS="100")


def run_in_terminal(name, folder):
    begin_terminal(name)
    run_fast(WORDS, folder)


def wait_for_key(name):
    begin_terminal(name)

    def interrupt():
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    with Keys() as keys:
        print("begun", flush=True)
        threading.Timer(0.1, interrupt).start()
        try:
            keys.read()
        except KeyboardInterrupt:
            print("ended", flush=True)


def drop_keys(name):
    begin_terminal(name)
    found = []
    with Keys() as keys:
        signal.signal(signal.SIGINT, lambda *given: found.append(1))
        for number in range(51):
            print(f"taken {number},", flush=True)
            while len(found) <= number < 50:
                keys.drop()


def interrupt_the_beginning(name):
    begin_terminal(name)
    before, setcbreak = termios.tcgetattr(0), tty.setcbreak

    def interrupted(*given):
        setcbreak(*given)
        raise KeyboardInterrupt

    tty.setcbreak = interrupted
    try:
        with Keys():
            pass
    except KeyboardInterrupt:
        print("same" if termios.tcgetattr(0) == before else "other", flush=True)


class Terminal:
    """A process in a terminal of its own: ``expect`` reads, ``press`` writes."""

    def __init__(self, work, *given):
        self.ours, theirs = pty.openpty()
        arguments = (os.ttyname(theirs), *given)
        self.process = forking_context().Process(target=work, args=arguments)
        self.process.start()
        self.theirs, self.text = theirs, ""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.join()
        os.close(self.theirs)
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
    with Terminal(run_in_terminal, tmp_path) as terminal:
        first = row_of(terminal)
        terminal.press("1")
        terminal.expect("Saved: benign")
        second = row_of(terminal)
        terminal.press("n")
        terminal.expect("Note: ")
        terminal.press("of the second\r")
        terminal.press("u")
        terminal.expect("Taken back")
        assert row_of(terminal) == first
        terminal.press("m")
        terminal.expect("Saved: malignant")
        assert row_of(terminal) == second
        terminal.press("n")
        terminal.expect("Note: ")
        terminal.press("odd\udcc3\r")  # a letter of which one byte was deleted
        terminal.press("m")
        terminal.expect("Saved: malignant")
        third = row_of(terminal)
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
        ("label", first, "malignant", None),
        ("label", second, "malignant", "odd\ufffd"),
        ("label", third, None, None),
    ]
    with Terminal(run_in_terminal, tmp_path) as terminal:
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
    with Terminal(run_in_terminal, tmp_path) as terminal:
        row_of(terminal)
        terminal.press("\x1b[B")  # an arrow is no label
        terminal.press("\x03")
        terminal.expect("0 of 300 rows have a label")
        terminal.process.join(60)
        assert terminal.process.exitcode == 0


def test_letters_of_an_arrow_that_come_later_are_no_labels(monkeypatch):
    """Over a network its parts may come one by one, and right after a key."""
    chunks, is_more = [b"x\x1b", b"[B", b"m"], [True, False]

    def wait(readable, writable, failed, seconds=None):
        return readable[:1] if seconds is None or is_more.pop(0) else [], [], []

    monkeypatch.setattr(select, "select", wait)
    monkeypatch.setattr(os, "read", lambda handle, size: chunks.pop(0))
    keys = Keys()
    assert keys.read() + keys.read() == "xm"


def test_ctrl_c_ends_the_wait_for_a_key_also_if_it_does_not_interrupt_the_read():
    """A signal that comes right before a read, or in another thread, does not interrupt it."""
    with Terminal(wait_for_key) as terminal:
        terminal.expect("begun")
        terminal.expect("ended")


def test_no_ctrl_c_is_lost_while_keys_are_dropped():
    """What the system has not taken in yet is no signal so far, and must not be dropped."""
    with Terminal(drop_keys) as terminal:
        for number in range(50):
            terminal.expect(f"taken {number},", seconds=20)
            terminal.press("\x03")
        terminal.expect("taken 50,", seconds=20)


def test_ctrl_c_at_the_beginning_leaves_the_terminal_as_it_was():
    with Terminal(interrupt_the_beginning) as terminal:
        assert terminal.expect("same|other")[0] == "same"


@pytest.mark.parametrize("text", ["\x1b]0;title\x07", "\x1b[2J", "\x9b2J", "a\rb", "\x08"])
def test_cells_do_not_reach_the_terminal_as_commands(text):
    console = Console(force_terminal=True, color_system=None)
    with console.capture() as found:
        console.print(_plain(text))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", found.get())
