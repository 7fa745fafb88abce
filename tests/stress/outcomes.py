"""What may come of bad input: a valid result, or an error of ours that says what to do."""

import traceback

import numpy as np

# where errors of ours are raised; those of scikit-learn's checks of input are documented as ours
OURS = (
    "/hedgeclipper/",
    "/sklearn/utils/validation.py",
    "/sklearn/utils/_param_validation.py",
    "/sklearn/utils/multiclass.py",
)
SHORTEST = 20  # letters of a message that says what is wrong and what to do


def is_documented(error):
    """Return whether an error is one that users are told of, raised by a check of ours."""
    place = traceback.extract_tb(error.__traceback__)[-1].filename
    return (
        isinstance(error, (ValueError, TypeError, OSError))
        and len(str(error)) >= SHORTEST
        and any(part in place for part in OURS)
    )


def outcome(work):
    """Return what the work returns, or None after an error that is documented; raise others."""
    try:
        return work()
    except Exception as error:
        if not is_documented(error):
            raise
        return None


def assert_probabilities(found, n_rows, n_classes):
    assert found.shape == (n_rows, n_classes)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found <= 1 + 1e-12).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


def assert_certificate(bound):
    assert 0.0 <= bound.error_lower <= bound.error_upper <= 1.0
    if bound.error is not None:
        assert 0.0 <= bound.error <= 1.0


def assert_classifier(model, X, n_rows):
    """Check all that a fitted classifier or aggregator tells of itself and predicts."""
    assert_probabilities(model.predict_proba(X), n_rows, model.classes_.size)
    predicted = model.predict(X)
    assert predicted.shape == (n_rows,)
    assert set(predicted.tolist()) <= set(model.classes_.tolist())
    assert_certificate(model.certificate_)
