import pytest

from hedgeclipper.io.atomic import check_output, draft_of


def test_the_file_appears_at_the_end(tmp_path):
    path = tmp_path / "out.txt"
    with draft_of(path) as draft:
        draft.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path, error):
    with draft_of(path) as draft:
        draft.write_text("half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_exists_is_kept_unless_forced(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(FileExistsError, match=r"exists already. Pass force=True"):
        check_output(path, force=False)
    assert check_output(path) == path


def write_beside(path):
    with draft_of(path, force=False) as draft:
        draft.write_text("ours")
        path.write_text("theirs")


def test_a_file_that_comes_meanwhile_stays(tmp_path):
    path = tmp_path / "out.txt"
    with pytest.raises(FileExistsError):
        write_beside(path)
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "error"), [("", IsADirectoryError), ("none/out.txt", FileNotFoundError)]
)
def test_a_place_where_no_file_can_be(tmp_path, name, error):
    with pytest.raises(error), draft_of(tmp_path / name):
        pytest.fail("must not come here")
