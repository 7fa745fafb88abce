"""Bundled verdicts: whole, aligned, and as the source describes them."""

from hedgeclipper.datasets import load_judges


def test_verdicts_gold_labels_and_subsets_belong_together():
    judges = load_judges()
    assert judges.verdicts.shape == (419, 130)
    assert judges.verdicts.index.equals(judges.gold.index)
    assert judges.subset.index.equals(judges.gold.index)
    assert set(judges.gold) == {"A", "B"}
    assert sorted(judges.subset.unique()) == ["GPTInst", "GPTOut", "Manual", "Natural", "Neighbor"]
    assert sum(name.endswith(" swapped") for name in judges.verdicts) == 65
    assert "LLMBar" in judges.DESCR


def test_half_of_the_judges_are_wrong_more_often_than_right_somewhere():
    """The bias that makes the majority vote fail: longer answers look better."""
    judges = load_judges()
    hard = judges.subset.eq("Neighbor")
    accuracy = judges.verdicts[hard].eq(judges.gold[hard], axis=0).mean()
    assert (accuracy < 0.5).mean() > 0.5
