from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from architectures import OVER_LOGS, ArchitecturesSettings, estimates
from failbench.base.errors import BadInputError
from failbench.base.studies import LEFT_OUT, NESTED_CV
from failbench.base.telemetry import STEP_SCHEMA, Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import band_features
from made_up_studies import made_up_study
from measure_architectures import calibrations, with_noise
from shared.architectures import RECORDED, RULES
from study_settings import IMPROVED_RULES, INTERVALS

SETTINGS = ArchitecturesSettings(
    noise=(0.05,), noisy_logs=2, percentile=0.99, equivalence_margin=0.1, power=0.8, seed=0
)


@pytest.fixture(scope="module")
def features(repository: Path) -> pl.DataFrame:
    """Of the reference, and of one seed of another architecture."""
    features = pl.read_parquet(repository / "data/features/features.parquet")
    kept = (pl.col("architecture") == "transformer") | (pl.col("seed") == 0)
    pair = pl.col("architecture").is_in(("transformer", "gru"))
    return features.filter(kept | (pl.col("kind") == "success"), pair, optimizer="adamw")


def test_thresholds_of_its_own_come_from_an_architectures_successful_runs_alone(features):
    reference = HealthyBand(
        dict.fromkeys(band_features(), 1.0), dict.fromkeys(band_features(), 0.0)
    )
    taken = {
        each.thresholds: each
        for each in calibrations(features, reference, IMPROVED_RULES, SETTINGS)
        if each.architecture == "gru"
    }
    assert taken.pop("reference").band is reference
    norms = features.filter(kind="success", architecture="gru")["max_gradient_norm"].to_numpy()
    percentile = np.quantile(norms, 0.99)
    expected = {
        "own_deviations": norms.mean() + 3 * norms.std(ddof=1),
        "own_percentile": percentile,
        "own_percentile_and_limit": percentile,
    }
    upper = {name: each.band.upper("max_gradient_norm", 3) for name, each in taken.items()}
    assert upper == pytest.approx(expected)
    assert taken["own_percentile"].gradient_norm == 1000
    assert taken["own_percentile_and_limit"].gradient_norm == pytest.approx(percentile)
    gone = features.filter((pl.col("kind") == "failure") | (pl.col("architecture") != "gru"))
    with pytest.raises(BadInputError, match="Record the successful runs of this architecture"):
        list(calibrations(gone, HealthyBand({}, {}), IMPROVED_RULES, SETTINGS))


def test_factors_have_a_median_of_one_and_the_level_as_deviation_of_their_logarithm():
    ones = {name: [1.0] * 20_000 for name in STEP_SCHEMA if name != "run_id"}
    many = pl.DataFrame(ones).with_columns(run_id=pl.lit("a"), memory_bytes=pl.lit(10**9))
    telemetry = Telemetry(pl.DataFrame(), many.select(STEP_SCHEMA.names()).cast(STEP_SCHEMA))
    noised = with_noise(telemetry, 0.2, np.random.default_rng(0)).steps
    logarithms = np.log(noised["loss"].cast(pl.Float64).to_numpy())
    assert np.median(logarithms) == pytest.approx(0, abs=0.005)
    assert logarithms.std() == pytest.approx(0.2, rel=0.02)
    memory = np.log(noised["memory_bytes"].to_numpy() / 1e9)
    assert abs(np.corrcoef(logarithms, memory)[0, 1]) < 0.03  # each column has factors of its own


def test_a_rate_is_the_mean_over_scenarios_of_all_noisy_logs_together():
    """Two noisy logs that differ, over recorded ones; a second repeat abstains from everything."""
    study = made_up_study(LEFT_OUT)
    of_rules = {"study": pl.lit(RULES), "method": pl.lit("improved_rules")}
    silent = [pl.int_range(pl.len()) % (7 - log) == 0 for log in (1, 2)]
    made_up = pl.concat(
        study.with_columns(
            thresholds=pl.lit("reference"),
            noise=pl.lit(noise),
            log=pl.lit(log, pl.Int32),
            prediction=pl.when(mute).then(pl.lit("abstain")).otherwise("prediction"),
            **of_rules,
        )
        for log, (noise, mute) in enumerate(
            [(RECORDED, pl.lit(value=False)), (0.05, silent[0]), (0.05, silent[1])]
        )
    )
    main = made_up_study(NESTED_CV)
    later = main.with_columns(repeat=pl.lit(1, pl.Int32), prediction=pl.lit("abstain"))
    sizes = made_up.select("run_id", "architecture", parameter_count=pl.lit(1e5)).unique()
    table = estimates(made_up, pl.concat([study, main, later]), sizes, INTERVALS, SETTINGS)
    of_noise = table.filter(pl.col("noise") > 0, study=RULES, architecture="gru")
    rates = {row["metric"]: row for row in of_noise.iter_rows(named=True)}

    def rate(*logs: int) -> float:
        rows = made_up.filter(pl.col("log").is_in(logs), architecture="gru")
        right = (pl.col("prediction") == pl.col("category")).mean()
        return rows.group_by("scenario").agg(right=right)["right"].to_numpy().mean()

    accuracy, over = rates["accuracy"], rates[OVER_LOGS]
    assert accuracy["value"] == pytest.approx(rate(1, 2))
    assert (accuracy["n"], accuracy["unit"]) == (8 * len(CATEGORIES), "scenario")
    first, second = rate(1), rate(2)
    assert (over["n"], over["unit"]) == (2, "noisy log")
    assert over["value"] == pytest.approx((first + second) / 2)
    half = stats.t.ppf(0.975, 1) * abs(first - second) / 2
    assert over["ci_high"] - over["value"] == pytest.approx(half)
