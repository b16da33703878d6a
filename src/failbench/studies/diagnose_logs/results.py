"""Results of the study of logs: how often diagnoses are right, how sure, and how they alarm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, get_args

import numpy as np
import polars as pl

from failbench.diagnose.answer import NAMED, Level, level_of
from failbench.readers.names import SIGNALS
from failbench.reporting.cells import percent
from failbench.statistics.bootstrap import Interval
from failbench.statistics.calibration import (
    calibration_error,
    calibration_floor,
    calibration_gaps,
)
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_committed, over_scenarios, right
from failbench.statistics.scores import scenario_answers
from failbench.studies.diagnose_logs.settings import DiagnosedLogs
from failbench.studies.diagnose_logs.shown import COMPLETE
from failbench.vocabulary import ABSTAIN, CATEGORIES

WHOLE: Final = "whole"
FORMAT: Final = "format"
SIGNAL: Final = "signal"
CATEGORY: Final = "category"
LEVEL: Final = "confidence"
"""Parts of the table of estimates."""

LOGGED, NOT_LOGGED = "logged", "not logged"
SAYS_END: Final = "the error or the death"
"""Beside signals: whether a log says how the run ended."""

RATE_KEYS: Final = ("part", "name", "metric")


def rate_table(
    answers: pl.DataFrame, settings: DiagnosedLogs, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of every model, by format, by what is logged, by category, and by confidence."""
    parts = []
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        for part, name, group in _groups(of_model):
            if group.is_empty():
                continue
            rates = rates_of(group, settings, intervals, part)
            parts.append(_rows(rates, group, str(model), part, name))
    return pl.concat(parts)


def _groups(answers: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    yield WHOLE, WHOLE, answers
    formats = sorted(answers["format"].unique())
    if len(formats) > 1:
        for name in formats:
            yield FORMAT, name, answers.filter(format=name)
        logged = pl.col("present").str.split(",").list
        conditions: dict[str, pl.Expr] = {name: logged.contains(name) for name in SIGNALS}
        conditions[SAYS_END] = pl.col("says_end")
        for name, condition in conditions.items():
            yield SIGNAL, f"{name}: {LOGGED}", answers.filter(condition)
            yield SIGNAL, f"{name}: {NOT_LOGGED}", answers.filter(~condition)
    for category in CATEGORIES:
        yield CATEGORY, category, answers.filter(category=category)
    said = answers["confidence"].map_elements(level_of, pl.String)
    for level in get_args(Level):
        yield LEVEL, level, answers.filter(said == level)


def rates_of(
    answers: pl.DataFrame,
    settings: DiagnosedLogs,
    intervals: ScenarioIntervalSettings,
    part: str,
) -> dict[str, Interval]:
    """Accuracy of category and cause; of whole models what the confidence is worth too."""
    figures = [
        _share(
            "accuracy",
            answers,
            right(),
            "probability that the category of a log of a new scenario is right, "
            "told that the run failed",
        ),
        _share(
            "cause_accuracy",
            answers,
            pl.col("predicted_cause") == pl.col("cause"),
            "probability that the root cause that is named, of the category named, is right",
        ),
        _share("alarmed", answers, pl.col("alarm"), "probability that something is found in it"),
    ]
    if part == WHOLE:
        sure = surest(answers, settings.coverage)
        named = with_abstentions(answers, pl.col("alarm") & (pl.col("confidence") >= NAMED))
        figures += [
            _committed("selective_accuracy", sure, "among the surest logs"),
            _committed("named_accuracy", named, "given that a category is named"),
            _share(
                "named",
                named,
                pl.col("prediction") != ABSTAIN,
                "probability that a category is named of it",
            ),
        ]
        gaps = calibration_gaps(_one_run_per_log(answers), settings.bins)
        figures.append(
            ValueMetric(
                "calibration_error",
                gaps,
                "expected calibration error of the category's confidence",
                calibration_error,
                "distance",
            )
        )
    # what was answered with one confidence in one repeat may have another in the next
    if part != LEVEL and (part != WHOLE or answers["category"].n_unique() == len(CATEGORIES)):
        sizes = answers.group_by("category").agg(pl.col("scenario").n_unique())["scenario"]
        if min(sizes) > 1:
            return scenario_intervals(scenario_answers(answers), (), intervals, tuple(figures))
    return {figure.name: _wilson(figure, answers, intervals.confidence) for figure in figures}


def _share(name: str, answers: pl.DataFrame, value: pl.Expr, estimand: str) -> ValueMetric:
    return ValueMetric(name, over_scenarios(answers, value), estimand, kind="proportion")


def _committed(name: str, answers: pl.DataFrame, condition: str) -> ValueMetric:
    return ValueMetric(
        name,
        over_committed(answers, right()),
        f"probability that the category of a log of a new scenario is right, {condition}",
        kind="proportion",
    )


def _wilson(figure: ValueMetric, answers: pl.DataFrame, confidence: float) -> Interval:
    """Where a category has a single scenario, or repeats differ, nothing can be resampled."""
    value, n = float(figure.score(figure.values.sums())), answers["scenario"].n_unique()
    low, high = wilson(value, n, confidence)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=n,
        method="Wilson",
        resampling_unit="scenario",
        estimand=figure.estimand,
    )


def surest(answers: pl.DataFrame, coverage: float) -> pl.DataFrame:
    """Answers of which the least sure are withheld, in each repeat by itself."""
    threshold = pl.col("confidence").quantile(1 - coverage, "lower").over("repeat")
    return with_abstentions(answers, pl.col("confidence") >= threshold)


def with_abstentions(answers: pl.DataFrame, committed: pl.Expr) -> pl.DataFrame:
    """Answers with an abstention wherever a condition does not hold."""
    return answers.with_columns(
        prediction=pl.when(committed).then("prediction").otherwise(pl.lit(ABSTAIN))
    )


def _one_run_per_log(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers whose ``run_id`` names the log: a run has several, and each has a confidence."""
    return answers.with_columns(run_id=pl.format("{} {}", "run_id", "format"))


def floors(answers: pl.DataFrame, settings: DiagnosedLogs, seed: int) -> dict[str, float]:
    """Mean calibration error of perfectly calibrated answers of the same confidences, by model."""
    found = {}
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        rng = np.random.default_rng(seed)
        draws = calibration_floor(
            _one_run_per_log(of_model), settings.bins, settings.floor_draws, rng
        )
        found[str(model)] = float(draws.mean())
    return found


def alarm_table(answers: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """False alarms: the share of logs of healthy runs in which something is found."""
    rows = []
    for (model, kind), group in answers.group_by("model", "kind", maintain_order=True):
        of_runs = group.group_by("run_id").agg(pl.col("alarm").mean())
        value, n = float(of_runs["alarm"].to_numpy().mean()), of_runs.height
        low, high = wilson(value, n, confidence)
        logs = group.select("run_id", "format").n_unique()
        rows.append((model, kind, value, low, high, n, logs))
    schema = {
        "model": pl.String,
        "kind": pl.String,
        "value": pl.Float64,
        "ci_low": pl.Float64,
        "ci_high": pl.Float64,
        "n": pl.Int64,
        "logs": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").sort("model", "kind")


def risk_coverage(answers: pl.DataFrame, points: int) -> pl.DataFrame:
    """Share of wrong answers among the surest, by the share that is answered.

    Answers of one confidence are given together, so that more may be ``answered`` than is asked.
    """
    rows = []
    for (model,), of_model in answers.group_by("model", maintain_order=True):
        for coverage in np.linspace(1 / points, 1.0, points):
            sure = surest(of_model, float(coverage))
            sums = over_committed(sure, right()).sums()
            answered = (sure["prediction"] != ABSTAIN).mean()
            rows.append((model, float(coverage), answered, 1.0 - float(sums[0] / sums[1])))
    columns = ("coverage", "answered", "risk")
    schema = {"model": pl.String, **dict.fromkeys(columns, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def surest_words(risks: pl.DataFrame) -> str:
    """What the surest answers to complete logs are worth beside the best share of answers."""
    of_complete = risks.filter(model=COMPLETE)
    surest, best = of_complete.row(0, named=True), of_complete.sort("risk").row(0, named=True)
    said = (
        f"of the surest {100 * surest['answered']:.0f} % of answers to complete logs "
        f"{percent(surest['risk'])} % are wrong"
    )
    if best["risk"] == surest["risk"]:
        return said
    return f"{said}, of the surest {100 * best['answered']:.0f} % only {percent(best['risk'])} %"


def scenario_table(answers: pl.DataFrame) -> pl.DataFrame:
    """Of each scenario and model: how often category and cause are right, and what is said."""
    return (
        answers.group_by("model", "category", "scenario")
        .agg(
            right=right().mean(),
            cause_right=(pl.col("predicted_cause") == pl.col("cause")).mean(),
            said=pl.col("prediction").mode().sort().first(),
            confidence=pl.col("confidence").mean(),
            logs=pl.struct("run_id", "format").n_unique(),
        )
        .sort("model", "category", "scenario")
    )


def _rows(
    rates: Mapping[str, Interval], group: pl.DataFrame, model: str, part: str, name: str
) -> pl.DataFrame:
    table = estimate_rows(rates, model=model, part=part, name=name)
    logs = group.select("run_id", "format").n_unique()
    return table.with_columns(logs=pl.lit(logs, pl.Int32))
