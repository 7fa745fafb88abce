"""Files as people have them: found by name, read as tables, labels made classes, ids left out."""

import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import hedgeclipper
from hedgeclipper.cli.output import Output
from hedgeclipper.cli.tables import (
    Files,
    find_id_columns,
    parse_classes,
    with_free_names,
    write_frame,
)
from tests.command_line import cancer, flowers

N_ROWS = 40
SHUFFLED = np.random.default_rng(0).permutation(N_ROWS)


def find(*where):
    return Files.find([str(path) for path in where], Output(quiet=True))


def written(folder, **tables):
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    return find(folder)


def test_unlabeled_files_in_several_places(command):
    frame = cancer()
    known = frame["benign"].notna()
    frame[known].to_parquet("labeled.parquet")
    Path("more").mkdir()
    for number, part in enumerate(np.array_split(np.flatnonzero(~known), 3)):
        frame.iloc[part, :6].to_parquet(f"more/{number}.parquet")
    words = ("fit", "labeled.parquet", "--target", "benign", "--model", "m.skops", "--json", "-f")
    for where in (["more"], ["more/*.parquet"], ["more/0.parquet", "more/1.parquet"]):
        command(*words, *(word for path in where for word in ("--unlabeled", path)))
        assert command.code == 0
        assert command.result["n_unlabeled"] == (469 if len(where) == 1 else 313)


def test_files_with_the_same_columns_are_one_table(tmp_path):
    files = written(tmp_path, a={"x": [1, 2], "y": ["p", "?"]}, b={"y": ["q"], "x": [3]})
    assert files.names == ["x", "y"]
    assert files.place == f"{tmp_path / 'a.csv'} and 1 more"
    frame = files.frame()
    assert frame["x"].tolist() == [1, 2, 3]
    assert frame["y"].isna().tolist() == [False, True, False]
    names = [f"{tmp_path / 'a.csv'}:2", f"{tmp_path / 'a.csv'}:3", f"{tmp_path / 'b.csv'}:2"]
    assert files.row_names(frame.index, None) == names
    assert files.row_names(frame.index[1:], "x") == ["2", "3"]


@pytest.mark.parametrize(
    "cell", ["2015-08-16", "2015-08-16 12:30:00", "2015-08-16 12:30:00.250", "1682-01-01"]
)
def test_dates_are_written_as_they_were(tmp_path, cell):
    files = written(tmp_path, rows={"day": [cell, None], "x": [1, 2]})
    write_frame(files.frame(), tmp_path / "again.csv", force=False)
    assert pd.read_csv(tmp_path / "again.csv", dtype=str)["day"].fillna("").tolist() == [cell, ""]


def test_columns_get_other_names_where_theirs_are_to_be_written():
    frame = pd.DataFrame({"note": [1], "note_": [2], "x": [3]})
    assert with_free_names(frame, ("source", "note")).to_dict("list") == {
        "note__": [1],
        "note_": [2],
        "x": [3],
    }


def write_workbook(frame, path):
    """Write the few files that a workbook of Excel must have, so that no library is needed.

    Far from the rows are a cell with a format and no value, and one on another sheet.
    """

    def cell(value):
        if pd.isna(value):
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    lines = [list(frame.columns), *frame.astype(object).to_numpy().tolist()]
    rows = "".join(f"<row>{''.join(map(cell, line))}</row>" for line in lines)
    rows += '<row><c r="XFD900" s="1"/></row>'
    other_rows = '<row><c r="XFD900"><v>1</v></c></row>'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with ZipFile(path, "w") as file:
        for name, content in {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships xmlns="{packages}"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="Rows" sheetId="1" r:id="r1"/><sheet name="Other" sheetId="2" r:id="r2"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}"><Relationship '
            f'Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship '
            f'Id="r2" Type="{office}/worksheet" Target="worksheets/sheet2.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
            "</worksheet>",
            "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData>{other_rows}'
            "</sheetData></worksheet>",
        }.items():
            file.writestr(name, f'<?xml version="1.0"?>{content}')


@pytest.mark.parametrize("table", [cancer, flowers])
def test_a_workbook_is_a_table_like_csv(command, table):
    pytest.importorskip("python_calamine")
    frame = table()
    target = frame.columns[-1]
    frame["wet"] = np.where(frame.index % 2, "yes", "no")
    frame["mixed"] = [k if k % 2 else f"c{k}" for k in frame.index % 5]
    write_workbook(frame, "rows.xlsx")
    frame.to_csv("rows.csv", index=False)
    for name in ("rows.csv", "rows.xlsx"):
        assert command("fit", name, "-t", target, "-m", "m.skops", "--json", "-f").code == 0
        columns = command.result["columns"]
        assert command("predict", "m.skops", name, "-o", f"{name}.parquet", "-q").code == 0
        if name == "rows.csv":
            expected = columns
    assert columns == expected
    ours, theirs = pd.read_parquet("rows.xlsx.parquet"), pd.read_parquet("rows.csv.parquet")
    pd.testing.assert_frame_equal(ours, theirs)


def test_a_workbook_without_the_extra(command, monkeypatch):
    Path("rows.xlsx").write_bytes(b"some")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert command("fit", "rows.xlsx", "-t", "y", "-m", "m.skops").code == 2
    assert "An Excel file needs python_calamine" in command.err
    assert "pip install 'hedgeclipper[excel]'" in command.err


def test_tables_that_are_none(tmp_path):
    with pytest.raises(ValueError, match=r"b\.csv has other columns than .*a\.csv: 'x', 'z'"):
        written(tmp_path, a={"x": [1]}, b={"z": [1]})
    (tmp_path / "b.csv").write_text("x,x\n1,2\n")
    with pytest.raises(ValueError, match=r"b\.csv has 2 columns with the name 'x'"):
        find(tmp_path / "b.csv")
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(ValueError, match=r"b\.csv is empty"):
        find(tmp_path)
    with pytest.raises(ValueError, match=r"a\.csv and 1 more has no rows"):
        written(tmp_path, a={"x": []}, b={"x": []}).frame()


def people(n_rows=60):
    """Return a table with umlauts, decimals and two classes, some rows unlabeled."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"größe": rng.normal(1.7, 0.1, n_rows).round(3)})
    frame["stadt"] = rng.choice(["Köln", "Bern"], n_rows)
    frame["y"] = np.where(frame["größe"] > 1.7, "groß", "klein")
    frame.loc[40:, "y"] = None
    return frame


WRITTEN = {
    "semicolons": ("rows.csv", {"sep": ";"}, "utf-8", "semicolons between values", ()),
    "decimal commas": (
        "rows.csv",
        {"sep": ";", "decimal": ","},
        "utf-8",
        "semicolons between values, commas in numbers",
        (),
    ),
    "tabs": ("rows.txt", {"sep": "\t"}, "utf-8", "tabs between values", ()),
    "UTF-8 with a mark": ("rows.csv", {}, "utf-8-sig", "", ()),
    "all three": (
        "rows.csv",
        {"sep": "^", "decimal": ","},
        "cp1252",
        "",
        ("--sep", "^", "--decimal", ",", "--encoding", "cp1252"),
    ),
}


@pytest.mark.parametrize(
    ("name", "options", "encoding", "noted", "words"), WRITTEN.values(), ids=WRITTEN.keys()
)
def test_a_table_is_the_same_however_it_is_written(command, name, options, encoding, noted, words):
    Path(name).write_bytes(people().to_csv(index=False, **options).encode(encoding))
    fitted = command("fit", name, "-t", "y", "-m", "m.skops", "--json", *words)
    assert fitted.code == 0, command.err
    assert len(command.result["notes"]) == bool(noted)
    assert noted in "".join(command.result["notes"])
    found = hedgeclipper.load("m.skops").encoding_[["column", "kind"]]
    assert found.to_numpy().tolist() == [["größe", "numbers"], ["stadt", "categories"]]
    assert command("predict", "m.skops", name, "-o", "p.csv", "-q", *words).code == 0
    assert set(pd.read_csv("p.csv")["prediction"]) == {"groß", "klein"}


def test_strings_in_unlabeled_rows_count_too(command):
    frame = flowers()
    known = frame["species"].notna()
    frame.loc[~known, "color"] = "violet"
    frame[known].to_csv("rows.csv", index=False)
    frame[~known].drop(columns="species").to_csv("more.csv", index=False)
    words = ("--unlabeled", "more.csv", "--model", "m.skops", "--drop", "note", "--drop", "planet")
    assert command("fit", "rows.csv", "--target", "species", *words).code == 0
    encoding = hedgeclipper.load("m.skops").encoding_.set_index("column")
    assert "3 values, a column of 0 and 1 for each" in encoding.loc["color", "what"]
    assert "note" not in encoding.index


def test_codes_stay_strings_when_a_file_has_no_leading_zero(command):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": rng.choice(["01067", "10115", "20095"], 90), "x": rng.random(90)})
    frame["y"] = np.where(frame["zip"] == "01067", "east", "north")
    frame.to_csv("rows.csv", index=False)
    assert (
        command("fit", "rows.csv", "-t", "y", "-m", "m.skops", "--keep", "zip", "--json").code == 0
    )
    assert [c["kind"] for c in command.result["columns"]] == ["categories", "numbers"]
    frame[frame["zip"] != "01067"].to_csv("more.csv", index=False)
    command("predict", "m.skops", "more.csv", "-o", "p.csv", "--json")
    assert command.result["notes"] == []
    assert set(pd.read_csv("p.csv")["prediction"]) == {"north"}


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["yes", "no"], "str"),
        ([7, -1], "i"),
        ([True, False], "b"),
        ([0.5, 1.5], "str"),
        (["007", "01"], "str"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_target_may_be_anything(command, labels, kind, suffix):
    frame = cancer()
    known = frame["benign"].notna()
    target = frame["benign"].map({0: labels[0], 1: labels[1]}).astype(object)
    frame["benign"] = target.where(known, None).convert_dtypes()
    name = f"rows.{suffix}"
    frame.to_csv(name, index=False) if suffix == "csv" else frame.to_parquet(name)
    command("fit", name, "--target", "benign", "--model", "m.skops", "-q")
    assert command.code == 0, command.err
    command("predict", "m.skops", name, "-o", "p.parquet", "-q")
    predicted = pd.read_parquet("p.parquet")["prediction"]
    assert (
        pd.api.types.is_string_dtype(predicted) if kind == "str" else predicted.dtype.kind == kind
    )
    assert set(predicted) == ({str(label) for label in labels} if kind == "str" else set(labels))


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["TRUE", "false"], [True, False]),
        ([1.0, "2"], [1, 2]),
        ([0.5, 1.0], ["0.5", "1"]),
        ([1, "one"], ["1", "one"]),
        (["yes", "true"], ["yes", "true"]),
    ],
)
def test_labels_become_classes_that_classifiers_take(labels, classes):
    assert parse_classes(np.array(labels, dtype=object)).tolist() == classes


def fit_to(command, labels, *words, suffix="csv"):
    """Fit to labels and two columns of numbers, and return the result."""
    rng = np.random.default_rng(0)
    labels = pd.Series(labels, dtype=object)
    frame = pd.DataFrame({"a": rng.random(len(labels)), "b": rng.random(len(labels)), "y": labels})
    name = f"rows.{suffix}"
    frame.to_csv(name, index=False) if suffix == "csv" else frame.to_parquet(name, index=False)
    command("fit", name, "-t", "y", "-m", "m.skops", "--json", "--force", *words)
    return command.result


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["yes", "no "] * 20 + ["NA", "?", " ", None] * 5, {"no": 20, "yes": 20}),
        (["A"] * 20 + ["a"] * 20 + [None] * 20, {"A": 20, "a": 20}),  # single letters
        ([-1, 1] * 20 + [None] * 20, {"-1": 20, "1": 20}),
    ],
)
def test_labels_that_are_read_as_they_are_but_for_blanks(command, labels, classes):
    found = fit_to(command, labels)
    assert found["classes"] == classes
    assert found["n_unlabeled"] == 20
    assert not any("unlabeled" in note for note in found["notes"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_spellings_of_a_class_are_merged_with_a_note(command, suffix):
    labels = ["Yes"] * 20 + ["yes"] * 3 + [" YES"] * 2 + ["No"] * 20 + ["no"] + [None] * 9
    found = fit_to(command, labels, suffix=suffix)
    assert found["classes"] == {"No": 21, "Yes": 25}
    assert found["notes"] == [
        "Read as one class 'Yes' of 'y': 'Yes' (20), 'yes' (3), ' YES' (2).",
        "Read as one class 'No' of 'y': 'No' (20), 'no' (1).",
    ]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("mark", "classes"), [("unknown", ["good", "bad"]), (-1, [0, 1])])
def test_marks_of_unlabeled_rows_are_suggested_and_taken(command, mark, classes, suffix):
    labels = classes * 15 + [mark] * 20
    found = fit_to(command, labels, suffix=suffix)
    assert len(found["classes"]) == 3
    assert found["notes"][0] == (
        f"'{mark}' is a class of 'y'. If it marks unlabeled rows, pass --unlabeled-value {mark}."
    )
    found = fit_to(command, labels, "--unlabeled-value", mark, suffix=suffix)
    assert (found["n_labeled"], found["n_unlabeled"]) == (30, 20)
    assert not any(str(mark) in note for note in found["notes"])
    found = fit_to(command, labels, "--unlabeled-value", "nothing", suffix=suffix)
    assert "No row has 'nothing' in 'y', which --unlabeled-value names." in found["notes"]


@pytest.mark.parametrize("values", [np.arange(17, 90), np.arange(100) / 10])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_number_with_many_values_is_no_class(command, values, suffix):
    labels = np.random.default_rng(0).choice(values, 900).tolist()
    found = fit_to(command, labels, suffix=suffix)
    assert found["exit_code"] == 3
    assert "different values on 900 labeled rows, such as" in found["error"]


IDS = [
    ("Unnamed: 0", SHUFFLED),
    ("rownames", SHUFFLED * 2),
    ("anything", np.arange(N_ROWS)),
    ("anything", np.arange(N_ROWS) + 1),
    ("anything", np.arange(N_ROWS, dtype=np.uint8)[::-1]),
    ("anything", np.arange(float(N_ROWS))),
    *((name, 7 * SHUFFLED) for name in ("id", "ID", "customer_id", "PassengerId", "uuid")),
    ("customer_id", 7.0 * SHUFFLED),
    ("tweet_id", 2**60 + 1000 * SHUFFLED),
    ("patient_id", np.append(7 * SHUFFLED, 7 * SHUFFLED[:1])),  # a row is there twice
]
NO_IDS = [
    ("year", np.arange(N_ROWS) + 1980),
    ("counts_by_two", 2 * np.arange(N_ROWS)),
    ("up_and_down", np.abs(np.arange(N_ROWS) - 7)),
    ("store_id", SHUFFLED // 2),
    ("id", SHUFFLED / 7),
    ("id", np.append(SHUFFLED[1:] * 7.0, np.inf)),
    ("few", np.append(np.arange(N_ROWS - 1.0), np.nan)),
    *((name, SHUFFLED) for name in ("price", "paid", "humid", "monkey", "grid")),
    ("measured", np.arange(N_ROWS) + 0.5),
    ("few_rows", np.arange(19)),  # which may be numbered by accident
]


@pytest.mark.parametrize(
    ("name", "values", "is_id"), [(*one, True) for one in IDS] + [(*one, False) for one in NO_IDS]
)
def test_columns_that_tell_rows_apart(name, values, is_id):
    frame = pd.DataFrame({name: values, "x": np.sin(np.arange(len(values)))})
    assert list(find_id_columns(frame)) == [name] * is_id


def test_an_index_is_left_out_with_a_note_or_kept(command):
    frame = cancer()
    frame.to_csv("rows.csv")  # with its index
    words = ("fit", "rows.csv", "-t", "benign", "--json", "-m")
    assert command(*words, "m.skops").code == 0, command.err
    note = "Column '' is left out: it is the index of the rows. Pass --keep '' to use it."
    assert command.result["notes"] == [note]
    assert "" not in hedgeclipper.load("m.skops").feature_names_in_
    frame.to_csv("rows.csv", index=False)  # which the model does not miss
    assert command("predict", "m.skops", "rows.csv", "-o", "p.csv", "--json").code == 0
    assert command.result["notes"] == []
    frame.assign(number=np.arange(len(frame))).to_csv("rows.csv", index=False)
    command(*words, "kept.skops", "--keep", "number")
    assert command.result["notes"] == []
    assert "number" in hedgeclipper.load("kept.skops").feature_names_in_
