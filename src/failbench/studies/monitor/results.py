"""Results of the monitor: how often it is right, when, by what, and how often it cries wolf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, get_args

import polars as pl

from failbench.monitored.verdicts import OWN
from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.monitor.halves import Half
from failbench.studies.monitor.judged import Judged
from failbench.studies.monitor.rates import difference, rates_of
from failbench.studies.monitor.rungs import LADDER, speaking
from failbench.vocabulary import CATEGORIES, DIFFICULTIES

ALL_SETTINGS: Final = "all"
FROM_START: Final = "from_start"
"""Runs whose fault is on from step 0."""

WITH_PAST: Final = "with_past"
"""The same runs with an onset in mid-run."""

LOGIC: Final = "logic"
"""What logic bounds; the others need healthy runs too."""

LESS: Final = "less"
"""A setting held against the reference."""

RATE_KEYS: Final = ("version", "setting", "part", "name", "metric")


def rate_table(
    judged: Judged,
    steps_ahead: Sequence[int],
    lenders: Sequence[str],
    reference: str,
    settings: ScenarioIntervalSettings,
) -> pl.DataFrame:
    """How often a version is right, in each setting and over all of them."""
    answers, logs = judged.at_failure(), judged.of_whole_logs()
    families = sorted({invariant.family for invariant in judged.rules.invariants})
    without = {
        family: judged.without(each for each in judged.rules.invariants if each.family == family)
        for family in families
    }
    logic = judged.without(each for each in judged.rules.invariants if each.bound is None)
    spoken = speaking(judged.rules.invariants)
    rungs = {
        rung.name: judged.without(set(judged.rules.invariants) - set(spoken[rung.name]))
        for rung in LADDER
    }
    parts = []
    for setting in (ALL_SETTINGS, *sorted(answers["setting"].unique())):
        here = pl.lit(value=True) if setting == ALL_SETTINGS else pl.col("setting") == setting
        of_setting = answers.filter(here)
        groups: list[tuple[str, str, pl.DataFrame]] = [("whole", "whole", of_setting)]
        groups += [("component", c, of_setting.filter(category=c)) for c in CATEGORIES]
        groups += [("difficulty", d, of_setting.filter(difficulty=d)) for d in DIFFICULTIES]
        groups += [("half", h, of_setting.filter(half=h)) for h in get_args(Half)]
        groups.append(("log", "whole", logs.filter(here)))
        for ahead in steps_ahead:
            cut = judged.verdicts.filter(bounds=OWN, steps_ahead=ahead)
            had_time = pl.col("failure_step") - pl.col("onset_step") >= ahead
            groups.append(("ahead", str(ahead), judged.answers(cut).filter(here, had_time)))
        groups += [("borrowed", name, judged.at_failure(name).filter(here)) for name in lenders]
        groups.append((LOGIC, LOGIC, logic.filter(here)))
        groups += [("rung", name, table.filter(here)) for name, table in rungs.items()]
        begun = judged.of_whole_logs(kind=FROM_START).filter(here)
        pair = ["scenario", "seed", "setting"]
        groups.append((FROM_START, FROM_START, begun))
        groups.append((FROM_START, WITH_PAST, logs.filter(here).join(begun, on=pair, how="semi")))
        for part, name, group in groups:
            if group.height:
                rates = rates_of(group, settings)
                keys = {"setting": setting, "part": part, "name": name}
                parts.append(_rows(rates, group, judged.rules.version, keys))
        if setting not in {ALL_SETTINGS, reference}:
            there = answers.filter(setting=reference)
            parts += _less_reference(of_setting, there, reference, judged.rules.version, settings)
        for family, table in without.items():
            keys = {"setting": setting, "part": "family", "name": family}
            lost = {"lost": difference(of_setting, table, settings)}
            parts.append(_rows(lost, of_setting, judged.rules.version, keys))
    return pl.concat(parts)


def _less_reference(
    answers: pl.DataFrame,
    there: pl.DataFrame,
    reference: str,
    version: str,
    settings: ScenarioIntervalSettings,
) -> list[pl.DataFrame]:
    """Accuracy in a setting less that in the reference; nothing where they share no run."""
    pair = ["scenario", "seed"]
    here = answers.join(there, on=pair, how="semi").with_columns(run_id=pl.format("{}-{}", *pair))
    if here.is_empty():
        return []
    same = there.with_columns(run_id=pl.format("{}-{}", *pair))
    keys = {"setting": str(answers["setting"][0]), "part": LESS, "name": reference}
    return [_rows({"difference": difference(here, same, settings)}, here, version, keys)]


def _rows(
    rates: Mapping[str, Interval], runs: pl.DataFrame, version: str, keys: Mapping[str, str]
) -> pl.DataFrame:
    table = estimate_rows(rates, version=version, **keys)
    return table.with_columns(runs=pl.lit(runs.height, pl.Int32))
