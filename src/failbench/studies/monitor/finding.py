"""The finding: what the monitor comes to, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from failbench.reporting.cells import with_interval
from failbench.studies.monitor.rungs import LADDER

UNSEEN: Final = {"version": "2", "name": "test"}
"""The version that was made on one half of the scenarios, and the half that it had not seen."""


def finding(
    rates: pl.DataFrame, versions: Sequence[str], setting: str, halves: str, confidence: float
) -> str:
    """The first version and the last, the half that one had not seen, and the ending alone.

    Parameters
    ----------
    rates
        As :func:`failbench.studies.monitor.results.rate_table` returns them.
    versions
        In their order.
    setting
        Of the runs.
    halves
        Which scenarios, in words.
    confidence
        Of the intervals, as a fraction.
    """
    accuracies = rates.filter(setting=setting, metric="accuracy")

    def cell(**key: str) -> str:
        (row,) = accuracies.filter(**key).to_dicts()
        return with_interval(row["value"], row["ci_low"], row["ci_high"])

    first, last = versions[0], versions[-1]
    (whole,) = accuracies.filter(version=first, part="whole").to_dicts()
    unseen = ""
    if accuracies.filter(**UNSEEN, part="half").height and UNSEEN["version"] != last:
        unseen = (
            f"; a version made on one half of the scenarios was right on "
            f"{cell(**UNSEEN, part='half')} % of the other"
        )
    later = (
        f"{unseen}; the last version, made with all of them in view, "
        f"{cell(version=last, part='whole')} %"
        if last != first
        else ""
    )
    return (
        f"The first rules of the monitor, frozen before any failing run was scored, name the right "
        f"component of {cell(version=first, part='whole')} % of {whole['runs']} runs of "
        f"{whole['n']} scenarios ({halves}) when they fail{later}; how they ended, by itself, "
        f"{cell(version=last, part='rung', name=LADDER[0].name)} % "
        f"({100 * confidence:g} % intervals by resampling scenarios and seeds).\n"
    )
