"""Stage measure_budget: what the monitor's log still tells where a budget thinned it.

Each author of causes is asked about by what was learnt of the other author and of what others
wrote, from whole logs; what a budget leaves out is left out of the logs that are asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base import measuring as st
from failbench.diagnose.fitting import fitted
from failbench.diagnose.known import KnownLog
from failbench.diagnose.model import Model, supports_of
from failbench.diagnose.readers.records import log_of_history
from failbench.diagnose.signs import says_end
from failbench.diagnose.words import NO_SUPPORT, WordWeights
from failbench.monitor.history import History
from failbench.monitor.records.tables import histories, setting_of
from known_logs import (
    Outside,
    Watched,
    at_failure,
    bounds_of_monitor,
    example_of,
    known_log,
    monitored_examples,
    read_of_a,
    read_of_b,
    read_outside,
)
from shared.authors import A, B
from shared.budget import ANSWERS, COSTS, BudgetSettings, Schedule, schedules
from shared.diagnose_logs import CARRIED_BOUNDS, DiagnosedLogs

MEASURED = Path("data/monitor/measurements.csv")
TABLE = Path("data/measurements/budget.parquet")


def of_first_seed(watched: Watched, seed: int) -> Watched:
    """Its runs of one seed: a cause weighs one, however many seeds it has."""
    kinds = pl.col("kind").is_in(["failure", "twin"])
    return watched._replace(monitored=watched.monitored.select(kinds & (pl.col("seed") == seed)))


def model_without(
    watched: Watched, outside: Outside, settings: DiagnosedLogs
) -> tuple[Model, WordWeights | None]:
    """What is learnt of one author of causes, and of what others wrote."""
    learnt: list[KnownLog] = [*map(known_log, monitored_examples(watched, (), 1)), *outside.logs]
    return fitted(learnt, settings, "training authors", outside.said)


def of_log(
    watched: Watched,
    recorded: dict[str, Any],
    history: History,
    made: tuple[Model, WordWeights | None],
) -> dict[str, Any]:
    """What is said of a log of a run."""
    model, words = made
    read = log_of_history(recorded["run_id"], history)
    bounds = watched.bounds.carried[setting_of(recorded)]
    example = example_of(recorded, CARRIED_BOUNDS, read, bounds, watched.labels)
    log = known_log(example)
    support = NO_SUPPORT if words is None else words.support(log.words)
    supports = supports_of(log.signs, model.bounds.of(log.signs), support)
    return {
        **{key: example[key] for key in ("run_id", "kind", "scenario", "category")},
        "prediction": st.CATEGORIES[model.weighed(supports).category],
        "alarm": model.is_alarm(says_end(log.signs), log.signs, supports),
    }


def answers(
    author: str,
    watched: Watched,
    made: tuple[Model, WordWeights | None],
    asked: Sequence[Schedule],
) -> list[dict[str, Any]]:
    """What is said of an author's runs, by schedule."""
    rows = []
    for recorded, history in histories(watched.monitored):
        whole = at_failure(history, watched.failure_steps.get(recorded["run_id"]))
        count = sum(len(row.values) for row in whole.rows)
        said = of_log(watched, recorded, whole, made)
        for schedule in asked:
            thinned = schedule.thinned(whole)
            kept = sum(len(row.values) for row in thinned.rows)
            told = said if kept == count else of_log(watched, recorded, thinned, made)
            rows.append(
                {
                    "share": schedule.share,
                    "milliseconds": schedule.milliseconds,
                    "state": schedule.state,
                    "author": author,
                    "seed": recorded["seed"],
                    **told,
                    "kept": kept / count if count else 1.0,
                }
            )
    return rows


def main() -> None:
    settings = st.read_section("diagnose_logs", DiagnosedLogs)
    costs = st.read_points(MEASURED, COSTS, remedy="Restore it with `git checkout`.")
    asked = schedules(st.read_section("budget", BudgetSettings), costs)
    bounds, seed = bounds_of_monitor(settings.monitor_version), settings.run_seeds[0]
    watched = {A: of_first_seed(read_of_a(bounds), seed), B: read_of_b(bounds)}
    outside = read_outside(bounds.carried)
    fits = [(of_first_seed(watched[other], seed), outside, settings) for other in (B, A)]
    models = dict(zip((A, B), st.parallel_map(model_without, fits, st.workers()), strict=True))
    tasks = []
    for author, runs in watched.items():
        ids = runs.monitored.runs["run_id"]
        for at in range(4 * st.workers()):
            taken = pl.col("run_id").is_in(ids[at :: 4 * st.workers()].implode())
            part = runs._replace(monitored=runs.monitored.select(taken))
            tasks.append((author, part, models[author], asked))
    rows = [row for part in st.parallel_map(answers, tasks, st.workers()) for row in part]
    keys = "share", "milliseconds", "state", "author"
    table = pl.DataFrame(rows, ANSWERS).sort(*keys, "run_id")
    st.write_parquet(table, TABLE)
    right = (pl.col("prediction") == pl.col("category")).mean()
    told = table.filter(kind="failure").group_by(*keys, maintain_order=True)
    found = told.agg(pl.len(), right=right, kept=pl.col("kept").mean())
    st.print_table(found.columns, found.rows())


if __name__ == "__main__":
    st.run(main)
