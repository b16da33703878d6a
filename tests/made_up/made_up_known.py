import polars as pl

from failbench.monitor.end import End
from failbench.monitor.history import History
from failbench.monitor.records.verdicts import break_table, ends_of, known_course
from failbench.prediction.known import Known
from made_up_monitored import BOUNDS, COMPLETED, history, monitored, rules


def judged(table, lenders=(), used=None):
    """What broke in monitored runs, all of which failed at step 59, how they ended, and rules."""
    used = used or rules()
    detected = table.runs.select("run_id", failure_step=pl.lit(59, pl.Int32))
    return break_table(table, used, lenders), ends_of(table.runs, detected), used


def sign(category: str | None, onset: int = 30) -> History:
    """What is seen of a cause of a component; waiting alone is bounded by healthy runs."""
    crash = End("exception", "forward", 59, "RuntimeError", "shapes")
    end, signals = {
        "data_pipeline": (crash, {"labels_outside": {onset: 1.0}}),
        "model_software": (crash, {"loss_ratio": {onset: 3.0}}),
        "optimization": (COMPLETED, {"learning_rate": {onset: 0.0}}),
        "unknown": (COMPLETED, {"blocked_data": {onset: 9.0}}),
        "memory_hardware": (End("out of memory", "forward", 59), {}),
        None: (COMPLETED, {}),
    }[category]
    return history(end, **signals)


def made_up_known(runs, bounded, lenders=(), onset=30):
    """What a monitor knew of runs of ``bounded`` settings, and of others by ``lenders``."""
    keys = runs.select("run_id", "architecture", "optimizer", "scale").to_dicts()
    signs = [sign(category, onset) for category in runs["category"]]
    table = monitored(list(zip(keys, signs, strict=True)))
    used = rules(dict.fromkeys(bounded, BOUNDS))
    return Known(known_course(*judged(table, lenders, used), lenders))
