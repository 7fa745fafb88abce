import pytest

from hedgeclipper.io.messages import import_extra


def test_a_module_that_is_there_is_returned():
    import json

    assert import_extra("json", "io", "this test") is json


def test_a_missing_module_says_who_wants_it_and_how_to_get_it():
    with pytest.raises(ImportError, match=r"this test needs no_such_module.*hedgeclipper\[io\]"):
        import_extra("no_such_module", "io", "this test")
