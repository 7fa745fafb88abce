from dataclasses import replace

from hedgeclipper import Certificate


def test_it_is_described_in_one_sentence():
    bound = Certificate(0.2, 0.31, 0.04, "guarantee", 0.9, 2000, 20, 100, 0.4, is_recorded=True)
    words = (
        "at most 31.0% on the 2,000",
        "guaranteed with 90%",
        "20 errors on 100",
        "class: 40.0%",
    )
    assert all(said in bound.describe() for said in words)
    assert (
        "assumes that the labels are a random sample"
        in replace(bound, is_recorded=False).describe()
    )
    guess = replace(bound, kind="estimate", baseline=None, n_unlabeled=0, reason="rows differ")
    words = ("20.0% on new rows, an estimate", "4.0% to 31.0%", "since rows differ")
    assert all(said in guess.describe() for said in words)
    assert "guaranteed" not in guess.describe()
    void = Certificate(None, 1.0, 0.0, "void", None, 10, reason="no label tests it")
    assert void.describe() == "no bound on the error: no label tests it"
