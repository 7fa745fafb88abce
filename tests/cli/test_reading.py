"""Files as people have them: separators, encodings, archives, amounts, codes, comments."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hedgeclipper
from tests.command_line import flowers


def people(n_rows=60):
    """Return a table with umlauts, decimals and two classes, some rows unlabeled."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"größe": rng.normal(1.7, 0.1, n_rows).round(3)})
    frame["stadt"] = rng.choice(["Köln", "Bern"], n_rows)
    frame["y"] = np.where(frame["größe"] > 1.7, "groß", "klein")
    frame.loc[40:, "y"] = None
    return frame


def as_csv(frame, **options):
    return frame.to_csv(index=False, **options)


WRITTEN = {
    "commas": ("rows.csv", {}, "utf-8", "", ()),
    "semicolons": ("rows.csv", {"sep": ";"}, "utf-8", "semicolons between values", ()),
    "decimal commas": (
        "rows.csv",
        {"sep": ";", "decimal": ","},
        "utf-8",
        "semicolons between values, commas in numbers",
        (),
    ),
    "tabs": ("rows.txt", {"sep": "\t"}, "utf-8", "tabs between values", ()),
    "no suffix": ("rows", {}, "utf-8", "", ()),
    "UTF-16": ("rows.csv", {"sep": "\t"}, "utf-16", "text in utf-16", ()),
    "UTF-8 with a mark": ("rows.csv", {}, "utf-8-sig", "", ()),
    "Latin-1": ("rows.csv", {}, "latin-1", "", ("--encoding", "latin-1")),
    "colons": ("rows.csv", {"sep": ":"}, "utf-8", "", ("--sep", ":")),
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
    Path(name).write_bytes(as_csv(people(), **options).encode(encoding))
    fitted = command("fit", name, "-t", "y", "-m", "m.skops", "--json", *words)
    assert fitted.code == 0, command.err
    note = command.result["notes"]
    assert len(note) == bool(noted)
    assert noted in "".join(note)
    encoder = hedgeclipper.load("m.skops")["columns"]
    assert encoder.used_names == ["größe", "stadt"]
    assert encoder.names_out_ == ["größe", "stadt_Bern", "stadt_Köln"]
    assert command("predict", "m.skops", name, "-o", "p.csv", "-q", *words).code == 0
    assert set(pd.read_csv("p.csv")["prediction"]) == {"groß", "klein"}


@pytest.mark.parametrize("words", [("--sep", ";"), ("--decimal", ","), ("--encoding", "latin-1")])
def test_options_of_csv_are_noted_for_other_files(command, words):
    people().to_parquet("rows.parquet")
    command("fit", "rows.parquet", "-t", "y", "-m", "m.skops", "--json", *words)
    note = "--sep, --decimal and --encoding are for CSV only, and not used for rows.parquet."
    assert command.result["notes"] == [note]
    command("predict", "m.skops", "rows.parquet", "-o", "p.csv", "--json", *words)
    assert command.result["notes"] == [note]


def test_amounts_are_numbers_with_a_note_and_codes_are_strings(command):
    rng = np.random.default_rng(0)
    prices = rng.integers(900, 99_999, 60)
    frame = pd.DataFrame({"price": [f"${price:,}.50" for price in prices]})
    frame["share"] = [f"{k}%" for k in rng.integers(0, 100, 60)]
    frame["zip"] = rng.choice(["01067", "10115"], 60)
    frame["y"] = np.where(prices > 50_000, "dear", "cheap")
    frame.loc[40:, "y"] = None
    frame.to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "y", "-m", "m.skops", "--json")
    kinds = {column["name"]: column["kind"] for column in command.result["columns"]}
    assert kinds == {"price": "numbers", "share": "numbers", "zip": "categories"}
    first = prices[0] + 0.5
    assert (
        f"Column 'price': '${first:,.2f}' is read as the number {first:g}."
        in (command.result["notes"])
    )
    encoder = hedgeclipper.load("m.skops")["columns"]
    rows = encoder.transform(frame)
    np.testing.assert_allclose(rows["price"], prices + 0.5)
    assert rows["share"].between(0, 1).all()
    assert command("predict", "m.skops", "rows.csv", "-o", "p.csv", "-q").code == 0


def with_prices(texts):
    frame = people().drop(columns="stadt")
    return frame.assign(price=texts, y=np.where(np.arange(60) % 2, "dear", "cheap"))


@pytest.mark.parametrize(("fitted", "strange"), [("${:,}.50", "-"), ("{:,}", "unknown")])
def test_one_string_among_amounts_is_noted_as_among_numbers(command, fitted, strange):
    prices = np.arange(60) * 397 + 1000
    texts = [fitted.format(price) for price in prices]
    for column in (texts, prices.astype(str).tolist()):
        with_prices([*column[:-1], strange]).to_csv("rows.csv", index=False)
        command("fit", "rows.csv", "-t", "y", "-m", "m.skops", "-f", "--json")
        assert command.result["notes"][0] == (
            f"Column 'price' is left out: {strange!r} and the like in 1 rows make its numbers "
            "strings; write numbers as 1234.5, and leave the place of a missing one empty."
        )
    with_prices([*texts[:-1], "NA"]).to_csv("rows.csv", index=False)
    command("fit", "rows.csv", "-t", "y", "-m", "m.skops", "-f", "--json")
    plan = command.result["columns"][1]
    assert plan["what"] == "amounts, read as numbers; 1 missing, marked in a column of their own"


def test_points_between_thousands_beside_decimal_commas_are_noted(command):
    prices = np.arange(60) * 397.25
    texts = [f"{price:,.2f}".translate(str.maketrans(",.", ".,")) for price in prices]
    assert texts[4] == "1.589,00"
    with_prices(texts).to_csv("rows.csv", index=False, sep=";", decimal=",")
    command("fit", "rows.csv", "-t", "y", "-m", "m.skops", "--json")
    assert any("write numbers as 1234.5" in note for note in command.result["notes"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--sep", ";;"), "must be one character, such as ';', or tab. Got ';;'."),
        (("--decimal", "x"), "'x' is not one of '.', ','"),
        (("--encoding", "klingon"), "such as latin-1 or utf-16. Got 'klingon'."),
        (("--sep", ",", "--decimal", ","), "commas cannot be both"),
    ],
)
def test_wrong_options_of_reading(command, words, said):
    flowers().to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", "-t", "species", "-m", "m.skops", *words).code == 2
    assert said in command.err


def test_data_after_unlabeled_files_is_found(command):
    frame = people()
    frame[:40].to_csv("rows.csv", index=False)
    frame[40:].to_csv("more.csv", index=False)
    words = ("-t", "y", "-m", "m.skops", "--json", "--unlabeled", "more.csv")
    assert command("fit", *words, "rows.csv").code == 0, command.err
    assert (command.result["n_labeled"], command.result["n_unlabeled"]) == (40, 20)
    assert command.result["notes"] == [
        "rows.csv is taken as DATA, as the last of the files after --unlabeled."
    ]
    assert command("fit", *words).code == 2
    assert command.result["error"].startswith("Missing argument 'DATA'.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "m.pkl"), "never as .pkl. Call the file m.skops."),
        (("-m", "m", "--report", "r.pdf"), "and not .pdf. Call it r.html; a browser can print"),
        (("-m", "m", "--unlabeled", "./rows.csv"), "is passed twice, as DATA and as --unlabeled"),
    ],
)
def test_files_that_cannot_be_meant(command, words, said):
    people().to_csv("rows.csv", index=False)
    assert command("fit", "rows.csv", "-t", "y", *words).code == 2
    assert said in command.err


def test_a_column_may_be_meant_by_case_or_distance(command):
    people().rename(columns={"y": "ui"}).to_csv("rows.csv", index=False)
    for typed in ("UI", "Ui", "uii"):
        assert command("fit", "rows.csv", "-t", typed, "-m", "m.skops").code == 3
        assert "Did you mean 'ui'?" in command.err
