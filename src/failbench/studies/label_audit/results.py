"""Label audit: how far raters that were told causes agree with the labels and with one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.row_weights import single_seeds
from failbench.statistics.scenario_values import weighted_mean
from failbench.statistics.scores import ScenarioAnswers
from failbench.studies.label_audit.agreement import fleiss_kappa, kappa_interval
from failbench.studies.label_audit.raters import EVENLY_DIVIDED, RATERS
from failbench.vocabulary import ANSWERS, CATEGORIES

ALL = "all"
"""The scope of all scenarios; the others are those of a label."""

BOTH = "raters"
"""The two raters, held against one another."""


@dataclass(frozen=True)
class Pair:
    """Two sorts of answers to the same scenarios."""

    left: str
    right: str
    words: str


PAIRS = {
    RATERS[0]: Pair("category", RATERS[0], "the labels and rater 1"),
    RATERS[1]: Pair("category", RATERS[1], "the labels and rater 2"),
    BOTH: Pair(*RATERS, "rater 1 and rater 2"),
}
"""What is compared, by subject: a rater with the labels, and the raters with each other."""

Estimates = dict[tuple[str, str, str], Interval]
"""Intervals by subject, scope and metric."""


@dataclass(frozen=True)
class LabelAudit:
    """What the raters' answers say of the labels."""

    ratings: pl.DataFrame
    estimates: Estimates
    fleiss: dict[str, float]
    contested: pl.DataFrame

    def of(self, subject: str, scope: str) -> dict[str, Interval]:
        """The estimates of a subject over a scope, by metric."""
        return {
            metric: interval
            for (of_subject, of_scope, metric), interval in self.estimates.items()
            if (of_subject, of_scope) == (subject, scope)
        }

    @property
    def table(self) -> pl.DataFrame:
        """A row per estimate, keyed by ``subject``, ``scope`` and ``metric``."""
        return pl.concat(
            estimate_rows({metric: interval}, subject=subject, scope=scope)
            for (subject, scope, metric), interval in self.estimates.items()
        )


def audit_labels(ratings: pl.DataFrame, settings: ScenarioIntervalSettings) -> LabelAudit:
    """Hold the labels against what the raters answered."""
    differs = pl.any_horizontal(pl.col(rater) != pl.col("category") for rater in RATERS)
    return LabelAudit(
        ratings,
        {**_shares(ratings, settings), **_kappas(ratings, settings)},
        {subject: fleiss_kappa(ratings, pair.left, pair.right) for subject, pair in PAIRS.items()},
        ratings.filter(differs | _contest(BOTH).ge(EVENLY_DIVIDED)),
    )


def _contest(subject: str) -> pl.Expr:
    """How contested a rater calls a scenario; of both raters, the higher."""
    columns = [f"contest_{rater[-1]}" for rater in RATERS if subject in (rater, BOTH)]
    return pl.max_horizontal(columns)


def _shares(ratings: pl.DataFrame, settings: ScenarioIntervalSettings) -> Estimates:
    everything = pl.lit(1.0)
    shares: dict[tuple[str, str, str], tuple[pl.Expr, pl.Expr, str]] = {}
    for subject, pair in PAIRS.items():
        alike = pl.col(pair.left) == pl.col(pair.right)
        question = f"probability that {pair.words} put a new scenario in one category"
        shares[subject, ALL, "agreement"] = alike, everything, question
        for category in CATEGORIES:
            of_label = pl.col("category") == category
            words = f"{question}, given the label {category}"
            shares[subject, category, "agreement"] = alike, of_label, words
        by = "one of the raters" if subject == BOTH else subject.replace("_", " ")
        for metric, least in (("contested", 1), ("evenly_divided", EVENLY_DIVIDED)):
            words = f"probability that {by} calls the category of a new scenario {metric}"
            shares[subject, ALL, metric] = (
                _contest(subject).ge(least),
                everything,
                words.replace("_", " "),
            )
    for rater in RATERS:
        second = pl.col(f"second_{rater[-1]}").eq_missing(pl.col("category"))
        shares[rater, ALL, "label_among_two"] = (
            (pl.col(rater) == pl.col("category")) | second,
            everything,
            "probability that the label of a new scenario is the first or second choice",
        )
    values = tuple(
        ValueMetric(".".join(key), weighted_mean(ratings, part, whole), estimand, kind="proportion")
        for key, (part, whole, estimand) in shares.items()
    )
    intervals = scenario_intervals(_answers(ratings), (), settings, values)
    return {
        # a share of the scenarios of a label is about those alone
        key: intervals[metric.name].model_copy(update={"n": round(metric.values.sums()[1])})
        for key, metric in zip(shares, values, strict=True)
    }


def _kappas(ratings: pl.DataFrame, settings: ScenarioIntervalSettings) -> Estimates:
    kappas = {}
    for subject, pair in PAIRS.items():
        left, right = pl.col(pair.left), pl.col(pair.right)
        kappas[subject, ALL, "kappa"] = kappa_interval(
            ratings, left, right, CATEGORIES, settings, pair.words
        )
        for category in CATEGORIES:
            kappas[subject, category, "kappa"] = kappa_interval(
                ratings,
                left == category,
                right == category,
                (False, True),
                settings,
                f"{pair.words}, {category} against the rest",
            )
    return kappas


def _answers(ratings: pl.DataFrame) -> ScenarioAnswers:
    """What rater 1 answered, as the answers of a method; its scenarios are those resampled."""
    one_hot = np.eye(len(ANSWERS))
    shares = {}
    for category in CATEGORIES:
        given = ratings.filter(category=category).sort("scenario")[RATERS[0]].to_list()
        if given:
            shares[str(category)] = one_hot[[ANSWERS.index(answer) for answer in given]][:, None]
    return ScenarioAnswers(shares, single_seeds(map(len, shares.values())))
