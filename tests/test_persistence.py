import hashlib
import io
import json
import os
import pickle
import tracemalloc
import warnings
from itertools import chain
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import hedgeclipper
from hedgeclipper import (
    HedgeClipperClassifier,
    ModelFileError,
    VoteAggregator,
    load,
    save,
)
from hedgeclipper.datasets import load_adult
from hedgeclipper.persistence import (
    FORMAT,
    HEADER,
    TRUSTED,
    archive_of,
)

VOTES = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1], [0, 0, -1], [-1, 1, 1]]
GOLD = [0, 1, -1, -1, -1, -1]


def rows_of_blobs(n_classes=2, n_rows=90):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, 3)) + 2.0 * y[:, None]
    return X, np.where(np.arange(n_rows) % 5 < 2, y, -1)


@pytest.fixture(scope="module")
def forest():
    return HedgeClipperClassifier("trees", n_estimators=40, random_state=0).fit(*rows_of_blobs())


def reloaded(model, tmp_path):
    return load(save(model, tmp_path / "model.skops"))


def assert_same(model, again, X):
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.get_params().keys() == model.get_params().keys()


TABLES = {
    "random state": {"random_state": np.random.RandomState(0)},
    "guarantee": {"confidence_level": 0.9},
    "class weight": {"class_weight": {1: 3.0}},
    "fitted": {"estimators": [("a", FrozenEstimator(RandomForestClassifier(5)))]},
    "boosted": {"estimators": [("a", HistGradientBoostingClassifier(min_samples_leaf=2))]},
}


@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES.keys())
def test_tables_predict_the_same(tmp_path, options):
    X, y = rows_of_blobs()
    options = {"estimators": "trees", "n_estimators": 20, "random_state": 0, **options}
    if isinstance(options["estimators"][0][-1], FrozenEstimator):
        options["estimators"][0][1].estimator.fit(X[y >= 0], y[y >= 0])
    model = HedgeClipperClassifier(**options)
    assert_same(model.fit(X, y), reloaded(model, tmp_path), X)


def test_many_classes_with_names_and_frames(tmp_path):
    X, codes = rows_of_blobs(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    y = np.array(["no", "perhaps", "yes"])[codes[codes >= 0]]
    model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
    model.fit(frame[codes >= 0], y, X_unlabeled=frame[codes < 0])
    again = reloaded(model, tmp_path)
    assert_same(model, again, frame)
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]


def test_what_was_measured_is_saved_and_what_was_not_is_not_known(tmp_path):
    X, y = rows_of_blobs()
    model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0).fit(X, y)
    gain = model.unlabeled_gain_
    again = reloaded(model, tmp_path)
    assert again.unlabeled_gain_ == gain
    with pytest.raises(AttributeError, match=r"feature_importances_ needs the labeled rows"):
        again.feature_importances_


def test_default_voters_on_columns_of_strings_predict_the_same(tmp_path):
    X, y = rows_of_blobs(n_rows=60)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["word"] = np.where(X[:, 0] > 0, "yes", "no")
    model = HedgeClipperClassifier(n_estimators=12, random_state=0).fit(frame, y)
    again = reloaded(model, tmp_path)
    assert_same(model, again, frame)
    pd.testing.assert_frame_equal(again.voter_summary(), model.voter_summary())


def test_classifiers_on_sparse_rows_predict_the_same(tmp_path):
    X, y = load_adult(return_X_y=True)
    voters = [
        ("near", KNeighborsClassifier(3)),
        ("linear", LogisticRegression()),
        ("dropped", "drop"),
    ]
    model = HedgeClipperClassifier(voters, random_state=0)
    model.fit(X[:60], y[:60], X_unlabeled=X[60:200])
    assert_same(model, reloaded(model, tmp_path), X[200:260])


VOTE_OPTIONS = {
    "default": {},
    "known balance": {"class_balance": [0.4, 0.6]},
}


@pytest.mark.parametrize("options", VOTE_OPTIONS.values(), ids=VOTE_OPTIONS.keys())
def test_votes_predict_the_same(tmp_path, options):
    model = VoteAggregator(random_state=0, **options).fit(VOTES, GOLD)
    again = reloaded(model, tmp_path)
    assert_same(model, again, VOTES)
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    pd.testing.assert_frame_equal(again.voter_summary(), model.voter_summary())


def test_a_file_is_not_replaced_unless_forced(tmp_path, forest):
    path = save(forest, tmp_path / "model.skops")
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        save(VoteAggregator(), path)
    assert path.read_bytes() == before
    save(VoteAggregator(), path, force=True)
    assert isinstance(load(path), VoteAggregator)


class Hostile:
    """Writes a file where it is loaded."""

    def __init__(self, path):
        self.path = path

    def __deepcopy__(self, memo):
        return self

    def __setstate__(self, state):
        with open(state["path"], "w") as file:
            file.write("run")


def with_header(content, **versions):
    """Return a file with the parts of an archive of skops, a header and a checksum."""
    known = {"format": FORMAT, "hedgeclipper": hedgeclipper.__version__}
    header = json.dumps({**known, **versions}).encode()
    return archive_of({**parts_in(content), HEADER: header})


def parts_in(content):
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_hostile_file_does_not_run(tmp_path, forest):
    trace, path = tmp_path / "trace", tmp_path / "model.skops"
    save({"model": forest, "more": Hostile(str(trace))}, path)
    with pytest.raises(ModelFileError, match=r"holds .*Hostile, which is not trusted"):
        load(path)
    assert not trace.exists()
    load(path, trusted=[f"{__name__}.Hostile"])
    assert trace.read_text() == "run"


@pytest.mark.parametrize("function", [os.system, eval, pickle.loads, warnings.warn])
def test_a_function_in_a_file_is_not_even_looked_up(tmp_path, function):
    path = tmp_path / "model.skops"
    schema = {
        "__class__": function.__name__,
        "__module__": function.__module__,
        "__loader__": "FunctionNode",
        "protocol": json.loads(ZipFile(io.BytesIO(skops.io.dumps(1))).read("schema.json"))[
            "protocol"
        ],
    }
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    path.write_bytes(with_header(buffer.getvalue()))
    with pytest.raises(ModelFileError, match="not trusted"):
        load(path)


def test_what_is_trusted_is_ours_or_of_scikit_learn_numpy_and_scipy():
    roots = {name.partition(".")[0] for name in TRUSTED}
    assert roots == {"hedgeclipper", "numpy", "scipy", "sklearn"}
    until_1_8 = {"sklearn.compose._column_transformer._RemainderColsList"}
    for name in set(TRUSTED) - until_1_8:
        module, _, thing = name.rpartition(".")
        assert hasattr(__import__(module, fromlist=[thing]), thing), name


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_short(tmp_path, forest, fraction):
    path = save(forest, tmp_path / "model.skops")
    content = path.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


OTHER_FILES = b"", b"a,b\n1,2\n", pickle.dumps(VOTES), skops.io.dumps(LogisticRegression())


@pytest.mark.parametrize("content", OTHER_FILES, ids=["empty", "CSV", "pickle", "skops"])
def test_a_file_that_is_no_model(tmp_path, content):
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a HedgeClipper model"):
        load(path)


@pytest.mark.parametrize(
    ("its_format", "advice"), [(FORMAT + 1, "Update with pip"), (0, "Fit the model again")]
)
def test_a_model_of_another_format(tmp_path, its_format, advice):
    path = tmp_path / "model.skops"
    path.write_bytes(with_header(skops.io.dumps({}), format=its_format))
    with pytest.raises(ModelFileError, match=rf"in format {its_format}\. .* {advice}"):
        load(path)


@pytest.fixture(scope="module")
def small_file(tmp_path_factory):
    """Return the content of a small model file, and predictions of its model."""
    model = VoteAggregator(random_state=0).fit(VOTES, GOLD)
    return save(model, tmp_path_factory.mktemp("model") / "model.skops").read_bytes()


def test_a_changed_byte_anywhere_is_an_error(tmp_path, small_file):
    path, size = tmp_path / "model.skops", len(small_file)
    rng = np.random.default_rng(0)
    name = HEADER.encode()
    records = [range(at - 60, at + 100) for at in (small_file.find(name), small_file.rfind(name))]
    ends = range(5), range(size - 90, size), *records
    for place in [*rng.integers(size, size=60).tolist(), *chain(*ends)]:
        changed = bytearray(small_file)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        with pytest.raises(ModelFileError):
            load(path)


def test_a_changed_file_with_its_own_checksum_is_still_checked(tmp_path, small_file):
    path, parts = tmp_path / "model.skops", parts_in(small_file)
    path.write_bytes(archive_of(parts))
    load(path)
    path.write_bytes(archive_of({**parts, "schema.json": b"{}"}))
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


N_ZEROS = 80 * 10**6


def zipped(**parts):
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def shortened(content, name):
    """Return an archive that says that one of its parts is only a few bytes long."""
    with ZipFile(io.BytesIO(content)) as archive:
        size = archive.getinfo(name).file_size
    return content.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little"))


def header_of(shape, dtype):
    """Return the header of an array, as NumPy writes it, without a single entry."""
    buffer = io.BytesIO()
    facts = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, facts)
    return buffer.getvalue()


def read_again(array, n_reads):
    """Return the parts of a list that has the same array so many times, each read by itself."""
    parts = parts_in(skops.io.dumps([array]))
    schema = json.loads(parts["schema.json"])
    schema["content"] = [{**schema["content"][0], "__id__": k + 1} for k in range(n_reads)]
    return {**parts, "schema.json": json.dumps(schema)}


def bombs(parts):
    name = next(name for name in parts if name.endswith(".npy"))
    # of a matrix; older versions of skops keep its arrays one by one
    inside = next((name for name in parts if name.endswith(".npz")), "more.npz")
    zeros = bytes(N_ZEROS)
    array = zipped(**{**parts, name: zeros})
    yield "array", array
    yield "array that lies", shortened(array, name)
    yield "header", zipped(**{**parts, HEADER: parts[HEADER] + b" " * N_ZEROS})
    yield "description", zipped(**{**parts, "schema.json": b"[" + b" " * N_ZEROS + b"]"})
    yield "archive inside", zipped(**{**parts, inside: zipped(data=zeros)})
    yield "an array more", zipped(**parts, more=zeros)
    claim = header_of((N_ZEROS,), "<f8")
    yield "array that claims entries", zipped(**{**parts, name: claim})
    yield "array of entries without bytes", zipped(**{**parts, name: header_of((10**12,), "<U0")})
    yield "array inside that claims", zipped(**{**parts, inside: zipped(**{"data.npy": claim})})
    for kind, again in ("array", np.zeros(10**6)), ("matrix", sparse.csr_matrix((2 * 10**6, 1))):
        yield f"{kind} read again", zipped(**{HEADER: parts[HEADER], **read_again(again, 20)})


def test_archives_that_unpack_to_too_much_are_refused(tmp_path, small_file):
    path, parts = tmp_path / "model.skops", parts_in(small_file)
    for kind, content in bombs(parts):
        content = content[:-2] + (64).to_bytes(2, "little")  # room for a comment
        path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
        assert len(content) < 200_000, kind
        tracemalloc.start()
        with pytest.raises(ModelFileError, match=r"damaged|no model"):
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * 10**6, (kind, peak)


def test_what_compresses_too_well_is_saved_as_it_is(tmp_path, small_file, monkeypatch):
    monkeypatch.setattr("hedgeclipper.persistence._FREE_BYTES", 0)
    path, parts = tmp_path / "model.skops", parts_in(small_file)
    path.write_bytes(archive_of({**parts, "more": bytes(10 * 33 * len(small_file))}))
    assert path.stat().st_size > 330 * len(small_file)
    load(path)
