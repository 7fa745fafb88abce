from dataclasses import replace

from hedgeclipper import Certificate


def test_it_is_described_in_one_sentence():
    bound = Certificate(0.2, 0.31, 0.04, "guarantee", 0.9, 2000, 20, 100, 0.4, is_recorded=True)
    assert bound.describe() == (
        "error at most 31.0% on the 2,000 unlabeled rows, guaranteed with 90% confidence "
        "(20 errors on 100 held-out labels; always the most frequent class: 40.0%)"
    )
    stated = replace(bound, is_recorded=False, baseline=None).describe()
    assert stated.endswith("labels; that the labels are a random sample was stated, not known)")
    guess = replace(bound, kind="estimate", baseline=None, n_unlabeled=0)
    assert (
        guess.describe()
        == "error about 20.0% on new rows, an estimate (90% interval 4.0% to 31.0%)"
    )
    demoted = replace(guess, reason="rows differ").describe()
    assert demoted.endswith("(90% interval 4.0% to 31.0%; no guarantee, since rows differ)")
    void = Certificate(None, 1.0, 0.0, "void", None, 10, reason="no label tests it")
    assert void.describe() == "no bound on the error: no label tests it"
    assert repr(bound) == f"<Certificate (guarantee): {bound}>"
