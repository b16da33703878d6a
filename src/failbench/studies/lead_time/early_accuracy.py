"""Early accuracy: what methods say of runs that are cut some steps before they fail.

A snapshot is taken back from the failure, which nobody knows of beforehand. Two things keep that
from telling the label: classifiers do not see the number of steps, and every figure stands beside
the same figure of the healthy twins, cut at the same steps. Twins share all but the fault, so what
is right of them is owed to when the snapshot was taken and to how often each category occurs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import categories_of, feature_table, to_frame
from failbench.methods.catalogue import Context, band_features, method_named
from failbench.methods.healthy_band import healthy_band
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.nested_cv import nested_cv
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import IntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.paired_bootstrap import difference_bounds
from failbench.statistics.paired_scores import paired_scores
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.telemetry import Telemetry
from failbench.vocabulary import ABSTAIN

EARLY_SET = "19 without steps"
EARLY_FEATURES = tuple(name for name in FEATURE_SETS["19"] if name != "steps_before_failure")
"""What classifiers learn from: how long a run has lasted tells when the snapshot was taken."""

ACCURACY = tuple(metric for metric in OVERALL if metric.name == "accuracy")
FAILING, TWIN = "failing", "twin"


@dataclass(frozen=True)
class Snapshots:
    """The runs of a study, cut some steps before their failure, and their twins.

    Attributes
    ----------
    ahead
        Steps between the snapshot and the failure; at 0 the error text is known.
    failing, twins
        Feature tables of the runs that had begun by then, a row a scenario.
    not_begun
        ``scenario``, ``seed`` and ``category`` of the others, which have nothing to show yet.
    past_onset
        Scenarios whose fault had been switched on by then.
    """

    ahead: int
    failing: pl.DataFrame
    twins: pl.DataFrame
    not_begun: pl.DataFrame
    past_onset: tuple[str, ...]


def cut_before_failure(
    telemetry: Telemetry, scenarios: Iterable[Scenario], runs: pl.DataFrame, ahead: int
) -> Snapshots:
    """Cut failing runs ``ahead`` steps before their failure, and their twins at the same steps.

    Parameters
    ----------
    telemetry
        Holds the runs and their twins.
    scenarios
        Where categories come from.
    runs
        Rows of ``RUN_SCHEMA`` of the failing runs, one a scenario.
    ahead
        Steps, 0 or more.

    Raises
    ------
    BadInputError
        If a run has no twin.
    """
    known = tuple(scenarios)
    cut = runs.with_columns(last_step=pl.col("failure_step") - ahead)
    begun = cut.filter(pl.col("last_step") >= 0)
    twins = telemetry.runs.filter(pl.col("kind") == "twin").select("run_id", "twin_of")
    of_begun = begun.select("last_step", twin_of="run_id").join(twins, on="twin_of", how="left")
    alone = of_begun.filter(pl.col("run_id").is_null())
    if alone.height:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "twin_of",
            f"the run {alone['twin_of'][0]!r} has no twin.",
            "Run `failbench record` for the setting.",
        )
    return Snapshots(
        ahead,
        feature_table(telemetry, known, begun.select("run_id", "last_step")),
        feature_table(telemetry, known, of_begun.select("run_id", "last_step")),
        cut.filter(pl.col("last_step") < 0)
        .select("scenario", "seed")
        .join(categories_of(known), on="scenario")
        .sort("scenario", "seed"),
        tuple(begun.filter(pl.col("last_step") >= pl.col("onset_step"))["scenario"].sort()),
    )


def early_rates(
    snapshots: Snapshots,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    seed: int,
    intervals: IntervalSettings,
) -> dict[str, Interval]:
    """How often a method is right at one number of steps before failure, and what that is worth.

    Parameters
    ----------
    snapshots
        As :func:`cut_before_failure` returns them.
    successes
        Feature table of successful runs at their ends, from which fixed thresholds are taken.
    splits
        Folds by scenario, the same for all methods; each is trained on snapshots of the same kind.
    method, settings
        Name in ``methods.registry.METHODS`` and its settings.
    seed
        Of the fits.
    intervals
        How intervals are made.

    Returns
    -------
    dict
        ``accuracy`` over all scenarios: a run that has not begun is not diagnosed;
        ``accuracy_past_onset`` over those whose fault was switched on; ``twin_accuracy``, of the
        healthy twins when trained on twins; ``gain_over_twin``, what failing runs have over that,
        of those that had begun; and ``named_on_healthy``, the share of twins on which the method,
        trained on failing runs, names a cause for a reason.
    """
    tables = {FAILING: snapshots.failing, TWIN: snapshots.twins}
    predictions = {
        name: nested_cv(
            table, successes, splits, method, settings, {EARLY_SET: EARLY_FEATURES}, seed
        )
        for name, table in tables.items()
    }
    columns = ("category", "scenario", "seed", "repeat", "prediction")
    failing = predictions[FAILING].select(columns)
    repeats = splits.select("repeat").unique()
    silent = (
        snapshots.not_begun.join(repeats, how="cross")
        .with_columns(prediction=pl.lit(ABSTAIN))
        .select(columns)
    )
    everyone = pl.concat([failing, silent])
    begun_fault = everyone.filter(pl.col("scenario").is_in(list(snapshots.past_onset)))
    named = _named_on_healthy(snapshots, successes, method, settings, seed)
    return {
        "accuracy": _accuracy(everyone, intervals),
        "accuracy_past_onset": _accuracy(begun_fault, intervals),
        "twin_accuracy": _accuracy(predictions[TWIN], intervals),
        "gain_over_twin": _gain(predictions, intervals),
        **scenario_intervals(scenario_answers(named), (), intervals, (_named_rate(named),)),
    }


def _accuracy(predictions: pl.DataFrame, intervals: IntervalSettings) -> Interval:
    return scenario_intervals(scenario_answers(predictions), ACCURACY, intervals)["accuracy"]


def _gain(predictions: dict[str, pl.DataFrame], intervals: IntervalSettings) -> Interval:
    """Paired over scenarios: a run and its twin differ by the fault alone."""
    scores = paired_scores(
        pl.concat(one.with_columns(method=pl.lit(name)) for name, one in predictions.items())
    )
    gain = float((scores.scenario_scores(FAILING) - scores.scenario_scores(TWIN)).mean())
    (bounds,) = difference_bounds(
        scores, [(FAILING, TWIN)], intervals.resamples, intervals.confidence, intervals.seed
    )
    low, high = (gain, gain) if bounds is None else bounds
    return Interval(
        value=gain,
        ci_low=low,
        ci_high=high,
        n=scores.n,
        method="point" if bounds is None else "BCa bootstrap",
        resampling_unit=scores.unit,
        estimand="how much more probable a right diagnosis is of a failing run than of its healthy "
        "twin cut at the same step",
    )


def _named_on_healthy(
    snapshots: Snapshots, successes: pl.DataFrame, method: str, settings: Record, seed: int
) -> pl.DataFrame:
    """Of each twin, whether the method names a cause with evidence; a fallback has none."""
    runs = LabelledRuns.from_table(snapshots.failing)
    band = healthy_band(to_frame(successes), band_features())
    estimator = method_named(method).build(settings, Context(EARLY_FEATURES, band, seed))
    estimator.fit(runs.frame, runs.labels, groups=runs.groups)
    diagnoses = estimator.diagnose(to_frame(snapshots.twins))
    named = [bool(one.evidence) and one.category != ABSTAIN for one in diagnoses]
    return snapshots.twins.select(
        "category",
        "scenario",
        "seed",
        pl.lit(0).alias("repeat"),
        pl.Series("prediction", [one.category for one in diagnoses], dtype=pl.String),
        pl.Series("named", named, dtype=pl.Boolean),
    )


def _named_rate(named: pl.DataFrame) -> ValueMetric:
    return ValueMetric(
        "named_on_healthy",
        over_scenarios(named, pl.col("named")),
        "probability that the method names a cause of a healthy run cut at the same step",
        kind="proportion",
    )
