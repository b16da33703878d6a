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
    """One recorded setting.

    Attributes
    ----------
    setting, found
        Which, and what was found in its failing runs.
    false_signs, false_growth
        Share of its healthy twins with a sign, and with a gradient norm that grows.
    successes
        Successful runs that it is held against.
    """

    setting: RunSetting
    found: Setting
    false_signs: Interval
    false_growth: Interval
    successes: int


@dataclass(frozen=True)
class Shown:
    """What the study shows.

    Attributes
    ----------
    reference
        The setting of the main study.
    settings
        All recorded settings, the reference first.
    rows
        The failing runs of the reference setting, with their kind of onset.
    claims
        With their verdicts, on the reference setting.
    variants
        Other definitions of kinds, on the reference setting.
    texts
        Error texts of the reference setting.
    chosen, simple
        Sections of params.yaml.
    """

    reference: OfSetting
    settings: Sequence[OfSetting]
    rows: pl.DataFrame
    claims: Sequence[Decided]
    variants: Mapping[tuple[Band, Reading, int], Variant]
    texts: Texts
    chosen: OnsetSettings
    simple: SimpleRulesSettings
