"""Models in files that can be loaded from a stranger: nothing in them is run.

A file is that of skops, a zip of arrays and of a description in JSON, and one more entry that says
which versions wrote it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from hedgeclipper import __version__
from hedgeclipper.io.atomic import draft_of
from hedgeclipper.io.extras import import_extra
from hedgeclipper.model_parts import check_trees, without_tree_seeds

HEADER = "hedgeclipper.json"
_ZIP_MAGIC = b"PK\x03\x04"
_FAST = 1

_OUR_TYPES = {
    "votes.aggregator": ["VoteAggregator", "_Fitted"],
    "base.columns": ["ColumnEncoder"],
    "base.column_plans": ["ColumnPlan"],
    "base.feature_rows": ["BatchCheck"],
    "forest.classifier": ["HedgeClipperClassifier"],
    "bounds.certificate": ["Certificate"],
    "game.losses": ["LogLoss", "PiecewiseLinearLoss", "SquareLoss"],
    "game.multiclass_losses": [
        "MulticlassLogLoss",
        "MulticlassSquareLoss",
        "MulticlassZeroOneLoss",
    ],
    "game.solution": ["Solution"],
    "game.track": ["PassRecord"],
    "forest.leaf_correlations": ["Labeled", "LeafValues"],
    "forest.leaf_game": ["LeafGameOptions", "LeafKnowledge"],
    "forest.leaf_predictor": ["LeafPredictor"],
    "forest.leaf_stream": ["LeafStream"],
    "forest.settings": ["LeafGame", "LeafStorage"],
    "panel.defaults": ["SmoothSpreading"],
    "panel.panel_predictor": [
        "Calibration",
        "NamedColumns",
        "PanelGame",
        "PanelPredictor",
        "VoteScale",
    ],
    "panel.views": ["CutColumns", "QuantileColumns", "_Divide"],
    "base.semi_supervised": ["SemiSupervisedSplit"],
    "forest.leaf_rows": ["Reservoir"],
    "forest.leaves": ["LeafTable"],
    "forest.trees": ["PackedTrees"],
    "votes.agreement": ["Agreement"],
    "votes.knowledge": ["Intervals", "Knowledge"],
    "votes.matrix": ["Votes"],
    "votes.opening": ["Opening", "Voice"],
    "votes.vote_predictor": ["VotePredictor"],
    "votes.strata": ["Strata"],
    "votes.witnesses": ["Witnesses"],
    "panel.classifier": ["HedgedVotingClassifier"],
}
# beyond those that skops trusts by itself: scikit-learn's estimators, and NumPy's arrays
_TYPES_OF_OTHERS = [
    "numpy.dtype",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.compose._column_transformer._RemainderColsList",  # a list, until scikit-learn 1.9
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
]
TRUSTED = tuple(
    [f"hedgeclipper.{module}.{name}" for module, names in _OUR_TYPES.items() for name in names]
    + _TYPES_OF_OTHERS
)


class ModelFileError(ValueError):
    """A file is no model, is damaged, comes from a newer version, or holds what is not trusted."""


class OtherVersionWarning(UserWarning):
    """A model was saved with another version of scikit-learn."""


def save(model: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write a model to a file that `load` reads without running anything in it.

    The file appears when all is written. Models that hold estimators of other libraries may be
    pickled instead.

    Parameters
    ----------
    model : estimator
        A classifier or aggregator of this package, or a pipeline around one.
    path : str or Path
        The file to write, by custom with the suffix ``.skops``.
    force : bool, default=False
        Whether a file that exists may be replaced.

    Returns
    -------
    Path
        The whole path.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hedgeclipper import VoteAggregator
    >>> votes, gold = [[0, 0, 1], [1, 1, 1], [0, -1, 0], [1, 0, 1]], [0, 1, -1, -1]
    >>> model = VoteAggregator().fit(votes, gold)
    >>> with TemporaryDirectory() as folder:
    ...     load(save(model, f"{folder}/votes.skops")).predict(votes)
    array([0, 1, 0, 1])
    """
    skops = import_extra("skops.io", "cli", "Saving a model")
    with draft_of(path, force=force) as draft:
        content = BytesIO()
        light = without_tree_seeds(model)
        skops.dump(light, content, compression=ZIP_DEFLATED, compresslevel=_FAST)
        with ZipFile(content, "a") as archive:
            archive.writestr(HEADER, json.dumps(_versions()))
        draft.write_bytes(content.getbuffer())
    return Path(path).expanduser().resolve()


def load(path: str | Path, *, trusted: Sequence[str] = ()) -> Any:
    """Return the model of a file that `save` has written.

    Only types that are known to be harmless are made: those of this package, of scikit-learn,
    NumPy and SciPy that a model can hold. A file that holds another one is refused before anything
    is made. What a model predicts is of course up to who made it.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : sequence of str
        Full names of types beyond these that you trust, such as those of members of a panel that
        come from other libraries.

    Returns
    -------
    estimator
        The model, with the same predictions.
    """
    skops = import_extra("skops.io", "cli", "Loading a model")
    path = Path(path).expanduser()
    content = path.read_bytes()
    versions = _read_header(path, content)
    _check_versions(path, versions)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = skops.loads(content, trusted=[*TRUSTED, *trusted])
        check_trees(model)
    except import_extra("skops.io.exceptions", "cli", "A model").UntrustedTypesFoundException:
        raise ModelFileError(_distrust(path, content, trusted)) from None
    except Exception as error:
        raise ModelFileError(
            f"{path} is damaged ({error}). Put a whole copy in its place."
        ) from error
    return model


def _versions() -> dict[str, str]:
    return {"hedgeclipper": __version__, "scikit-learn": sklearn.__version__}


def _read_header(path: Path, content: bytes) -> dict[str, str]:
    """Return the versions that wrote the file, or say that it is none of ours or cut short."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            versions = json.loads(archive.read(HEADER))
            return {name: str(versions[name]) for name in _versions()}
    except (BadZipFile, EOFError) as error:
        if content.startswith(_ZIP_MAGIC):
            raise ModelFileError(
                f"{path} is cut short or damaged ({error}). Put a whole copy in its place."
            ) from error
        raise ModelFileError(_no_model(path)) from error
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(_no_model(path)) from error


def _no_model(path: Path) -> str:
    return (
        f"{path} is no model of HedgeClipper. Pass a file that hedgeclipper.save or "
        "`hedgeclipper fit` has written."
    )


def _check_versions(path: Path, versions: dict[str, str]) -> None:
    """Raise if a newer version wrote the file; warn if it was another one of scikit-learn."""
    theirs = versions["hedgeclipper"]
    if _release(theirs) > _release(__version__):
        raise ModelFileError(
            f"{path} was saved by HedgeClipper {theirs}, which is newer than this one, "
            f"{__version__}. Update with pip install --upgrade hedgeclipper."
        )
    if versions["scikit-learn"] != sklearn.__version__:
        warnings.warn(
            f"{path} was saved with scikit-learn {versions['scikit-learn']}, and this is "
            f"{sklearn.__version__}: predictions may differ. Fit the model anew to be sure.",
            OtherVersionWarning,
            stacklevel=3,
        )


def _release(version: str) -> tuple[int, ...]:
    """Return major and minor number; files are the same within these."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _distrust(path: Path, content: bytes, trusted: Sequence[str]) -> str:
    found = import_extra("skops.io", "cli", "A model").get_untrusted_types(data=content)
    strange = sorted(set(found) - set(TRUSTED) - set(trusted))
    return (
        f"{path} holds {', '.join(strange)}, which is not trusted: loading it could run code. "
        "Nothing was loaded. If you trust who made the file, pass these names to "
        "hedgeclipper.load as trusted."
    )
