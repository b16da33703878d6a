import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.features.observables import measurements
from failbench.prediction.splits import make_splits
from failbench.statistics.settings import StatisticsSettings
from failbench.study.estimates import Estimates
from made_up import made_up_predictions
from made_up_scenarios import made_up_scenarios, reference_runs
from made_up_telemetry import telemetry_of
from measure_unknown_anatomy import measure, with_measurements
from shared.unknown_anatomy import UnknownAnatomyDesign
from study_settings import DRAWS, FOREST, REFERENCE, TESTS, WILSON
from unknown_anatomy import contrasts, estimates, gains

COUNT, STEPS = 6, 12
DESIGN = UnknownAnatomyDesign(
    left_out=("simulated_human",),
    neighbours=2,
    forest=FOREST.model_copy(update={"trees": 8, "max_features": (1.0,)}),
    repeats=2,
)
SETTINGS = StatisticsSettings(**DRAWS | WILSON | TESTS | {"wilson_below": 10})


def features() -> pl.DataFrame:
    """Failing runs, of which the unknown ones look like optimization, and two successful ones."""
    failing = reference_runs(made_up_scenarios(COUNT))
    unknown = pl.when(pl.col("category") == "unknown")
    healthy = failing.head(2).with_columns(
        pl.lit(None, pl.String).alias("scenario"),
        pl.lit(None, pl.String).alias("category"),
        run_id=pl.format("healthy-{}", pl.int_range(pl.len())),
        kind=pl.lit("success"),
    )
    return pl.concat(
        [failing.with_columns(max_loss=unknown.then(3.0).otherwise("max_loss")), healthy]
    )


def telemetry() -> Telemetry:
    """Every unknown run was killed; all others raised an error."""
    runs, steps = [], []
    for run_id, scenario, category in features().select("run_id", "scenario", "category").rows():
        killed = category in {"unknown", "data_pipeline"}
        how = {
            "ending": "signal" if category == "unknown" else "exception",
            "outcome": "killed" if killed else "crash",
            "exit_signal": "SIGKILL" if killed else None,
        }
        run = {"run_id": run_id, "scenario": scenario, "failure_step": STEPS - 1}
        runs.append(run | how)
        steps += [
            {"run_id": run_id, "step": step, "step_seconds": 0.25 + 0.01 * (step % 3)}
            for step in range(STEPS)
        ]
    return telemetry_of(runs, steps)


def test_a_measurement_that_tells_unknown_runs_is_found_to_tell_them():
    table = features()
    splits = make_splits(table.select("scenario", "category").drop_nulls(), 3, 2, seed=0)
    forest, *_ = measure(telemetry(), table, splits, REFERENCE, DESIGN)
    answers = made_up_predictions(0.6, 3, COUNT, seed=0).with_columns(method=pl.lit("ebm"))
    rows = pl.concat(estimates(answers, forest, SETTINGS), how="diagonal_relaxed")
    found = Estimates(rows).plus(*gains(forest, contrasts(forest, SETTINGS)))
    recall, without, of_times = (
        found.row(group=f"forest_{name}", metric="recall_unknown")
        for name in ("19+ending", "19", "19+step_times")
    )
    assert recall["value"] > max(without["value"], of_times["value"]) + 0.2
    wilson = proportion_confint(recall["value"] * COUNT, COUNT, 0.05, method="wilson")
    assert (recall["n"], recall["ci_low"], recall["ci_high"]) == pytest.approx((COUNT, *wilson))
    ending = found.where(group="forest_19+ending")
    assert ending.value(metric="better") > ending.value(metric="worse")
    gain = ending.value(metric="accuracy") - found.value(group="forest_19", metric="accuracy")
    assert ending.value(metric="difference") == pytest.approx(gain)
    assert gain > 0


def test_a_run_without_measurements_is_refused():
    with pytest.raises(BadInputError, match="has features and is not recorded"):
        with_measurements(features(), measurements(telemetry()).head(3))
