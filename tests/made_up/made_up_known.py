"""Made-up knowledge: what a monitor knew of made-up runs, whose features tell nothing of it."""

from collections.abc import Iterable, Sequence

import polars as pl

from failbench.monitor.end import End
from failbench.monitor.history import History
from failbench.monitor.records.tables import Monitored
from failbench.monitor.records.verdicts import break_table, ends_of, known_course
from failbench.monitor.records.versions import Rules
from failbench.prediction.known import Known
from made_up_monitored import BOUNDS, history, monitored, rules


def judged(
    table: Monitored, lenders: Sequence[str] = (), used: Rules | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, Rules]:
    """What broke in monitored runs, all of which failed at step 59, how they ended, and rules."""
    used = used or rules()
    detected = pl.DataFrame(
        {"run_id": table.runs["run_id"], "failure_step": 59},
        schema_overrides={"failure_step": pl.Int32},
    )
    return break_table(table, used, lenders), ends_of(table.runs, detected), used


def sign(category: str | None, onset: int = 30) -> History:
    """What is seen of a cause of a component; waiting alone is bounded by healthy runs."""
    crash = End("exception", "forward", 59, "RuntimeError", "shapes")
    memory = End("out of memory", "forward", 59)
    signs = {
        "data_pipeline": lambda: history(crash, labels_outside={onset: 1.0}),
        "model_software": lambda: history(crash, loss_ratio={onset: 3.0}),
        "optimization": lambda: history(learning_rate={onset: 0.0}),
        "unknown": lambda: history(blocked_data={onset: 9.0}),
        "memory_hardware": lambda: history(memory),
    }
    return signs[category]() if category else history()


def made_up_known(
    runs: pl.DataFrame, bounded: Iterable[str], lenders: Sequence[str] = (), onset: int = 30
) -> Known:
    """What a monitor knew of runs, null in ``category`` where healthy; something breaks at onset.

    Settings are ``bounded`` that have bounds from healthy runs; ``lenders`` lend theirs.
    """
    names = ("run_id", "architecture", "optimizer", "scale")
    table = monitored(
        [
            ({name: run[name] for name in names}, sign(run["category"], onset))
            for run in runs.to_dicts()
        ]
    )
    used = rules(dict.fromkeys(bounded, BOUNDS))
    return Known(known_course(*judged(table, lenders, used), lenders))
