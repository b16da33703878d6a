"""The explainable boosting machine (the paper's section 6.3), bagged over whole scenarios."""

import warnings
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt
from interpret.develop import set_option
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.model_selection import StratifiedGroupKFold

from failbench.base.arrays import Labels
from failbench.base.method_settings import EbmSettings
from failbench.methods.declaration import MethodDeclaration, by_name, from_features
from failbench.methods.evidence import explain_additive
from failbench.methods.tuned_classifier import TunedClassifier, tuned

# By default the library adds as many numbers at a time as a processor can, and so in another order
# on each: near ties between splits would fall otherwise on another machine. One by one is as fast.
set_option("acceleration", 0)

TRAINED, VALIDATED = 1, -1  # values of the library for a run that a bag trains or validates on


class GroupBaggedBoosting(ExplainableBoostingClassifier):  # type: ignore[misc]
    """A boosting machine whose bags hold whole scenarios; its parameters are the library's."""

    # The library draws the early-stopping runs of a bag individually, so that a scenario has runs
    # on both sides and boosting stops when it recognises the scenario, not the category. Here each
    # scenario is validated on in exactly one bag.

    def fit(
        self, X: npt.NDArray[np.float64], y: Labels, groups: npt.NDArray[np.generic] | None = None
    ) -> Self:
        """Fit; without ``groups`` every run is its own scenario."""
        scenarios = np.arange(len(y)) if groups is None else groups
        with warnings.catch_warnings():
            # The library warns that it cannot draw multiclass surfaces, which nothing here draws.
            warnings.filterwarnings("ignore", "For multiclass we cannot currently visualize pairs")
            super().fit(X, y, bags=group_bags(y, scenarios, self.outer_bags, self.random_state))
        return self


def group_bags(
    labels: Labels, groups: npt.NDArray[np.generic], bags: int, seed: int
) -> npt.NDArray[np.int8]:
    """Which runs each bag trains and which it validates on, stratified by label."""
    # A category of a single scenario is trained on in every bag. Where no category has as many runs
    # as there are bags, bags share folds; where none has two runs, every bag trains on all of them.
    marks = np.full((len(labels), bags), TRAINED, dtype=np.int8)
    _, counts = np.unique(labels.astype(str), return_counts=True)
    n_folds = min(bags, int(counts.max()))  # the most that scikit-learn stratifies
    if n_folds == 1:
        return marks
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A category may have fewer runs than there are bags; some bags then validate on none of it.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fold, (_, validated) in enumerate(folds.split(labels, labels, groups)):
            marks[validated, fold::n_folds] = VALIDATED
    for label in set(labels):
        of_label = np.asarray(labels) == label
        # A bag that trains on none of a category could not tell how probable it is.
        without = (marks[of_label] == VALIDATED).all(axis=0)
        marks[np.ix_(of_label, without)] = TRAINED
    return marks


def ebm(settings: EbmSettings, features: tuple[str, ...], seed: int) -> TunedClassifier:
    """A boosting machine over single features, tuned where there are several learning rates."""
    machine = GroupBaggedBoosting(
        # Without this a feature with two values would be categorical, which has no bin edges.
        feature_types=["continuous"] * len(features),
        interactions=settings.interactions,
        outer_bags=settings.outer_bags,
        smoothing_rounds=settings.smoothing_rounds,
        max_rounds=settings.max_rounds,
        min_samples_leaf=settings.min_samples_leaf,
        max_bins=settings.max_bins,
        early_stopping_rounds=settings.early_stopping_rounds,
        n_jobs=1,
        random_state=seed,
    )
    grid = {"learning_rate": settings.learning_rate}
    return tuned(features, machine, grid, settings.inner_folds, seed, explain_additive)


DECLARATIONS = by_name(MethodDeclaration("ebm", EbmSettings, partial(from_features, ebm)))
