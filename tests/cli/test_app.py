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


def test_predictions_wait_for_nothing_they_do_not_need():
    code = "import sys, hedgeclipper.cli.model_commands; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    loaded = set(done.stdout.split())
    assert "pandas" in loaded, done.stderr
    assert not loaded & {"matplotlib", "jinja2", "hedgeclipper.report.page"}
    assert "hedgeclipper.labeling.loop" not in loaded


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
    code, _, error = run("votes", "rows.csv", "--no-such-option")
    assert code == ExitCode.USAGE
    assert "no-such-option" in error


def test_without_the_extra(monkeypatch, capsys):
    from hedgeclipper.cli import main

    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--help"]) == 2
    assert "pip install 'hedgeclipper[cli]'" in capsys.readouterr().err
