"""The forest is that of scikit-learn, tree for tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from failbench.methods.forest import Forest


@pytest.mark.parametrize("max_features", ["sqrt", "log2", 0.5])
@pytest.mark.parametrize(("least", "missing"), [(1, False), (3, False), (1, True)])
def test_all_that_it_says_is_what_the_library_says(max_features, least, missing):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(90, 7))
    columns[:, 2] = columns[:, 2].round()
    labels, others = rng.choice(list("abc"), 90), rng.normal(size=(40, 7))
    columns[::7, 3], others[::5, 3:] = (np.nan, np.nan) if missing else (0.0, 0.0)
    asked = {"max_features": max_features, "min_samples_leaf": least, "random_state": 5}
    ours, theirs = (
        kind(9, **asked).fit(columns, labels) for kind in (Forest, RandomForestClassifier)
    )
    for one, other in zip(ours, theirs, strict=True):
        for name in ("feature", "threshold", "value", "children_left"):
            np.testing.assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))
    np.testing.assert_array_equal(ours.predict_proba(others), theirs.predict_proba(others))
    np.testing.assert_array_equal(ours.predict(others), theirs.predict(others))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    assert (ours.decision_path(others)[0] != theirs.decision_path(others)[0]).nnz == 0
