"""Stage measure_learners: other learners than the package's, on the same columns of monitored logs.

Each author of causes or programs is left out once. Columns are the engine's, with what words speak
for; what a learner is set to is chosen on authors that are left out of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold

from failbench.base import measuring as st
from failbench.diagnose.fitting import examples_of, fitted, words_held_out
from failbench.diagnose.known import KnownLog
from failbench.diagnose.model import Supports, supports_of
from failbench.diagnose.words import NO_SUPPORT
from failbench.field.monitored import MONITOR
from failbench.methods.boosting_machine import group_bags
from known_logs import (
    Outside,
    Watched,
    bounds_of_monitor,
    known_log,
    monitored_examples,
    read_of_a,
    read_of_b,
    read_outside,
)
from shared.authors import A, B
from shared.diagnose_logs import CARRIED_BOUNDS, LEARNER_SCHEMA, LOGIT, DiagnosedLogs
from shared.simpler import in_groups

ANSWERS = Path("data/measurements/learners.parquet")
BAGS: Final = 4  # of EBM


def forest(seed: int, leaf: int) -> Any:
    """A random forest of 400 trees."""
    return RandomForestClassifier(400, min_samples_leaf=leaf, n_jobs=1, random_state=seed)


def boosting(seed: int, leaf: int) -> Any:
    """LightGBM with 200 small trees a category."""
    return LGBMClassifier(
        n_estimators=200, learning_rate=0.05, num_leaves=15, min_child_samples=leaf,
        random_state=seed, n_jobs=1, deterministic=True, force_row_wise=True, verbose=-1,
    )  # fmt: skip


def machine(seed: int, leaf: int) -> Any:
    """EBM without interactions."""
    return ExplainableBoostingClassifier(
        interactions=0, outer_bags=BAGS, smoothing_rounds=0, learning_rate=0.02,
        min_samples_leaf=leaf, max_rounds=600, n_jobs=1, random_state=seed,
    )  # fmt: skip


# each with the sizes of its leaves that are tried
LEARNERS: Final = {
    "random_forest": (forest, (1, 3, 10)),
    "lightgbm": (boosting, (5, 20, 60)),
    "ebm": (machine, (2,)),
}


def flat(supports: Sequence[Supports]) -> st.Array:
    """All columns of logs, of shape (logs, columns)."""
    columns = [np.concatenate([each.own, each.categories.ravel()]) for each in supports]
    # what words speak for differs in its last digits between processors, and trees cut there
    return np.array(columns).round(2)


def answers(
    left_out: str,
    learnt: Sequence[KnownLog],
    tested: Sequence[KnownLog],
    said: Sequence[Any],
    settings: DiagnosedLogs,
) -> list[dict[str, Any]]:
    """What every learner says of an author's monitored logs, by those of all others."""
    model, words = fitted(learnt, settings, "training authors", said)
    failing = [log for log in learnt if log.category is not None]
    _, of_words = words_held_out(failing, said, settings)
    pairs = zip(failing, of_words, strict=True)
    supports = [supports_of(log.signs, model.bounds.of(log.signs), each) for log, each in pairs]
    asked = [
        supports_of(
            log.signs,
            model.bounds.of(log.signs),
            NO_SUPPORT if words is None else words.support(log.words),
        )
        for log in tested
    ]
    said_by = {LOGIT: [st.CATEGORIES[model.weighed(each).category] for each in asked]}
    weights = examples_of(failing, supports).weights
    truth = np.array([log.category for log in failing], dtype=object)
    groups = np.array([log.group for log in failing], dtype=object)
    columns, held = flat(supports), flat(asked)
    for name in LEARNERS:
        chosen = chosen_leaf(name, columns, truth, weights, groups, settings)
        said_by[name] = fit(name, chosen, columns, truth, weights, groups, settings.seed).predict(
            held
        )
    return [
        {"left_out": left_out, "learner": name, "log": log.scenario, "place": place,
         "category": log.category, "prediction": str(answer)}
        for name, found in said_by.items()
        for place, (log, answer) in enumerate(zip(tested, found, strict=True))
    ]  # fmt: skip


def fit(
    name: str, leaf: int, columns: st.Array, truth: st.Labels, weights: st.Array,
    groups: st.Labels, seed: int,
) -> Any:  # fmt: skip
    """A learner that is fitted; bags of EBM hold whole groups."""
    made = LEARNERS[name][0](seed, leaf)
    bags = {"bags": group_bags(truth, groups, BAGS, seed)} if name == "ebm" else {}
    return made.fit(columns, truth.astype(str), sample_weight=weights, **bags)


def chosen_leaf(
    name: str, columns: st.Array, truth: st.Labels, weights: st.Array, groups: st.Labels,
    settings: DiagnosedLogs,
) -> int:  # fmt: skip
    """The size of leaves that is right most often of authors left out."""
    leaves = LEARNERS[name][1]
    if len(leaves) == 1:
        return leaves[0]
    right = dict.fromkeys(leaves, 0.0)
    parts = [*GroupKFold(settings.inner_folds).split(groups, groups=groups)]
    for leaf, (learnt, left_out) in product(leaves, parts):
        given = (columns[learnt], truth[learnt], weights[learnt], groups[learnt])
        found = fit(name, leaf, *given, settings.seed).predict(columns[left_out])
        right[leaf] += float(weights[left_out] @ (found == truth[left_out]))
    return max(leaves, key=right.__getitem__)


def by_author(
    watched: Mapping[str, Watched], outside: Outside, settings: DiagnosedLogs
) -> Iterator[tuple[str, list[KnownLog]]]:
    """Failing and healthy logs by author; reports, which have no monitor's log, by owner."""
    for author, runs in watched.items():
        examples = monitored_examples(runs, (), st.workers())
        taken = [each for each in examples if each["seed"] == settings.run_seeds[0]]
        yield (
            author,
            [replace(known_log(each), group=author, setting=each["format"]) for each in taken],
        )
    yield from in_groups(outside.logs).items()


def main() -> None:
    settings = st.read_section("diagnose_logs", DiagnosedLogs)
    bounds = bounds_of_monitor(settings.monitor_version)
    watched = {A: read_of_a(bounds), B: read_of_b(bounds)}
    outside = read_outside(bounds.carried)
    logs = dict(by_author(watched, outside, settings))
    tasks = []
    for left_out, own in logs.items():
        tested = [log for log in own if log.category and log.setting in (MONITOR, CARRIED_BOUNDS)]
        if tested:
            learnt = [log for name, others in logs.items() if name != left_out for log in others]
            tasks.append((left_out, learnt, tested, outside.said, settings))
    rows = [row for part in st.parallel_map(answers, tasks, st.workers()) for row in part]
    table = pl.DataFrame(rows, LEARNER_SCHEMA).sort("left_out", "learner", "place")
    st.write_parquet(table, ANSWERS)
    right = (pl.col("prediction") == pl.col("category")).mean()
    of_each = table.group_by("learner", "left_out", "log", maintain_order=True).agg(right)
    means = of_each.group_by("learner", "left_out", maintain_order=True).agg(
        pl.len(), right=pl.col("prediction").mean()
    )
    st.print_table(means.columns, means.rows())


if __name__ == "__main__":
    st.run(main)
