import subprocess
import sys
from pathlib import Path

import hedgeclipper
from hedgeclipper.cli.app import find_checkout, spread_values
from hedgeclipper.cli.output import ExitCode


def test_demo(command, monkeypatch):
    monkeypatch.setattr("hedgeclipper.cli.demo.main", lambda: print("the demo"))
    assert command("demo").out == "the demo\n"


def test_bench_runs_make_in_a_checkout(command, monkeypatch):
    calls = []

    def run(words, **options):
        calls.append((words, options["cwd"]))
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root / "tests")
    assert command("bench", "votes-table").code == 0
    assert calls == [(["make", "--no-print-directory", "votes-table"], root)]
    assert find_checkout(root / "docs") == root


def test_bench_elsewhere(command):
    assert command("bench").code == 3
    assert "is in no copy of HedgeClipper's repository" in command.err


def test_help_and_version(command):
    assert command("--version").out == f"hedgeclipper {hedgeclipper.__version__}\n"
    for words in ([], ["--help"]):
        assert command(*words).code == 0
        for name in ("fit", "predict", "votes", "report", "bench", "demo"):
            assert name in command.out
        assert "Exit codes" in command.out
    assert "--unlabeled" in command("fit", "-h").out


def test_help_shows_no_types_of_flags(command):
    for words in ((), ("fit",), ("predict",), ("votes",), ("bench",)):
        out = command(*words, "--help").out
        assert "Show this message and exit." in out
        assert "bool" not in out


def test_help_waits_for_no_library_of_numbers():
    code = "import sys; from hedgeclipper.cli import main; main(['--help']); print([*sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded = set(done.stdout.splitlines()[-1].replace("'", "").strip("[]").split(", "))
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "numba", "narwhals"}


def test_the_command_as_a_process():
    def run(*words):
        words = [sys.executable, "-m", "hedgeclipper.cli", *words]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    assert run("--version") == (0, f"hedgeclipper {hedgeclipper.__version__}\n", "")
    code, _, error = run("bench", "no-such-target")
    assert code == ExitCode.USAGE
    assert "no-such-target" in error


def test_many_values_of_one_option():
    typed = ["fit", "a", "--unlabeled", "b", "c", "-m", "d", "--unlabeled", "e"]
    assert spread_values(typed) == [
        *("fit", "a", "--unlabeled", "b", "--unlabeled", "c", "-m", "d"),
        *("--unlabeled", "e"),
    ]


def test_without_the_extra(monkeypatch, capsys):
    from hedgeclipper.cli import main

    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--help"]) == 1
    assert "pip install 'hedgeclipper[cli]'" in capsys.readouterr().err
