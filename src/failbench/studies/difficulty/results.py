"""Difficulty: the measured one against the declared, and what goes with it, with intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from failbench.errors import BadInputError
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, Metric, ValueMetric, metrics_for
from failbench.statistics.row_weights import single_seeds
from failbench.statistics.scenario_values import ScenarioValues, weighted_mean
from failbench.statistics.scores import ScenarioAnswers
from failbench.studies.difficulty.agreement import rank_agreement, weighted_kappa
from failbench.studies.difficulty.measure import Difficulty, DifficultyDesign
from failbench.vocabulary import ANSWERS, CATEGORIES, DIFFICULTIES

Estimates = dict[str, dict[str, Interval]]
"""Intervals by group and name."""

GROUPS = ("agreement", "ease", "share", "hard_taken_for")


class DifficultySettings(DifficultyDesign, ScenarioIntervalSettings):
    """How difficulty is measured, and how its estimates get intervals."""


def difficulty_estimates(
    difficulty: Difficulty, settings: DifficultySettings, reference: str
) -> Estimates:
    """Hold measured difficulty against what was declared with the scenarios."""
    table = difficulty.scenarios.join(
        _reference_and_others(difficulty.shares, reference), on="scenario"
    ).sort("category", "scenario")
    values = _values(table)
    intervals = scenario_intervals(_answers(table), _metrics(), settings, values)
    # a share of some of the scenarios is about those alone
    intervals |= {
        metric.name: intervals[metric.name].model_copy(update={"n": round(metric.values.sums()[1])})
        for metric in values
        if metric.kind == "proportion"
    }
    estimates: Estimates = {group: {} for group in GROUPS}
    for name, interval in intervals.items():
        group, key = name.split(".")
        estimates[group][key] = interval
    estimates["agreement"] |= _rank_agreements(table, settings)
    return estimates


def _rank_agreements(table: pl.DataFrame, settings: DifficultySettings) -> dict[str, Interval]:
    right = pl.col("ease")
    pairs = {
        "tau_declared": (_level("declared"), -right, "declared and measured difficulty"),
        "tau_neighbours": (
            pl.col("neighbours_own"),
            right,
            "the share of nearest runs with the same cause and the share of right answers",
        ),
        "tau_architectures": (
            pl.col("reference"),
            pl.col("others"),
            "the shares of right answers in the reference architecture and in the others",
        ),
    }
    return {
        name: rank_agreement(table, left, right, settings, what)
        for name, (left, right, what) in pairs.items()
    }


def _reference_and_others(shares: pl.DataFrame, reference: str) -> pl.DataFrame:
    by = shares.filter(pl.col("view") == "architecture")
    is_reference = pl.col("name") == reference
    for wanted, what in (
        (is_reference, reference),
        (~is_reference, f"an architecture other than {reference}"),
    ):
        if by.filter(wanted).is_empty():
            raise BadInputError(
                "predictions",
                "architecture",
                f"there is no prediction of {what}.",
                "Record other architectures, and run `dvc repro` for the study that pools them.",
            )
    return by.group_by("scenario").agg(
        pl.col("ease").filter(is_reference).mean().alias("reference"),
        pl.col("ease").filter(~is_reference).mean().alias("others"),
    )


def _answers(table: pl.DataFrame) -> ScenarioAnswers:
    """All methods taken as one, whose answer to a scenario is spread over their answers."""
    shares = {
        category: part.select(ANSWERS).to_numpy()[:, None, :]
        for category, part in _by_category(table)
    }
    return ScenarioAnswers(shares, single_seeds(map(len, shares.values())))


def _metrics() -> tuple[Metric, ...]:
    """Mean shares of right answers: over all scenarios, and over those of each category."""
    accuracy = next(metric for metric in OVERALL if metric.name == "accuracy")
    recalls = (metric for metric in metrics_for(CATEGORIES) if metric.name.startswith("recall_"))
    return (
        replace(accuracy, name="ease.all"),
        *(replace(recall, name=f"ease.{recall.category}") for recall in recalls),
    )


def _values(table: pl.DataFrame) -> tuple[ValueMetric, ...]:
    """What else is summed over scenarios, named by group and key."""
    everything = pl.lit(1.0)
    measured_hard = pl.col("measured") == "hard"
    shares = [
        (
            f"ease.declared_{level}",
            pl.col("ease"),
            pl.col("declared") == level,
            f"probability that a new scenario that is declared {level} is diagnosed right",
        )
        for level in DIFFICULTIES
    ]
    shares += [
        (
            f"share.{level}",
            pl.col("measured") == level,
            everything,
            f"probability that a new scenario is measured {level}",
        )
        for level in DIFFICULTIES
    ]
    shares += [
        (
            f"hard_taken_for.{what}",
            pl.col(f"by_{what}"),
            measured_hard,
            f"probability that a new scenario that is measured hard is taken for its {what}",
        )
        for what in ("surface", "neighbours")
    ]
    pairs = _level("declared") * len(DIFFICULTIES) + _level("measured")
    rated = {
        category: np.eye(len(DIFFICULTIES) ** 2)[part.select(pairs).to_series().to_numpy()]
        for category, part in _by_category(table)
    }
    square = (-1, len(DIFFICULTIES), len(DIFFICULTIES))
    return (
        *(
            ValueMetric(name, weighted_mean(table, part, whole), estimand, kind="proportion")
            for name, part, whole, estimand in shares
        ),
        ValueMetric(
            "agreement.kappa",
            ScenarioValues(
                {category: ratings.reshape(square) for category, ratings in rated.items()},
                single_seeds(map(len, rated.values())),
            ),
            "quadratically weighted kappa of the declared and the measured level",
            weighted_kappa,
        ),
    )


def _by_category(table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The scenarios of each category, in the order in which everything is summed."""
    groups = table.partition_by("category", as_dict=True)
    return [(category, groups[(category,)]) for category in CATEGORIES if (category,) in groups]


def _level(column: str) -> pl.Expr:
    return pl.col(column).replace_strict(list(DIFFICULTIES), [0, 1, 2], return_dtype=pl.Int32)
