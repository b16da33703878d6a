"""Results on unknown scenarios: answers to them, their look-alikes, and what would settle them.

The paper's section 6.12 names what was not measured: waits for input and output, swap activity and
other knowledge of the system. That is not recorded here either. What is recorded beyond the
features, the seconds of each step and the way a run ended, is added to them, to see what such a
claim is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.errors import BadInputError
from failbench.scenarios import Scenario
from failbench.statistics.bootstrap import Interval
from failbench.statistics.comparison import Comparison
from failbench.statistics.estimates import estimate_rows, nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.scenario_values import right
from failbench.statistics.significance import ComparisonSettings
from failbench.studies.unknown_anatomy.added_value import (
    SignTest,
    added_value,
    measured_rates,
    sign_test,
)
from failbench.studies.unknown_anatomy.answers import answers_to_unknown, unknown_intervals
from failbench.studies.unknown_anatomy.feature_sets import ADDED, BASE
from failbench.studies.unknown_anatomy.measurements import Measurements
from failbench.studies.unknown_anatomy.posteriors import entropy
from failbench.studies.unknown_anatomy.settings import UNKNOWN, UnknownAnatomyDesign
from failbench.vocabulary import CATEGORIES


class UnknownAnatomySettings(UnknownAnatomyDesign, ScenarioIntervalSettings, ComparisonSettings):
    """What is looked at, and how it is scored and compared."""


@dataclass(frozen=True)
class UnknownAnatomy:
    """What is known of each of the unknown scenarios."""

    scenarios: pl.DataFrame
    answers: pl.DataFrame
    methods: dict[str, dict[str, Interval]]
    neighbours: pl.DataFrame
    partners: pl.DataFrame
    posteriors: pl.DataFrame
    rates: dict[str, dict[str, Interval]]
    contrasts: tuple[Comparison, ...]
    signs: dict[str, SignTest]


def unknown_anatomy(
    predictions: pl.DataFrame,
    measured: Measurements,
    scenarios: tuple[Scenario, ...],
    settings: UnknownAnatomySettings,
) -> UnknownAnatomy:
    """Take the unknown scenarios apart."""
    answers = predictions.filter(
        pl.col("feature_set") == BASE, ~pl.col("method").is_in(settings.left_out)
    )
    if answers.is_empty():
        raise BadInputError(
            "params.yaml",
            "unknown_anatomy.left_out",
            "leaves no method.",
            "Leave out simulations of people and hybrids alone.",
        )
    forest = measured.predictions
    return UnknownAnatomy(
        _why(scenarios),
        answers_to_unknown(answers),
        {
            str(method): unknown_intervals(part, settings)
            for (method,), part in answers.sort("method").group_by("method", maintain_order=True)
        },
        measured.neighbours,
        measured.partners,
        _posteriors(forest),
        measured_rates(forest, settings),
        added_value(forest, settings),
        {name: sign_test(forest, name, 1 - settings.confidence) for name in ADDED},
    )


def _why(scenarios: tuple[Scenario, ...]) -> pl.DataFrame:
    rows = [
        (scenario.id, scenario.ambiguity)
        for scenario in scenarios
        if scenario.ambiguity is not None
    ]
    return pl.DataFrame(
        rows, schema={"scenario": pl.String, "ambiguity": pl.String}, orient="row"
    ).sort("ambiguity", "scenario")


def _posteriors(forest: pl.DataFrame) -> pl.DataFrame:
    return (
        forest.filter(pl.col("category") == UNKNOWN)
        .group_by("feature_set", "scenario")
        .agg(
            *(pl.col(f"p_{category}").mean() for category in CATEGORIES),
            right().mean().alias("right"),
            entropy().mean().alias("entropy"),
        )
        .sort("feature_set", "scenario")
    )


def anatomy_points(results: UnknownAnatomy) -> pl.DataFrame:
    """What a forest makes of the unknown scenarios, for the figure."""
    return (
        results.scenarios.join(results.posteriors, on="scenario", maintain_order="left")
        .select(
            "ambiguity",
            "scenario",
            "feature_set",
            pl.exclude("ambiguity", "scenario", "feature_set"),
        )
        .sort("ambiguity", "scenario", "feature_set")
    )


def anatomy_estimates(results: UnknownAnatomy) -> pl.DataFrame:
    """Estimates by ``group``: per method, per feature set of the forest, and what each set adds."""
    added = {
        f"added_{contrast.left}": {"accuracy": _difference(contrast)}
        for contrast in results.contrasts
    }
    methods = {f"method_{name}": figures for name, figures in results.methods.items()}
    forests = {f"forest_{name}": figures for name, figures in results.rates.items()}
    groups = {**methods, **forests, **added}
    return pl.concat(estimate_rows(intervals, group=group) for group, intervals in groups.items())


def anatomy_metrics(results: UnknownAnatomy) -> dict[str, object]:
    """The estimates as nested scalars, by group and metric."""
    return nest(anatomy_estimates(results), "group", "metric")


def _difference(contrast: Comparison) -> Interval:
    """The difference of a contrast; a point where all resamples agree, which hides the spread."""
    bounded = contrast.ci_low is not None and contrast.ci_high is not None
    return Interval(
        value=contrast.difference,
        ci_low=contrast.difference if contrast.ci_low is None else contrast.ci_low,
        ci_high=contrast.difference if contrast.ci_high is None else contrast.ci_high,
        n=contrast.n,
        method="BCa bootstrap" if bounded else "point",
        resampling_unit="scenario",
        estimand=f"accuracy on {contrast.left} less that on {contrast.right}",
    )
