from hedgeclipper import demo


def test_demo_prints_both_aucs_the_estimate_and_the_guarantee(capsys):
    demo.main()
    out = capsys.readouterr().out
    assert "100 labels, 32,461 unlabelled rows" in out
    assert "its forest alone" in out
    assert "\nestimate: error of the hard vote on the 32461 rows" in out
    assert "\nguarantee with probability 0.95: error of the hard vote on the 31561 rows" in out
