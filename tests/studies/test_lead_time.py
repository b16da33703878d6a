import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.telemetry import Telemetry, categories_of
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import alarm_limit
from lead_time import calibrated, diagnosed, early_rates, false_alarms, first_alarms
from made_up_telemetry import ONSET, made_up_scenarios, made_up_telemetry
from measure_lead_time import alarm_scores, cut_before_failure, measure, snapshot_predictions
from shared.lead_time import LeadTimeSettings
from study_settings import INTERVALS, REFERENCE, SIMPLE_RULES

FEW = {"steps": (0, 3), "every": 2, "training_snapshots": 2, "false_alarms": 0.1}
SETTINGS = read_section("lead_time", LeadTimeSettings).model_copy(update=FEW)


def failing(telemetry):
    return telemetry.runs.filter(pl.col("kind") == "failure")


def test_the_limit_is_the_conformal_order_statistic_and_holds_what_it_promises():
    assert alarm_limit(np.arange(99.0), 0.05) == 94.0  # rank 95 of 99
    assert alarm_limit(np.arange(49.0), 0.02) == 48.0  # the highest of the fewest that can show it
    with pytest.raises(BadInputError, match="it takes 49"):
        alarm_limit(np.arange(48.0), 0.02)
    rng = np.random.default_rng(0)
    rates = [
        np.mean(rng.standard_cauchy(200) > alarm_limit(rng.standard_cauchy(60), 0.1))
        for _ in range(400)
    ]
    assert 0.08 < np.mean(rates) <= 0.1 + 3 * np.std(rates) / np.sqrt(len(rates))


def test_healthy_runs_of_other_seeds_calibrate_the_alarm_and_others_try_it():
    telemetry = made_up_telemetry(seeds=3, successes=4)
    tested = failing(telemetry).filter(seed=0)
    successes = telemetry.runs.filter(kind="success")
    watched, healthy = alarm_scores(telemetry, made_up_scenarios(), tested, successes, 2)
    assert set(watched["run_id"].str.tail(3)) == {"-s0"}
    assert set(healthy["run_id"].str.tail(8)) == {"-s1-twin", "-s2-twin"}
    assert not healthy["run_id"].is_duplicated().any()
    limits, _, others = calibrated(healthy, SETTINGS)
    rate = false_alarms(others, INTERVALS).row(0, named=True)
    assert rate["ci_low"] <= SETTINGS.false_alarms
    assert rate["value"] <= 2 * SETTINGS.false_alarms
    loud = watched.filter(pl.col("run_id").str.starts_with("unknown"))  # its loss rises the most
    assert all(first_alarms(loud, limit)["alarm"].max() <= ONSET + 2 for limit in limits)
    with pytest.raises(BadInputError, match="it takes 99"):
        calibrated(healthy, SETTINGS.model_copy(update={"false_alarms": 0.01}))


def test_before_the_failure_no_error_text_is_known(small_telemetry, small_scenarios):
    text = pl.when(pl.col("scenario") == "late_crash").then(pl.lit("RuntimeError"))
    runs = small_telemetry.runs.with_columns(error_type=text, error_message=text)
    telling = Telemetry(runs, small_telemetry.steps)
    for ahead, known in ((0, {"RuntimeError", None}), (1, {None}), (3, {None})):
        cut, _ = cut_before_failure(telling, small_scenarios, failing(telling), ahead)
        assert set(cut["error_type"]) == set(cut["error_message"]) == known
    alone = small_telemetry.select(pl.col("kind") == "failure")
    with pytest.raises(BadInputError, match="has no twin"):
        cut_before_failure(alone, small_scenarios, alone.runs, 0)


AHEAD = 10


def test_what_has_not_begun_is_not_diagnosed_but_counts(failures, successes):
    """A run per scenario, of which the first of each category fails before it can be cut."""
    first = pl.col("scenario").str.ends_with("_0")
    runs = failures.filter(seed=0).with_columns(
        onset_step=pl.lit(0), failure_step=pl.when(first).then(AHEAD - 1).otherwise(AHEAD)
    )
    begun = runs.filter(pl.col("failure_step") >= AHEAD)
    healthy = begun.with_columns(pl.lit(0.0).alias("max_loss"), kind=pl.lit("twin"))
    splits = make_splits(runs.select("scenario", "category"), folds=3, repeats=2, seed=0)
    asked = (begun, healthy, successes, splits, "simple_rules", SIMPLE_RULES)
    predictions = snapshot_predictions(AHEAD, *asked, 0)

    def early(table):
        found = early_rates(predictions, table, INTERVALS, "simple_rules", AHEAD)
        return {row["metric"]: row for row in found.to_dicts()}

    rates = early(runs)
    names = ("accuracy", "accuracy_past_onset", "gain_over_twin")
    every, past, gain = (rates[name] for name in names)
    assert (every["n"], past["n"], gain["n"]) == (30, 25, 25)
    assert every["value"] == pytest.approx(past["value"] * 25 / 30)
    assert gain["value"] == pytest.approx(past["value"] - rates["twin_accuracy"]["value"])
    # a further seed that has not begun is a run of its scenario
    late = runs.with_columns(pl.format("{}-late", "run_id").alias("run_id"), failure_step=AHEAD - 1)
    more = early(pl.concat([runs, late]))
    counted = (more["accuracy"]["n"], more["accuracy"]["resampling_unit"])
    assert counted == (30, "scenario, then seed")
    assert more["accuracy"]["value"] == pytest.approx(every["value"] / 2)
    assert more["accuracy_past_onset"] == past


@pytest.mark.parametrize(
    ("right", "alarm", "at"),
    [
        ([True, False, True, True, True], 20, 30),
        ([True, True, True, True, False], 20, None),
        ([True, True, True, True, True], 20, 20),
        ([True, True, True, True, True], 35, 35),
        ([False, False, False, True, True], 25, 35),
        ([True, True, True, True, True], None, None),
        ([], 20, None),
    ],
)
def test_the_diagnosis_must_stay_right_until_the_failure_from_the_alarm_on(right, alarm, at):
    alarmed = pl.DataFrame({"run_id": ["r"], "repeat": [0], "at": [alarm]}).cast({"at": pl.Int64})
    answers = pl.DataFrame(
        {
            "run_id": ["r"] * len(right) + ["another"],
            "step": [*[20, 25, 30, 35, 40][: len(right)], 20],
            "repeat": 0,
            "category": "optimization",
            "prediction": [("unknown", "optimization")[each] for each in right] + ["unknown"],
        }
    )
    assert diagnosed(alarmed, answers)["at"].to_list() == [at]


@pytest.mark.parametrize(
    ("seed", "refusal"),
    [(9, "no failing run of transformer with adamw, seed 9"), (0, "no twins of other seeds")],
)
def test_runs_that_were_not_recorded_are_refused(seed, refusal):
    telemetry, scenarios = made_up_telemetry(seeds=4, successes=4), made_up_scenarios()
    recorded = telemetry.select((pl.col("seed") == 0) | (pl.col("kind") == "success"))
    splits = make_splits(categories_of(scenarios), folds=2, repeats=1, seed=0)
    settings = SETTINGS.model_copy(update={"run_seed": seed})
    with pytest.raises(BadInputError, match=refusal):
        measure(recorded, scenarios, splits, REFERENCE, {}, settings, known=None)
