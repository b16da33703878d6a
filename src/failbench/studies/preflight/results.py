"""Results of the study of preflights: which crashes are foreseen, when, for the right reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from pydantic import Field
from scipy.stats import linregress

from failbench.errors import BadInputError
from failbench.prediction.slices import ReferenceStudy
from failbench.preflighted.answers import REMEDY, Look
from failbench.records import Record
from failbench.statistics.intervals import wilson
from failbench.studies.preflight.looked import PLACE, Looked
from failbench.telemetry import Telemetry

DECIMALS: Final = 2
"""Of the slope of the margin: what is added follows from the rounded one."""

SEVERE: Final = ("crash", "failure")
SAID: Final = ("crash", "failure", "warning")
"""Severities that are more than a note."""


class PreflightSettings(Record):
    """The section ``preflight`` of params.yaml, with what it takes of ``statistics``."""

    quantile: float = Field(gt=0, lt=1)
    confidence: float = Field(gt=0, lt=1)


@dataclass(frozen=True)
class Share:
    """How many of some scenarios, with Wilson's interval of the share."""

    count: int
    n: int
    ci_low: float
    ci_high: float

    @property
    def value(self) -> float:
        """The share."""
        return self.count / self.n

    def record(self) -> dict[str, float]:
        """As a metric."""
        return {
            "value": self.value,
            "ci_low": self.ci_low,
            "ci_high": self.ci_high,
            "count": self.count,
            "n": self.n,
        }


def share(kept: Sequence[bool], confidence: float) -> Share | None:
    """A share with its interval; None of nothing."""
    if not kept:
        return None
    count, n = sum(kept), len(kept)
    return Share(count, n, *wilson(count / n, n, confidence))


COUNTED: Final[Mapping[str, Callable[[Looked, Look], bool]]] = {
    "foreseen": Looked.foreseen,
    "right_category": Looked.right_category,
    "right_cause": Looked.right_cause,
    "right_text": Looked.right_text,
}
"""What is counted of runs that crash."""


def healthy_answers(
    answers: pl.DataFrame, recorded: Telemetry, reference: ReferenceStudy
) -> pl.DataFrame:
    """Healthy runs: what was estimated before their first step, and their measured peak."""
    runs = reference.successes(recorded.runs).select("run_id")
    peaks = recorded.steps.group_by("run_id").agg(measured_bytes=pl.col("memory_bytes").max())
    table = (
        answers.join(runs, on="run_id", how="semi")
        .join(peaks, on="run_id")
        .sort("run_id")
        .select(
            "run_id",
            "estimated_bytes",
            "measured_bytes",
            ratio=pl.col("measured_bytes") / pl.col("estimated_bytes"),
            **{name: pl.col("severities").list.contains(name) for name in SAID},
        )
    )
    if table.is_empty() or table["ratio"].null_count():
        raise BadInputError(PLACE, "estimated_bytes", "a healthy run has none.", REMEDY)
    return table


@dataclass(frozen=True)
class Line:
    """Measured memory over estimated memory, in healthy runs."""

    factor: float
    bytes: float
    n: int


def margin_line(healthy: pl.DataFrame, quantile: float) -> Line:
    """The line that the margin of a warning is; see :class:`failbench.preflight.memory.Margin`."""
    estimated = healthy["estimated_bytes"].to_numpy().astype(float)
    measured = healthy["measured_bytes"].to_numpy().astype(float)
    factor = round(float(linregress(estimated, measured).slope), DECIMALS)
    added = float(np.quantile(measured - factor * estimated, quantile))
    return Line(factor, added, healthy.height)
