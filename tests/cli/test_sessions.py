"""Sessions of ``hedgeclipper label`` as files of labels: for fit, audit and finish."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper import HedgeClipperClassifier, LabelingLoop
from hedgeclipper.cli.output import ExitCode
from hedgeclipper.labeling.session import read_session
from tests.command_line import forking_context, tumors

SESSION = "rows.csv.session.jsonl"
FIT = ("fit", "rows.csv", "--labels", SESSION, "-m", "m.skops", "--json")


@pytest.fixture(autouse=True)
def _fork(monkeypatch):
    monkeypatch.setattr("hedgeclipper.labeling.fitting.get_context", lambda _: forking_context())


def label(n_labels, n_skipped=0, n_by_eva=0):
    """Write rows.csv, and a session of so many labels; the first rows are skipped, also later."""
    frame, truth = tumors()
    frame.to_csv("rows.csv", index=False)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    options = {"classes": ["benign", "malignant"], "session": SESSION, "target": "kind"}
    loop = LabelingLoop(frame, model=model, max_error=0.05, **options)
    skipped = []
    for k in range(n_labels):
        if not (rows := loop.ask(1)).size:
            break
        skipped += rows.tolist() if len(skipped) < n_skipped else []
        given = None if rows[0] in skipped else truth[rows[0]]
        loop.tell(rows, [given], annotator="eva" if k < n_by_eva else "")
    loop.close()
    return frame, truth


def test_only_labels_drawn_at_random_test_a_fit(command, monkeypatch):
    label(700)
    session = read_session(SESSION)
    assert session.sample is not None
    given = {}
    fit = HedgeClipperClassifier.fit

    def spied(self, X, y, **options):
        given.update(options, y=y)
        return fit(self, X, y, **options)

    monkeypatch.setattr("hedgeclipper.HedgeClipperClassifier.fit", spied)
    assert command(*FIT).code == 0, command.err
    decided = np.array([one is not None for one in session.labels])
    assert command.result["n_labeled"] == decided.sum()
    assert command.result["target"] == "kind"
    np.testing.assert_array_equal(given["sample"].rows, session.sample.rows)
    chosen = session.rows[decided & ~np.isin(session.rows, session.sample.rows)]
    assert command.result["session"]["n_chosen"] == chosen.size > 0
    assert not np.isin(chosen, given["sample"].rows).any()
    command(*FIT[:-1], "--force")
    assert f"{chosen.size:,} labels were chosen, reviewed or known before" in command.out
    assert "train and never test" in command.out


@pytest.mark.parametrize("n_labels", [25, 70])
def test_before_an_attempt_only_the_first_rows_test(command, n_labels):
    """They are no planned sample: who labels sees how well it goes, and may stop at its best."""
    label(n_labels)
    session = read_session(SESSION)
    n_first = int(np.sum(session.reasons == "start"))
    assert n_first == min(n_labels, 30)
    assert set(session.sample.rows) == set(session.rows[session.reasons == "start"])
    assert (np.diff(session.sample.rows) < 0).any()  # in the order of the draw
    assert session.sample.describe().endswith("one after the other")
    assert command(*FIT, "--confidence", 0.9).code == 0, command.err
    assert command.result["session"] == {"n_chosen": n_labels - n_first, "n_drawn": n_first}
    found = command.result["certificate"]
    assert found["n_tested"] <= n_first
    assert found["kind"] == "estimate"


def test_rows_skipped_before_the_draw_allow_no_guarantee(command):
    label(700, n_skipped=2)
    assert command(*FIT, "--confidence", 0.9).code == ExitCode.DATA
    assert "were skipped before the tests were drawn" in command.result["error"]
    assert command(*FIT).code == 0, command.err
    assert command.result["certificate"]["kind"] == "estimate"


def test_an_audit_looks_at_the_tests_of_a_session(command):
    frame, truth = label(700, n_skipped=1)
    session = read_session(SESSION)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(truth)) < 0.1
    other = np.where(truth == "benign", "malignant", "benign")
    table = frame.assign(prediction=np.where(wrong, other, truth), score=rng.random(len(truth)))
    table.to_csv("predictions.csv", index=False)
    words = ("audit", "predictions.csv", "--labels", SESSION, "--confidence-column", "score")
    command(*words, "--max-error", 0.2, "-o", "labels.csv", "--json")
    assert command.code == 0, command.err
    n_tests = int(np.isin(session.rows, session.sample.rows).sum())
    assert command.result["n_checked"] == n_tests
    labels = pd.read_csv("labels.csv")
    by_people = session.rows[[one is not None for one in session.labels]]
    early = np.append(session.sample.rows, session.sample.excluded)
    by_people = np.intersect1d(by_people, early)
    assert (labels["label"][by_people] == truth[by_people]).all()
    skipped = session.rows[[one is None for one in session.labels]]
    assert labels["review"][skipped].all()


def test_finish_takes_labels_of_a_session(command):
    rows, truth = label(120)
    command("sample", "rows.csv", "-n", 200, "-o", "sample.csv")
    sample = pd.read_csv("sample.csv", dtype=str)
    sample["label"] = truth[sample["row"].astype(int)]
    sample.to_csv("sample.csv", index=False)
    rows.assign(prediction=truth, score=1.0).to_csv("predictions.csv", index=False)
    words = ("audit", "predictions.csv", "--labels", "sample.csv", "--confidence-column", "score")
    assert command(*words, "--max-error", 0.001, "-o", "labels.csv").code == 0, command.err
    before = pd.read_csv("labels.csv")
    command("finish", "labels.csv", "--reviewed", SESSION, "-o", "finished.csv", "--json")
    assert command.code == 0, command.err
    session = read_session(SESSION)
    after = pd.read_csv("finished.csv")
    done = session.rows[before["review"].to_numpy()[session.rows]]
    assert command.result["n_reviewed"] == done.size > 0
    assert (after["label"][done] == truth[done]).all()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (slice(500), "is a session of 569 rows, and rows.csv has 500"),
        (slice(None, None, -1), "or they are in another order"),
    ],
)
def test_a_session_of_other_rows(command, part, said):
    label(60)
    pd.read_csv("rows.csv")[part].to_csv("rows.csv", index=False)
    assert command(*FIT).code == ExitCode.DATA
    assert said in command.result["error"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "other", "--classes", "benign,malignant"], "--target kind. Got other"),
        (["--target", "kind", "--classes", "a,b"], "--classes benign,malignant. Got a,b"),
    ],
)
def test_a_session_goes_on_with_what_it_began_with(command, words, said):
    label(5)
    before = Path(SESSION).read_bytes()
    assert command("label", "rows.csv", "--no-browser", *words).code == ExitCode.USAGE
    assert f"was begun with {said}" in command.err
    assert Path(SESSION).read_bytes() == before


LABEL = ("label", "rows.csv", "--target", "kind", "--classes", "benign,malignant", "--terminal")


def test_a_finished_session_is_said_to_be_finished(command):
    label(700)
    assert command(*LABEL).code == 0, command.err
    assert "Written to" in command.out
    paths = [Path(SESSION), Path("rows.labeled.csv"), Path("rows.labeled.html")]
    before = [path.stat().st_mtime_ns for path in paths]
    assert command(*LABEL).code == 0, command.err
    assert "The finished file is" in command.out
    assert all(path.name in command.out for path in paths[1:])
    assert [path.stat().st_mtime_ns for path in paths] == before


def test_who_labels_a_row_of_a_finished_session_again_needs_no_force(command, monkeypatch):
    _, truth = label(700, n_by_eva=9)  # the next one of eva is a second label
    assert command(*LABEL).code == 0, command.err
    paths, rows = [Path("rows.labeled.csv"), Path("rows.labeled.html")], []
    before = [path.stat().st_mtime_ns for path in paths]

    def stop(frontend, *given):
        rows.append(frontend.next_row("a"))

    def differ(frontend, *given):
        while (row := frontend.next_row("a")) is not None:
            other = {"benign": "malignant", "malignant": "benign"}[truth[row]]
            frontend.label("a", row, other if row == rows[0] else truth[row])

    def start(labeling):
        monkeypatch.setattr("hedgeclipper.cli.label_commands._label", labeling)
        assert command(*LABEL, "--annotator", "eva").code == 0, command.err

    start(stop)
    assert "rows.labeled.csv is finished." in command.err
    assert [path.stat().st_mtime_ns for path in paths] == before
    start(differ)
    assert "Written to" in command.out
    assert "A report of what the model has learned: " in command.out
    assert pd.read_csv(paths[0])["kind"][rows[0]] != truth[rows[0]]
    assert all(path.stat().st_mtime_ns > then for path, then in zip(paths, before, strict=True))


def test_a_finished_session_replaces_no_other_file(command):
    label(700, n_skipped=2)  # rows without a label do not make it go on
    finished, report = Path("rows.labeled.csv"), Path("rows.labeled.html")
    report.write_text("mine")
    for _ in range(2):
        assert command(*LABEL).code == 0, command.err
        assert f"There is no report: {report.resolve()} exists already" in command.out
    changed = finished.read_bytes().replace(b"people", b"nobody", 1)
    finished.write_bytes(changed)
    assert command(*LABEL).code == ExitCode.OUTPUT
    assert "rows.labeled.csv exists already. Pass --force" in command.err
    assert (finished.read_bytes(), report.read_text()) == (changed, "mine")


def test_a_session_that_is_not_finished_replaces_no_file_that_is_there(command):
    label(5)
    Path("rows.labeled.csv").write_text("mine")
    assert command(*LABEL).code == ExitCode.OUTPUT
    assert "rows.labeled.csv exists already. Pass --force" in command.err
    assert Path("rows.labeled.csv").read_text() == "mine"


def test_a_last_line_that_is_torn_is_told(command):
    label(5)
    with Path(SESSION).open("ab") as file:
        file.write(b'{"event":"label","row":')
    command(*LABEL)
    assert "was not written to its end, and is dropped" in " ".join(command.err.split())


def test_a_column_that_seems_to_be_made_of_the_labels_is_kept(command, monkeypatch):
    jobs = []

    def stop(loop, X, annotator):
        jobs.append(loop.fit_job())
        loop.close()
        raise ValueError("seen")

    monkeypatch.setattr("hedgeclipper.cli.label_commands.Frontend", stop)
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 80)
    rows = pd.DataFrame({"size": rng.normal(size=80), "id": rng.permutation(80)})
    rows["made"] = kind == "a"
    rows.assign(kind=np.where(np.arange(80) < 60, kind, "")).to_csv("rows.csv", index=False)
    words = ("label", "rows.csv", "--target", "kind", "--terminal")
    command(*words)
    with pytest.raises(ValueError, match="--keep at the command line"):
        jobs[-1].run()
    for session in ("new.jsonl", "new.jsonl"):  # begun, and gone on with
        command(*words, "--session", session, "--keep", "made", "--keep", "id")
        assert "seen" in command.err
        assert [*jobs[-1].X] == ["size", "id", "made"]
        assert jobs[-1].run().n_labels == 60


def test_a_session_that_is_none(command):
    label(5)
    assert command(*(word.replace("session", "none") for word in FIT)).code == ExitCode.DATA
    assert "rows.csv.none.jsonl does not exist" in command.result["error"]
