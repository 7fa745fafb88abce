import ast
import subprocess
import sys

import hedgeclipper
from hedgeclipper.cli.output import ExitCode


def test_help_and_version(command):
    assert command("--version").out == f"hedgeclipper {hedgeclipper.__version__}\n"
    assert command("--help").code == 0
    for name in ("fit", "predict", "votes", "evaluate", "report", "demo"):
        assert name in command.out
    assert "Exit codes" in command.out
    assert "--unlabeled" in command("fit", "-h").out


def test_the_path_in_six_lines(command):
    assert command().code == 0
    lines = command.out.splitlines()
    names = ["sample", "fit", "predict", "finish", "label", "audit"]
    assert [line.split()[1] for line in lines] == names
    assert max(map(len, lines)) <= 100
    assert "--confidence" in lines[1], "without it, nothing is guaranteed"


def test_nothing_waits_for_what_it_does_not_need():
    """Help loads no library of numbers, and predictions load no report."""
    code = (
        "import sys; from hedgeclipper.cli import main; main(['--help']); print([*sys.modules]); "
        "import hedgeclipper.cli.model_commands; print([*sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    found = [set(ast.literal_eval(line)) for line in done.stdout.splitlines() if line[:1] == "["]
    help_loads, predict_loads = found
    assert "typer" in help_loads
    assert not help_loads & {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "numba", "narwhals"}
    assert "pandas" in predict_loads, done.stderr
    reports = {"matplotlib", "jinja2", "hedgeclipper.report.page", "hedgeclipper.labeling.loop"}
    assert not predict_loads & reports


def test_the_command_as_a_process():
    words = [sys.executable, "-m", "hedgeclipper.cli", "votes", "rows.csv", "--no-such-option"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    assert "no-such-option" in done.stderr


def test_without_the_extra(monkeypatch, capsys):
    from hedgeclipper.cli import main

    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--help"]) == 2
    assert "pip install 'hedgeclipper[cli]'" in capsys.readouterr().err
