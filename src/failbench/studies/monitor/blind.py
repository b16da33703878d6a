"""Blind: a version of the rules on the half of the scenarios that it was not made on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.monitor.halves import Half
from failbench.studies.monitor.judged import Judged
from failbench.studies.monitor.rates import difference, rates_of

VERSION: Final = "2"
"""Made with the development half in view; version 1 alarms most healthy twins, others saw both."""

UNSEEN: Final[Half] = "test"


def blind_rates(
    versions: Sequence[Judged],
    forest: pl.DataFrame,
    setting: str,
    settings: ScenarioIntervalSettings,
) -> dict[str, Interval]:
    """Accuracies of the version and of the forest on the same runs, and their paired difference.

    Nothing where the version did not judge the half.
    """
    judged = [each for each in versions if each.rules.version == VERSION]
    answers = [each.at_failure().filter(half=UNSEEN, setting=setting) for each in judged]
    if not answers or answers[0].is_empty():
        return {}
    beside = forest.join(answers[0], on="run_id", how="semi")
    repeats = beside.select("run_id", "repeat")
    repeated = answers[0].drop("repeat").join(repeats, on="run_id")
    return {
        "version_2": rates_of(answers[0], settings)["accuracy"],
        "forest": rates_of(beside, settings)["accuracy"],
        "difference": difference(repeated, beside, settings),
    }
