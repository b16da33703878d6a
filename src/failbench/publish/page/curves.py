"""Curves: what was recorded of failing runs and their twins, thinned to what a screen shows."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.diagnose.outputs.drawing import thinned
from failbench.publish.page.document import significant
from failbench.study.run_curves import pairs

MOST_POINTS: Final = 120
MOST_POINTS_ELSEWHERE: Final = 50
"""Of a curve in the reference setting, and in the others, so that the page stays small."""


@dataclass(frozen=True)
class Signal:
    """Something that is drawn against steps."""

    name: str
    label: str
    digits: int = 3
    of_machine: bool = False


SIGNALS: Final = (
    Signal("loss", "training loss, nats a token", digits=4),
    Signal("perplexity", "perplexity on held-out text", digits=4),
    Signal("gradient_norm", "gradient norm before clipping"),
    Signal("learning_rate", "learning rate"),
    Signal("memory", "memory, share of capacity", of_machine=True),
    Signal("step_seconds", "seconds a step", of_machine=True),
)


def thinning() -> str:
    """How curves are thinned, as the page has it."""
    # windows of ``thinned``, which keeps three values of each
    own, elsewhere = ((most - 2) // 3 for most in (MOST_POINTS, MOST_POINTS_ELSEWHERE))
    return (
        f"Each curve shows the lowest, the highest and the first non-finite value of {own} equally "
        f"long windows of steps ({elsewhere} in settings other than the reference); nothing is "
        "averaged. Where a "
        "value is not finite the line breaks. Before the fault is switched on, run and twin are "
        "equal bit for bit, and one line shows both; memory and time, which measure the machine, "
        "are drawn in full for each."
    )


def curves(
    telemetry: Telemetry, setting: str, seed: int, most: int = MOST_POINTS
) -> dict[str, dict[str, object]]:
    """Every signal of each failing run of a setting and a seed, and of its twin."""
    name = pl.concat_str("architecture", "optimizer", separator="-")
    of_setting = pairs(telemetry).filter(name == setting, pl.col("seed") == seed)
    steps = _signals(telemetry, of_setting).partition_by("run_id", as_dict=True)
    drawn: dict[str, dict[str, object]] = {}
    for pair in of_setting.sort("scenario").iter_rows(named=True):
        if pair["twin"] is None or (pair["twin"],) not in steps:
            problem = f"the failing run {pair['run_id']!r} has no recorded twin."
            remedy = "Restore it with `git checkout -- data/telemetry`, or record it again."
            raise BadInputError("data/telemetry", "twin_of", problem, remedy)
        # a run that was killed in its first step has none
        run = steps.get((pair["run_id"],), steps[(pair["twin"],)].clear())
        twin = steps[(pair["twin"],)]
        drawn[pair["scenario"]] = {
            "run": _thinned(run, 0, most),
            "twin": _thinned(twin, pair["onset_step"] or 0, most),
        }
    return drawn


def _signals(telemetry: Telemetry, of_setting: pl.DataFrame) -> pl.DataFrame:
    wanted = [*of_setting["run_id"], *of_setting["twin"].drop_nulls()]
    capacity = telemetry.runs.select("run_id", "capacity_bytes")
    return (
        telemetry.steps.filter(pl.col("run_id").is_in(wanted))
        .join(capacity, on="run_id", how="left")
        .sort("run_id", "step")
        .select(
            "run_id",
            "step",
            "loss",
            pl.col("validation_loss").exp().alias("perplexity"),
            "gradient_norm",
            "learning_rate",
            (pl.col("memory_bytes") / pl.col("capacity_bytes")).alias("memory"),
            "step_seconds",
        )
    )


def _thinned(
    steps: pl.DataFrame, onset: int, most: int
) -> dict[str, tuple[list[int], list[float | int | None]]]:
    lines = {}
    for signal in SIGNALS:
        recorded = steps.filter(pl.col(signal.name).is_not_null())
        if not signal.of_machine:
            recorded = recorded.filter(pl.col("step") >= onset)
        steps_of, values = recorded.select("step", signal.name).cast(pl.Float64).to_numpy().T
        x, y = thinned(steps_of, values, most)
        if len(x):
            distances = np.diff(x.astype(int), prepend=0).tolist()
            lines[signal.name] = (distances, [significant(value) for value in y.tolist()])
    return lines
