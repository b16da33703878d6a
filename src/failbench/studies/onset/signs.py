"""Signs: the first deviation of a run that persists, and how long before the failure it began.

The definitions were fixed before any result was seen:

* A step is outside the healthy band in a signal where its distance (``course``) exceeds a limit.
* A deviation persists if a signal is outside for ``persistence`` steps on end, or from some step
  up to the last before the failure. In the first band, *sds*, limits are the ``healthy_sds``
  standard deviations of the paper's equation 2. In the second, *reach*, they are what successful
  runs did: the largest distance that any kept up for ``persistence`` steps, and for the shorter
  deviations that end in the failure the largest that any had at a single step. The first was made
  the main one because fewer healthy twins leave it, before a failing run was looked at. The third,
  *untimed*, is the first without the times of steps, which the load of a machine moves, too.
* The sign of a run is the first step of its first persisting deviation, over all signals. The step
  of the failure itself is no sign of it: signs lie before.
* The *lead* is the number of steps from the sign to the failure. A failure is ``sudden`` if it is
  at most k, ``gradual`` if it is more, and has ``none`` if there is no sign before the end.
* By the second reading, *rise*, a failure is sudden where the deviation itself is abrupt: where the
  distance of the signal reaches half of its later maximum within k steps of the sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view

from failbench.arrays import Array, Mask
from failbench.studies.onset.course import SIGNALS

OnsetKind = Literal["gradual", "sudden", "none"]
KINDS: Final[tuple[OnsetKind, ...]] = ("gradual", "sudden", "none")
Band = Literal["sds", "reach", "untimed"]
Reading = Literal["lead", "rise"]

SIGN_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "signal": pl.String(),
        "sign_step": pl.Int64(),
        "lead": pl.Int64(),
        "rise": pl.Int64(),
    }
)


@dataclass(frozen=True)
class Limits:
    """Distances of one signal beyond which it is outside: kept up, and at single steps."""

    lasting: float
    single: float


@dataclass(frozen=True)
class Sign:
    """The first persisting deviation of a run: signal, first step, and steps to half its height."""

    signal: str
    step: int
    rise: int


def healthy_reach(distances: pl.DataFrame, persistence: int) -> dict[str, Limits]:
    """How far successful runs stray at most, by signal."""
    runs = distances.partition_by("run_id")
    return {
        signal: Limits(
            lasting=max(_kept_up(run[signal].to_numpy(), persistence) for run in runs),
            single=max(float(run[signal].to_numpy().max()) for run in runs),
        )
        for signal in SIGNALS
    }


def _kept_up(distance: Array, persistence: int) -> float:
    """The largest distance that is kept up for so many steps; zero in a shorter run."""
    if len(distance) < persistence:
        return 0.0
    return float(sliding_window_view(distance, persistence).min(-1).max())


def first_signs(
    distances: pl.DataFrame,
    ends: pl.DataFrame,
    limits: Mapping[str, Limits],
    persistence: int,
) -> pl.DataFrame:
    """The sign of each run, and its lead."""
    seen = distances.join(ends, on="run_id").filter(pl.col("step") < pl.col("failure_step"))
    runs = {str(key[0]): run for key, run in seen.group_by("run_id", maintain_order=True)}
    rows = []
    for run_id, failure_step in ends.select("run_id", "failure_step").sort("run_id").iter_rows():
        sign = first_sign(runs[run_id], limits, persistence) if run_id in runs else None
        rows.append(
            (run_id, None, None, None, None)
            if sign is None
            else (run_id, sign.signal, sign.step, failure_step - sign.step, sign.rise)
        )
    return pl.DataFrame(rows, schema=SIGN_SCHEMA, orient="row")


def first_sign(run: pl.DataFrame, limits: Mapping[str, Limits], persistence: int) -> Sign | None:
    """The first persisting deviation in the steps before a failure; of equals the first signal."""
    steps = run["step"].to_numpy()
    signs = []
    for signal, limit in limits.items():
        distance = run[signal].to_numpy()
        at = persisting(distance, limit, persistence)
        if at is not None:
            signs.append(Sign(signal, int(steps[at]), _half_height(distance[at:])))
    return min(signs, key=lambda sign: sign.step, default=None)


def persisting(distance: Array, limit: Limits, persistence: int) -> int | None:
    """Position of the first deviation that persists, or None.

    >>> persisting(np.array([0.0, 4.0, 0.0, 4.0, 4.0, 4.0, 0.0]), Limits(3.0, 9.0), 3)
    3
    >>> persisting(np.array([0.0, 0.0, 4.0, 4.0]), Limits(3.0, 9.0), 3)
    >>> persisting(np.array([0.0, 0.0, 4.0, 10.0]), Limits(3.0, 9.0), 3)
    3
    """
    lasting = distance > limit.lasting
    if len(lasting) >= persistence:
        whole = sliding_window_view(lasting, persistence).all(-1)
        if whole.any():
            return int(whole.argmax())
    tail = _outside_at_the_end(distance > limit.single)
    return len(distance) - tail if tail else None


def _outside_at_the_end(outside: Mask) -> int:
    """How many of the last steps on end are outside."""
    inside = np.flatnonzero(~outside)
    return len(outside) - (int(inside[-1]) + 1 if len(inside) else 0)


def _half_height(distance: Array) -> int:
    """Steps until a deviation is half as far as it will be; the first infinite one is all of it."""
    return int((distance >= distance.max() / 2).argmax())


def kind_of_onset(near_steps: int, reading: Reading = "lead") -> pl.Expr:
    """The kind of onset over ``SIGN_SCHEMA``, when so many steps count as near."""
    return (
        pl.when(pl.col(reading).is_null())
        .then(pl.lit("none"))
        .when(pl.col(reading) <= near_steps)
        .then(pl.lit("sudden"))
        .otherwise(pl.lit("gradual"))
    )
