"""Columns that only number or name rows are left out with a note; others are not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hedgeclipper
from hedgeclipper.cli.table_files import Files
from hedgeclipper.cli.table_rows import find_id_columns
from tests.command_line import cancer, flowers

N_ROWS = 40
SHUFFLED = np.random.default_rng(0).permutation(N_ROWS)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Unnamed: 0", SHUFFLED),
        ("rownames", SHUFFLED * 2),
        ("anything", np.arange(N_ROWS)),
        ("anything", np.arange(N_ROWS) + 1),
        ("anything", np.arange(N_ROWS)[::-1]),
        ("anything", np.arange(float(N_ROWS))),
        ("anything", np.arange(N_ROWS, dtype=np.uint8)[::-1]),
        ("id", SHUFFLED),
        ("ID", SHUFFLED),
        ("customer_id", 7 * SHUFFLED),
        ("PassengerId", 7 * SHUFFLED),
        ("customer_id", 7.0 * SHUFFLED),
        ("tweet_id", 2**60 + 1000 * SHUFFLED),
        *((name, 7 * SHUFFLED) for name in ("uid", "uuid", "guid", "UserUID", "ssn", "number")),
        *((name, 7 * SHUFFLED) for name in ("acct", "account", "account_no", "member nr", "No")),
        *((name, 7 * SHUFFLED) for name in ("AccountNo", "policyNumber", "case.number")),
    ],
)
def test_columns_that_tell_rows_apart(tmp_path, name, values, suffix):
    assert find_in({name: values}, tmp_path / f"a.{suffix}") == [name]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("year", np.arange(N_ROWS) + 1980),
        ("counts_by_two", 2 * np.arange(N_ROWS)),
        ("savings_account", 7 * SHUFFLED),
        ("house_number", 7 * SHUFFLED),
        ("Reynolds Number", 7 * SHUFFLED),
        ("income_num", 7 * SHUFFLED),
        ("up_and_down", np.abs(np.arange(N_ROWS) - 7)),
        ("no_of_rooms", SHUFFLED),
        ("number_of_rooms", SHUFFLED),
        ("accounts", SHUFFLED),
        ("casino", SHUFFLED),
        ("account_no", SHUFFLED // 2),
        ("number", SHUFFLED / 7),
        ("number", np.append(SHUFFLED[1:] * 7.0, np.inf)),
        ("price", SHUFFLED),
        ("paid", SHUFFLED),
        ("humid", SHUFFLED),
        ("monkey", SHUFFLED),
        ("store_id", SHUFFLED // 2),
        ("index_of_prices", SHUFFLED),
        ("grid", SHUFFLED),
        ("measured", np.arange(N_ROWS) / 10),
        ("measured", np.arange(N_ROWS) + 0.5),
    ],
)
def test_honest_columns_are_kept(tmp_path, name, values):
    assert find_in({name: values}, tmp_path / "a.csv") == []


def test_few_rows_may_be_numbered_by_accident(tmp_path):
    assert find_in({"n": np.arange(19)}, tmp_path / "a.csv") == []


def test_numbers_may_go_on_in_the_next_file_or_begin_again(tmp_path):
    for start in (0, 20):
        for number in range(2):
            values = np.arange(20) + number * start
            pd.DataFrame({"n": values, "x": SHUFFLED[:20]}).to_csv(
                tmp_path / f"{number}.csv", index=False
            )
        assert list(find_id_columns(Files.find([str(tmp_path)]), ["n", "x"])) == ["n"]


def test_a_file_without_rows_changes_nothing(tmp_path):
    pd.DataFrame({"n": np.arange(N_ROWS)}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"n": []}).to_csv(tmp_path / "b.csv", index=False)
    assert list(find_id_columns(Files.find([str(tmp_path)]), ["n"])) == ["n"]


def test_files_of_one_row_do_not_count(tmp_path):
    for number in range(N_ROWS):
        frame = pd.DataFrame({"n": SHUFFLED[number : number + 1]})
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    assert find_id_columns(Files.find([str(tmp_path)]), ["n"]) == {}


def test_strings_may_come_after_the_first_lines(tmp_path):
    numbers = np.arange(300_000).astype(str)
    numbers[-1] = "last"
    pd.DataFrame({"n": numbers}).to_csv(tmp_path / "a.csv", index=False)
    assert find_id_columns(Files.find([str(tmp_path / "a.csv")]), ["n"]) == {}


def find_in(columns, path):
    frame = pd.DataFrame({**columns, "x": SHUFFLED[: len(*columns.values())] / 7})
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    files = Files.find([str(path)])
    return list(find_id_columns(files, files.names))


@pytest.mark.parametrize("table", [cancer, flowers])
def test_an_index_is_left_out_with_a_note_or_kept(command, table):
    frame = table().drop(columns="note", errors="ignore")
    target = frame.columns[-1]
    frame.to_csv("rows.csv")  # with its index
    words = ("fit", "rows.csv", "-t", target, "--json", "-m")
    command(*words, "m.skops")
    assert command.code == 0, command.err
    note = "Column '' is left out: it is the index of the rows. Pass --keep '' to use it."
    assert command.result["notes"] == [note]
    assert command.result["columns"][-1]["kind"] == "left out"
    assert "" not in hedgeclipper.load("m.skops")["columns"].used_names
    frame.to_csv("rows.csv", index=False)  # which the model does not miss
    assert command("predict", "m.skops", "rows.csv", "-o", "p.csv", "--json").code == 0
    assert command.result["notes"] == []
    frame.insert(0, "number", np.arange(len(frame)))
    frame.to_csv("rows.csv", index=False)
    command(*words, "kept.skops", "--keep", "number")
    assert command.result["notes"] == []
    assert "number" in hedgeclipper.load("kept.skops")["columns"].used_names


def test_ids_by_name_and_counts_are_left_out_with_a_note(command):
    frame = cancer()
    n_rows = len(frame)
    frame.insert(0, "account_no", np.random.default_rng(0).permutation(n_rows) * 3)
    frame.insert(1, "place", np.arange(n_rows, 0.0, -1.0))
    frame.to_csv("rows.csv", index=False)
    words = ("fit", "rows.csv", "-t", "benign", "--json", "-m")
    assert command(*words, "m.skops").code == 0, command.err
    assert command.result["notes"] == [
        "Column 'account_no' is left out: it is an id, different in each row. Pass --keep "
        "'account_no' to use it.",
        "Column 'place' is left out: it numbers the rows. Pass --keep 'place' to use it.",
    ]
    assert command(*words, "n.skops", "--keep", "account_no", "--keep", "place").code == 0
    assert command.result["notes"] == []


@pytest.mark.parametrize("keep", [(), ("--keep", "cust")])
def test_ids_that_are_text_are_left_out_with_a_note(command, keep):
    frame = cancer()
    frame.insert(0, "cust", [f"C{k:04}" for k in range(len(frame))])
    frame.to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--json", *keep).code == 0
    note = "Column 'cust' is left out: text that is different in most rows cannot be used."
    assert command.result["notes"] == [note]
    assert "cust" not in hedgeclipper.load("m.skops")["columns"].used_names


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("table", [cancer, flowers])
def test_the_key_is_in_predictions_and_reports(command, table, suffix, monkeypatch):
    given = {}
    monkeypatch.setattr(
        "hedgeclipper.inspection.report.write_report", lambda *_, **said: given.update(said)
    )
    frame = table()
    target = frame.columns[-1]
    frame.insert(1, "patient", [f"0{k}" for k in range(len(frame))])
    name = f"rows.{suffix}"
    frame.to_csv(name, index=False) if suffix == "csv" else frame.to_parquet(name)
    words = ("-t", target, "-m", "m.skops", "--report", "r.html", "--id", "patient", "--json")
    assert command("fit", name, *words).code == 0, command.err
    assert "patient" not in hedgeclipper.load("m.skops")["columns"].used_names
    assert given["row_names"] == frame["patient"][frame[target].isna()].tolist()
    assert command("predict", "m.skops", name, "-o", "p.parquet", "-q").code == 0
    written = pd.read_parquet("p.parquet")
    assert list(written.columns[:2]) == ["patient", "prediction"]
    assert written["patient"].tolist() == frame["patient"].tolist()
    frame.drop(columns="patient").to_csv("others.csv", index=False)
    assert command("predict", "m.skops", "others.csv", "-o", "o.parquet", "-q").code == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet("o.parquet"), written.drop(columns="patient"), check_dtype=False
    )


def test_a_key_of_other_rows(command):
    cancer().to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "benign", "-m", "m.skops", "-q")
    cancer().assign(case=np.arange(569) + 100).to_csv("more.csv", index=False)
    command("predict", "m.skops", "more.csv", "-o", "p.csv", "--id", "case", "-q")
    assert pd.read_csv("p.csv")["case"].tolist() == list(range(100, 669))
    command("predict", "m.skops", "more.csv", "-o", "q.csv", "--id", "cas")
    assert command.code == 3
    assert "Did you mean 'case'?" in command.err
    assert not Path("q.csv").exists()
