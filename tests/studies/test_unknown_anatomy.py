from __future__ import annotations

import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

from failbench.base.errors import BadInputError
from failbench.base.method_settings import RandomForestSettings
from failbench.base.slices import ReferenceStudy
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.features.measurements import measurements
from failbench.prediction.splits import make_splits
from failbench.statistics.settings import StatisticsSettings
from failbench.study import Estimates
from made_up import completed, made_up_predictions
from made_up_scenarios import made_up_scenarios, reference_runs
from measure_unknown_anatomy import measure, with_measurements
from shared.unknown_anatomy import UnknownAnatomyDesign
from unknown_anatomy import answers_to_unknown, contrasts, estimates, gains, of_method

COUNT = 6
STEPS = 12
SCENARIOS = made_up_scenarios(COUNT)
REFERENCE = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0,), seed=0
)
DESIGN = UnknownAnatomyDesign(
    left_out=("simulated_human",),
    neighbours=2,
    forest=RandomForestSettings(trees=8, inner_folds=2, max_features=(1.0,), min_samples_leaf=(1,)),
    repeats=2,
)
SETTINGS = StatisticsSettings(
    practical_equivalence=0.05,
    equivalence_margin=0.10,
    power=0.8,
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    seed=0,
)


def features() -> pl.DataFrame:
    """Failing runs, of which the unknown ones look like optimization, and two successful ones."""
    failing = reference_runs(SCENARIOS)
    masked = failing.with_columns(
        max_loss=pl.when(pl.col("category") == "unknown").then(3.0).otherwise("max_loss")
    )
    healthy = failing.head(2).with_columns(
        run_id=pl.format("healthy-{}", pl.int_range(pl.len())),
        kind=pl.lit("success"),
        scenario=pl.lit(None, pl.String),
        category=pl.lit(None, pl.String),
    )
    return pl.concat([masked, healthy])


def telemetry() -> Telemetry:
    """Every unknown run was killed; all others raised an error."""
    table = features()
    runs = [
        dict.fromkeys(RUN_SCHEMA)
        | {
            "run_id": run_id,
            "scenario": scenario,
            "ending": "signal" if category == "unknown" else "exception",
            "outcome": "killed" if category in {"unknown", "data_pipeline"} else "crash",
            "exit_signal": "SIGKILL" if category in {"unknown", "data_pipeline"} else None,
            "failure_step": STEPS - 1,
        }
        for run_id, scenario, category in table.select("run_id", "scenario", "category").rows()
    ]
    steps = [
        dict.fromkeys(STEP_SCHEMA)
        | {"run_id": run_id, "step": step, "step_seconds": 0.25 + 0.01 * (step % 3)}
        for run_id in table["run_id"]
        for step in range(STEPS)
    ]
    return Telemetry(pl.DataFrame(runs, schema=RUN_SCHEMA), pl.DataFrame(steps, schema=STEP_SCHEMA))


@pytest.fixture(scope="module")
def measured():
    named = [(scenario.id, scenario.category) for scenario in SCENARIOS]
    categories = pl.DataFrame(named, schema=["scenario", "category"], orient="row")
    splits = make_splits(categories, folds=3, repeats=2, seed=0)
    return measure(telemetry(), features(), splits, REFERENCE, DESIGN)


@pytest.fixture(scope="module")
def found(measured) -> Estimates:
    """Estimates of a method and of the forest, and what measurements change."""
    forest = measured[0]
    answers = made_up_predictions(0.6, 3, COUNT, seed=0).with_columns(method=pl.lit("ebm"))
    rows = pl.concat(estimates(answers, forest, SETTINGS), how="diagonal_relaxed")
    return Estimates(rows).plus(*gains(forest, contrasts(forest, SETTINGS)))


def test_a_measurement_that_tells_unknown_runs_is_found_to_tell_them(found):
    recall = {
        name: found.value(group=f"forest_{name}", metric="recall_unknown")
        for name in ("19", "19+step_times", "19+ending")
    }
    assert recall["19+ending"] > max(recall["19"], recall["19+step_times"]) + 0.2
    of_ending = found.where(group="forest_19+ending")
    assert of_ending.value(metric="better") > of_ending.value(metric="worse")
    gain = of_ending.value(metric="accuracy") - found.value(group="forest_19", metric="accuracy")
    assert of_ending.value(metric="difference") == pytest.approx(gain)
    assert gain > 0


def test_rates_of_few_scenarios_have_wilsons_interval(found):
    row = found.row(group="forest_19+ending", metric="recall_unknown")
    expected = proportion_confint(row["value"] * COUNT, COUNT, 0.05, method="wilson")
    assert row["n"] == COUNT
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected)


def test_look_alikes_are_labelled_and_share_the_surface_or_lie_near(measured):
    _, neighbours, partners = measured
    assert set(partners["partner_category"]) == {"data_pipeline"}
    assert partners.height == COUNT * COUNT
    assert neighbours.height == COUNT * DESIGN.neighbours
    assert "unknown" not in set(neighbours["neighbour_category"])


def test_the_answer_given_most_often_is_named_with_its_share():
    answers = answers_to_unknown(
        completed(
            pl.DataFrame(
                {"prediction": ["unknown", "optimization", "optimization", "abstain"]}
            ).with_columns(
                category=pl.lit("unknown"),
                scenario=pl.lit("mystery"),
                method=pl.lit("made_up"),
                feature_set=pl.lit("19"),
                repeat=pl.int_range(pl.len()),
                confidence=pl.lit(0.6),
            )
        )
    )
    (row,) = answers.to_dicts()
    assert (row["answer"], row["share"], row["right"]) == ("optimization", 0.5, 0.25)
    assert 0 < row["entropy"] < 1


def test_labelled_scenarios_are_not_listed_and_without_unknown_ones_there_is_nothing():
    predictions = made_up_predictions(scenarios=3)
    answers = answers_to_unknown(predictions)
    assert answers["scenario"].to_list() == ["unknown_0", "unknown_1", "unknown_2"]
    with pytest.raises(BadInputError, match="there is no unknown scenario"):
        answers_to_unknown(predictions.filter(pl.col("category") != "unknown"))


def test_entropy_of_unknown_and_of_labelled_scenarios_are_kept_apart():
    predictions = made_up_predictions(scenarios=4)
    spread = [pl.lit(0.2).alias(f"p_{category}") for category in predictions["category"].unique()]
    unknown = pl.col("category") == "unknown"
    undecided = pl.concat(
        [predictions.filter(~unknown), predictions.filter(unknown).with_columns(spread)]
    )
    rows = pl.concat(of_method(undecided, SETTINGS, "method_any"), how="diagonal_relaxed")
    of_any = Estimates(rows)
    row = of_any.row(metric="entropy_unknown")
    assert (row["value"], row["n"]) == (pytest.approx(1.0), 4)
    assert of_any.value(metric="entropy_labelled") < 1.0
    assert of_any.value(metric="separation") == pytest.approx(1.0)


def test_a_run_without_measurements_is_refused():
    measured = measurements(telemetry())
    with pytest.raises(BadInputError, match="has features and is not recorded"):
        with_measurements(features(), measured.head(3))
