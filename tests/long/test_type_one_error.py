"""How often the corrected t test errs when two methods are equally good.

Each replicate draws 76 scenarios anew, with the study's number a category, and cross-validates two
classifiers on them for real: 5 folds x 10 repeats by the splits of the study. A scenario has two
blocks of features, drawn alike and independently given its category, and each classifier sees one:
their expected accuracy over training sets of this size, the estimand, is the same by symmetry.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy import stats
from sklearn.base import ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from failbench.base.scenarios import COUNTS
from failbench.base.workers import parallel_map
from failbench.prediction.splits import make_splits
from failbench.statistics.paired_tests import resampled_mean

pytestmark = pytest.mark.long

REPLICATES = 800
FOLDS, REPEATS = 5, 10
FEATURES = 4
SEPARATION = 1.2
"""Standard deviation of the category means; features have one of 1 around them."""
CLASSIFIERS: dict[str, Callable[[], ClassifierMixin]] = {
    "naive Bayes": GaussianNB,
    "nearest neighbour": lambda: KNeighborsClassifier(1),
}
CATEGORY = np.repeat(np.arange(len(COUNTS)), list(COUNTS.values()))
SCENARIOS = pl.DataFrame(
    {"scenario": np.arange(len(CATEGORY)).astype(str), "category": CATEGORY.astype(str)}
)


def fold_masks(seed: int) -> npt.NDArray[np.bool_]:
    """Whether a fold tests a scenario, ``[n_repeats * n_folds, n_scenarios]``."""
    splits = make_splits(SCENARIOS, FOLDS, REPEATS, seed)
    masks = np.zeros((REPEATS, FOLDS, len(CATEGORY)), dtype=bool)
    masks[splits["repeat"], splits["fold"], splits["scenario"].cast(pl.Int64)] = True
    return masks.reshape(-1, len(CATEGORY))


def fold_accuracies(features, masks, name):
    accuracies = []
    for tested in masks:
        classifier = CLASSIFIERS[name]().fit(features[~tested], CATEGORY[~tested])
        accuracies.append(np.mean(classifier.predict(features[tested]) == CATEGORY[tested]))
    return np.array(accuracies)


def p_values(name: str, seed: int) -> tuple[float, float, float]:
    """Corrected p, the p of a plain t test over all folds, and the first classifier's accuracy."""
    rng = np.random.default_rng(seed)
    masks = fold_masks(seed)
    # The category means are the same in both blocks, so that neither is easier.
    means = rng.normal(0, SEPARATION, (len(COUNTS), FEATURES))
    blocks = [means[CATEGORY] + rng.normal(size=(len(CATEGORY), FEATURES)) for _ in range(2)]
    left, right = (fold_accuracies(block, masks, name) for block in blocks)
    tested = len(CATEGORY) / FOLDS
    corrected = resampled_mean(left - right, tested, len(CATEGORY) - tested)
    return corrected.p_value, float(stats.ttest_rel(left, right).pvalue), float(left.mean())


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_corrected_t_rejects_equal_methods_no_more_than_it_should(name, report):
    tasks = [(name, seed) for seed in range(REPLICATES)]
    found = np.array(parallel_map(p_values, tasks, workers=2))
    corrected, plain = (found[:, :2] <= 0.05).mean(axis=0)
    report(
        f"Rejections of equally good methods at 0.05, {REPLICATES} replicates, {name}",
        ("test", "rejected", "mean accuracy"),
        [
            ("corrected t over 50 folds", corrected, found[:, 2].mean()),
            ("plain t over 50 folds", plain, found[:, 2].mean()),
        ],
    )
    assert corrected <= 0.075
    # The correction is what keeps the level: without it the same folds reject far too often.
    assert plain > 0.2
