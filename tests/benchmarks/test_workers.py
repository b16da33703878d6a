"""Two workers are nearly twice as fast as one at the nested cross-validation."""

import os
import time
from collections.abc import Callable
from functools import partial

import pytest

from failbench.base.method_settings import RandomForestSettings
from failbench.base.workers import parallel_map
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import make_splits
from prediction_fixtures import made_up_table

FOREST = RandomForestSettings(
    trees=100, inner_folds=3, max_features=("sqrt", 0.5), min_samples_leaf=(1,)
)
MOST_ROUNDS = 12
IDLE_ROUNDS = 3
"""Rounds on a free machine without which nothing is said: a single one may still be disturbed."""
WANTED = 1.7
IDLE = 1.85
"""Two workers do this many times the work of one on a machine whose two cores are free."""


def count(to: int) -> int:
    return sum(range(to))


def seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def times_as_fast_at_counting() -> float:
    work = partial(parallel_map, count, [(10**7,)] * 4)
    return seconds(partial(work, 1)) / seconds(partial(work, 2))


@pytest.mark.system
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two workers need two cores")
def test_two_workers_are_at_least_1_7_times_as_fast_as_one_on_the_nested_cv(record_property):
    """In the best of the rounds before and after which two workers count nearly twice as fast."""
    failures, successes = (made_up_table(15, 1, kind) for kind in ("failure", "success"))
    splits = make_splits(failures.select("scenario", "category"), 4, 2, seed=0)
    sets = {"19": FEATURE_SETS["19"]}
    predict = partial(nested_cv, failures, successes, splits, "random_forest", FOREST, sets, seed=0)
    predict(workers=2)  # starts the workers, and lets them import what they need
    machine, ratios = [times_as_fast_at_counting()], []
    for _ in range(MOST_ROUNDS):
        one, two = (seconds(partial(predict, workers=workers)) for workers in (1, 2))
        machine.append(times_as_fast_at_counting())
        if min(machine[-2:]) < IDLE:
            continue
        ratios.append(one / two)
        if len(ratios) >= IDLE_ROUNDS and max(ratios) >= WANTED:
            break
    if len(ratios) < IDLE_ROUNDS:
        pytest.skip(f"the machine is busy: {len(ratios)} of {MOST_ROUNDS} rounds had two cores")
    record_property("times_as_fast", max(ratios))
    assert max(ratios) >= WANTED
