"""The anatomy of unknown scenarios: what is said of them, their look-alikes, what would settle it.

The paper's section 6.12 names what was not measured: waits for input and output, swap activity and
other knowledge of the system. That is not recorded here either. What is recorded beyond the
features, the seconds of each step and the way a run ended, is added to them, to see what such a
claim is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.measurements import measurements
from failbench.methods.classifiers import RandomForestSettings
from failbench.partners import partners
from failbench.prediction.neighbours import nearest_scenarios
from failbench.prediction.slices import ReferenceStudy
from failbench.scenarios import Scenario
from failbench.statistics.bootstrap import Interval
from failbench.statistics.comparison import Comparison
from failbench.statistics.intervals import IntervalSettings
from failbench.statistics.scenario_values import right
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.unknown_anatomy.added_measurements import (
    ADDED,
    BASE,
    SignTest,
    added_value,
    measured_rates,
    refit,
    sign_test,
    with_measurements,
)
from failbench.studies.unknown_anatomy.answers import answers_to_unknown, unknown_intervals
from failbench.studies.unknown_anatomy.posteriors import UNKNOWN, entropy
from failbench.telemetry import Telemetry
from failbench.vocabulary import CATEGORIES


class UnknownAnatomySettings(IntervalSettings):
    """What is looked at; the section ``unknown_anatomy`` of params.yaml."""

    left_out: tuple[str, ...]
    neighbours: int = Field(ge=1)
    forest: RandomForestSettings
    repeats: int = Field(ge=1)
    practical_equivalence: float = Field(gt=0, lt=1)
    equivalence_margin: float = Field(gt=0, lt=1)
    power: float = Field(gt=0, lt=1)

    @property
    def comparison(self) -> SignificanceSettings:
        """How feature sets are compared: each larger one with the paper's."""
        return SignificanceSettings(
            feature_set="measured",
            contrasts=tuple((name, BASE) for name in ADDED),
            resamples=self.resamples,
            confidence=self.confidence,
            practical_equivalence=self.practical_equivalence,
            equivalence_margin=self.equivalence_margin,
            power=self.power,
            seed=self.seed,
        )


@dataclass(frozen=True)
class UnknownAnatomy:
    """The unknown scenarios, one by one.

    Attributes
    ----------
    scenarios
        ``scenario`` and ``ambiguity``, in the order of both.
    answers
        As :func:`failbench.studies.unknown_anatomy.answers.answers_to_unknown` returns them.
    methods
        Figures of each method on unknown scenarios.
    neighbours
        The nearest labelled runs, as ``neighbours.NEIGHBOUR_SCHEMA`` says.
    partners
        Labelled scenarios with the same surface: ``scenario``, ``partner``, ``partner_category``.
    posteriors
        Of the forest: ``feature_set``, ``scenario``, the mean probability of each category,
        ``right`` and ``entropy``.
    rates
        Accuracy and recall of the forest by feature set.
    contrasts
        Each larger feature set less the paper's, over all scenarios.
    signs
        The same over the unknown scenarios alone, by feature set.
    """

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
    telemetry: Telemetry,
    features: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
    reference: ReferenceStudy,
    settings: UnknownAnatomySettings,
    workers: int = 1,
) -> UnknownAnatomy:
    """Take the unknown scenarios apart.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of the main study.
    telemetry, features, splits
        What was recorded, its features, and the folds of the main study.
    scenarios
        Definitions, which say why each of them is unknown.
    reference
        Which runs the main study takes.
    settings
        Methods that are left out, neighbours, the forest, and how intervals are made.
    workers
        Processes; results do not depend on it.

    Raises
    ------
    BadInputError
        If no method is left, or no scenario is unknown.
    """
    said = predictions.filter(
        pl.col("feature_set") == BASE, ~pl.col("method").is_in(settings.left_out)
    )
    if said.is_empty():
        raise BadInputError(
            "params.yaml",
            "unknown_anatomy.left_out",
            "leaves no method.",
            "Leave out simulations of people and hybrids alone.",
        )
    measured = measurements(telemetry)
    failures = with_measurements(reference.failures(features), measured)
    successes = with_measurements(reference.successes(features), measured)
    forest = refit(
        failures,
        successes,
        splits,
        settings.forest,
        settings.repeats,
        reference.seed,
        workers,
    )
    unknown = failures.filter(pl.col("category") == UNKNOWN)["scenario"]
    nearest = nearest_scenarios(failures, FEATURE_SETS[BASE], settings.neighbours, labelled=True)
    surfaces = telemetry.runs.join(failures.select("run_id", "category"), on="run_id")
    return UnknownAnatomy(
        _why(scenarios),
        answers_to_unknown(said),
        {
            str(method): unknown_intervals(part, settings)
            for (method,), part in said.sort("method").group_by("method", maintain_order=True)
        },
        nearest.filter(pl.col("scenario").is_in(unknown.implode())),
        partners(surfaces),
        _posteriors(forest),
        measured_rates(forest, settings),
        added_value(forest, settings.comparison),
        {name: sign_test(forest, name, 1 - settings.confidence) for name in ADDED},
    )


def _why(scenarios: tuple[Scenario, ...]) -> pl.DataFrame:
    rows = [(one.id, one.ambiguity) for one in scenarios if one.ambiguity is not None]
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


def anatomy_metrics(found: UnknownAnatomy) -> dict[str, dict[str, Interval]]:
    """Figures of the metrics file by group: one a method, one a feature set, and what one adds."""
    added = {
        f"added_{one.left}": {
            "accuracy": Interval(
                value=one.difference,
                # where all resamples agree, nothing is known of the spread
                ci_low=one.difference if one.ci_low is None else one.ci_low,
                ci_high=one.difference if one.ci_high is None else one.ci_high,
                n=one.n,
                method="point" if one.ci_low is None else "BCa bootstrap",
                resampling_unit="scenario",
                estimand=f"accuracy on {one.left} less that on {one.right}",
            )
        }
        for one in found.contrasts
    }
    methods = {f"method_{name}": figures for name, figures in found.methods.items()}
    forests = {f"forest_{name}": figures for name, figures in found.rates.items()}
    return {**methods, **forests, **added}
