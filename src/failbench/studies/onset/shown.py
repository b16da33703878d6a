"""Shown: all that tables, figure and metrics of the study are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import RunSetting
from failbench.statistics.bootstrap import Interval
from failbench.studies.onset.results import Decided, Setting, Texts, Variant
from failbench.studies.onset.settings import OnsetSettings
from failbench.studies.onset.signs import Band, Reading


@dataclass(frozen=True)
class OfSetting:
    """One recorded setting."""

    setting: RunSetting
    found: Setting
    false_signs: Interval
    false_growth: Interval
    successes: int


@dataclass(frozen=True)
class Shown:
    """What the study shows."""

    reference: OfSetting
    settings: Sequence[OfSetting]
    rows: pl.DataFrame
    claims: Sequence[Decided]
    variants: Mapping[tuple[Band, Reading, int], Variant]
    texts: Texts
    chosen: OnsetSettings
    simple: SimpleRulesSettings
    repeats: int
    scale: str
    scale_everywhere: str
