"""Results of the monitor: how often it is right, when, by what, and how often it cries wolf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

import polars as pl

from failbench.features.feature_table import categories_of
from failbench.methods.catalogue import MONITOR_METHODS
from failbench.monitor.invariants import Invariant
from failbench.monitored.verdicts import OWN, verdict_table
from failbench.monitored.versions import Rules
from failbench.scenarios import Scenario
from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_committed, over_scenarios, right
from failbench.statistics.scores import scenario_answers
from failbench.studies.monitor.halves import Half
from failbench.studies.monitor.rungs import LADDER, speaking
from failbench.vocabulary import ABSTAIN, CATEGORIES, DIFFICULTIES

METHODS: Final = (
    *(name for name in MONITOR_METHODS if name != "ebm_on_invariants"),
    "simple_rules",
    "improved_rules",
    "random_forest",
)
"""Methods of the study; the last stand beside those that read what the monitor knows.

The EBM on invariants is not one yet: its bags need more runs of each category than half of the
scenarios have."""

ALL_SETTINGS: Final = "all"
ACCURACY: Final = next(metric for metric in OVERALL if metric.name == "accuracy")
FROM_START: Final = "from_start"
"""Runs whose fault is on from step 0."""

WITH_PAST: Final = "with_past"
"""The same runs with an onset in mid-run."""

LOGIC: Final = "logic"
"""What logic bounds; the others need healthy runs too."""

LESS: Final = "less"
"""A setting held against the reference."""

RATE_KEYS: Final = ("version", "setting", "part", "name", "metric")
RUN_COLUMNS: Final = ("run_id", "kind", "scenario", "seed", "onset_step")


@dataclass(frozen=True)
class Judged:
    """Runs that were judged by a version of the rules, with what they are known to be.

    Attributes
    ----------
    rules
        The version.
    breaks, verdicts, ends
        Tables of :mod:`failbench.monitored.verdicts`.
    runs
        Of each run :data:`RUN_COLUMNS`, and of its scenario ``category``, ``difficulty`` and
        ``half``.
    """

    rules: Rules
    breaks: pl.DataFrame
    verdicts: pl.DataFrame
    ends: pl.DataFrame
    runs: pl.DataFrame

    def answers(self, verdicts: pl.DataFrame, kind: str = "failure") -> pl.DataFrame:
        """Verdicts on runs of a kind as answers of one repeat, with the runs' setting and label."""
        return (
            verdicts.join(self.runs.filter(kind=kind), on="run_id")
            .join(self.ends.select("run_id", "setting", "failure_step"), on="run_id")
            .with_columns(repeat=pl.lit(0), prediction=pl.col("answer"))
        )

    def at_failure(self, bounds: str = OWN) -> pl.DataFrame:
        """The answers at the failure, of the runs that were recorded to fail."""
        return self.answers(self.verdicts.filter(steps_ahead=0, bounds=bounds))

    def of_whole_logs(self, bounds: str = OWN, kind: str = "failure") -> pl.DataFrame:
        """The answers at the end of the logs."""
        whole = self.verdicts.filter(pl.col("steps_ahead").is_null(), bounds=bounds)
        return self.answers(whole, kind)

    def without(self, left_out: Iterable[Invariant], kind: str = "failure") -> pl.DataFrame:
        """The answers, had some invariants not been measured: at the failure, if there is one."""
        names = [invariant.id for invariant in left_out]
        kept = self.breaks.filter(~pl.col("invariant").is_in(names))
        ahead = 0 if kind == "failure" else None
        return self.answers(verdict_table(kept, self.ends, self.rules, (ahead,)), kind)


def labelled(
    runs: pl.DataFrame, scenarios: Sequence[Scenario], halves: pl.DataFrame
) -> pl.DataFrame:
    """Monitored runs with category, difficulty and half of their scenarios.

    Parameters
    ----------
    runs
        Rows of ``monitored.tables.MONITORED_SCHEMA``.
    scenarios
        Definitions.
    halves
        ``scenario`` and ``half``.
    """
    levels = [(scenario.id, scenario.difficulty) for scenario in scenarios]
    schema = {"scenario": pl.String, "difficulty": pl.String}
    difficulty = pl.DataFrame(levels, schema=schema, orient="row")
    return (
        runs.select(RUN_COLUMNS)
        .join(categories_of(scenarios), on="scenario", how="left")
        .join(difficulty, on="scenario", how="left")
        .join(halves.select("scenario", "half"), on="scenario", how="left")
    )


def rate_table(
    judged: Judged,
    steps_ahead: Sequence[int],
    lenders: Sequence[str],
    reference: str,
    settings: ScenarioIntervalSettings,
) -> pl.DataFrame:
    """How often a version is right, in each setting and over all of them.

    Parameters
    ----------
    judged
        The runs.
    steps_ahead
        Cuts before the failure that were judged.
    lenders
        Settings whose bounds others were judged by.
    reference
        The setting that all others are compared with.
    settings
        Of the intervals.

    Returns
    -------
    polars.DataFrame
        Estimates by :data:`RATE_KEYS`, with the number of ``runs``. Parts: ``whole``, at the
        failure, and of these ``component``, ``difficulty`` and ``half``; ``log``, of whole logs;
        ``ahead``, of runs that had so many steps between onset and failure; ``borrowed``, with
        bounds of another setting; ``logic``, without any; ``from_start``, of runs whose fault is on
        from step 0 and of the same runs with a healthy past, both of whole logs; ``rung`` and
        ``family``, with what else was measured left out. The metric ``difference`` of the part
        ``less`` is the accuracy less that in the reference setting, over scenarios and seeds that
        both have; ``lost`` of a family is by how much accuracy falls without it.
    """
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


def rates_of(answers: pl.DataFrame, settings: ScenarioIntervalSettings) -> dict[str, Interval]:
    """Accuracy, accuracy of those that name a cause, and the share of those that do.

    An abstention is wrong in the first. Intervals resample scenarios within categories and then
    their seeds; where a category has a single scenario they are Wilson's, with n = scenarios.

    Parameters
    ----------
    answers
        At least one row, with ``scenario``, ``category``, ``seed``, ``repeat`` and ``prediction``.
    settings
        Of the intervals.
    """
    collected = scenario_answers(answers)
    named = pl.col("prediction") != ABSTAIN
    figures = [
        ValueMetric(
            "coverage",
            over_scenarios(answers, named),
            "probability that a cause is named of a run of a new scenario",
            kind="proportion",
        )
    ]
    if answers.filter(named).height:
        figures.append(
            ValueMetric(
                "accuracy_when_committed",
                over_committed(answers, right()),
                "probability that a run of a new scenario is diagnosed right, given that a cause "
                "is named",
                kind="proportion",
            )
        )
    if min(collected.sizes) > 1:
        return scenario_intervals(collected, (ACCURACY,), settings, tuple(figures))
    value = float(ACCURACY.score(collected.confusion(), tuple(collected.shares)))
    rates = {ACCURACY.name: _wilson(value, collected.n, settings, ACCURACY.estimand)}
    for figure in figures:
        sums = figure.values.sums()
        value = float(figure.score(sums))
        rates[figure.name] = _wilson(value, float(sums[1]), settings, figure.estimand)
    return rates


def _wilson(value: float, n: float, settings: ScenarioIntervalSettings, estimand: str) -> Interval:
    low, high = wilson(value, n, settings.confidence)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=round(n),
        method="Wilson",
        resampling_unit="scenario",
        estimand=estimand,
    )


def difference(
    left: pl.DataFrame, right_answers: pl.DataFrame, settings: ScenarioIntervalSettings
) -> Interval:
    """Accuracy of some answers less that of others to the same runs, in the same repeats.

    Where a category has a single scenario there is no interval.
    """
    other = right_answers.select("run_id", "repeat", other=pl.col("prediction"))
    paired = left.join(other, on=["run_id", "repeat"])
    value = right().cast(pl.Float64) - (pl.col("other") == pl.col("category")).cast(pl.Float64)
    figure = ValueMetric(
        "difference",
        over_scenarios(paired, value),
        "difference of the probabilities that a run of a new scenario is diagnosed right",
    )
    collected = scenario_answers(paired)
    if min(collected.sizes) > 1:
        return scenario_intervals(collected, (), settings, (figure,))["difference"]
    point = float(figure.score(figure.values.sums()))
    return Interval(
        value=point,
        ci_low=point,
        ci_high=point,
        n=collected.n,
        method="point",
        resampling_unit="scenario",
        estimand=figure.estimand,
    )


def method_table(
    predictions: pl.DataFrame,
    contrasts: Sequence[tuple[str, str]],
    settings: ScenarioIntervalSettings,
) -> pl.DataFrame:
    """Rates of methods that were fitted to the same runs, and named differences.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA``.
    contrasts
        Pairs of methods, left less right.
    settings
        Of the intervals.

    Returns
    -------
    polars.DataFrame
        Estimates by ``method`` and ``metric``, with the number of ``runs``. The metric
        ``less_<method>`` is by how much accuracy is higher than that of another.
    """
    parts = []
    for (method,), rows in predictions.group_by("method", maintain_order=True):
        rates = rates_of(rows, settings)
        for left, other in contrasts:
            if left == method:
                answers = predictions.filter(pl.col("method") == other)
                rates[f"less_{other}"] = difference(rows, answers, settings)
        table = estimate_rows(rates, method=method)
        runs = rows["run_id"].n_unique()
        parts.append(table.with_columns(runs=pl.lit(runs, pl.Int32)))
    return pl.concat(parts)
