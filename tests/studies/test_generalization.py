import numpy as np
import polars as pl
import pytest
from scipy import stats

import architectures
from crosswalk import CONDITIONS, accuracies, points_schema
from failbench.base.errors import BadInputError
from failbench.base.stage import read_points
from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED, SAME_RUNS
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import band_features
from failbench.study.captions import Captions
from generalization import ASKED, GAIN, estimates
from made_up import completed, made_up_predictions
from made_up_scenarios import made_up_scenarios, reference_runs
from measure_architectures import calibrations
from measure_difficulty import measure
from shared.architectures import RECORDED, RULES, ArchitecturesDesign
from shared.difficulty import DifficultyDesign
from study_settings import IMPROVED_RULES, INTERVALS, METHOD_INTERVALS

ARCHITECTURES = ("transformer", "lstm", "gru")
RATES = {NESTED_CV: 0.6, POOLED: 0.7, LEFT_OUT: 0.5, KNOWN_SCENARIOS: 0.8}
SCENARIOS = 8


def made_up_study(study, method="random_forest", runs=2):
    """Predictions of one method in one study; the main study has one architecture."""
    parts = []
    for number, name in enumerate(ARCHITECTURES[:1] if study == NESTED_CV else ARCHITECTURES):
        keys = {"study": study, "method": method, "fold": number, "architecture": name}
        part = made_up_predictions(RATES[study], 1, SCENARIOS, runs, seed=number)
        run_id = pl.format("{}-{}", "run_id", pl.lit(name))
        parts.append(part.with_columns(run_id=run_id, **{k: pl.lit(v) for k, v in keys.items()}))
    return pl.concat(parts)


def made_up_studies(methods=("random_forest",)):
    """Predictions of methods in all four studies."""
    return pl.concat(made_up_study(study, method) for study in RATES for method in methods)


N = SCENARIOS * len(CATEGORIES)


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies()


def estimated(predictions: pl.DataFrame) -> pl.DataFrame:
    return estimates(predictions, METHOD_INTERVALS)


@pytest.fixture(scope="module")
def table(predictions: pl.DataFrame) -> pl.DataFrame:
    return estimated(predictions)


def row(table: pl.DataFrame, study: str, metric: str = "accuracy") -> dict[str, object]:
    (found,) = table.filter(study=study, metric=metric).to_dicts()
    return found


def scenario_means(predictions: pl.DataFrame, *study: str) -> np.ndarray:
    of_study = predictions.filter(pl.col("study").is_in(study)) if study else predictions
    right = (pl.col("prediction") == pl.col("category")).mean()
    return of_study.group_by("scenario").agg(right=right).sort("scenario")["right"].to_numpy()


def test_a_scenario_counts_once_whatever_runs_it_lacks(table, predictions):
    accuracy = row(table, POOLED)
    assert (accuracy["n"], accuracy["runs"]) == (N, 2 * N * len(ARCHITECTURES))
    lacking = (pl.col("scenario") == "unknown_0") & (pl.col("architecture") == "gru")
    fewer = predictions.filter(~lacking)
    rates = estimated(fewer)
    left_out = row(rates, LEFT_OUT)
    assert (left_out["n"], left_out["runs"]) == (N, 2 * N * len(ARCHITECTURES) - 2)
    for study in (POOLED, LEFT_OUT, KNOWN_SCENARIOS):
        assert row(rates, study)["value"] == pytest.approx(scenario_means(fewer, study).mean())


def test_gain_is_the_paired_difference_over_scenarios_of_methods_asked_of_both(table, predictions):
    gain = row(table, KNOWN_SCENARIOS, GAIN)
    known, new = (scenario_means(predictions, study) for study in (KNOWN_SCENARIOS, LEFT_OUT))
    assert (gain["value"], gain["n"]) == (pytest.approx((known - new).mean()), N)
    assert gain["ci_low"] < gain["value"] < gain["ci_high"]
    is_first = pl.col("run_id").str.contains("_0-")
    fewer_runs = estimated(predictions.filter((pl.col("study") != KNOWN_SCENARIOS) | is_first))
    familiar, held_out = (row(fewer_runs, each)["value"] for each in (KNOWN_SCENARIOS, SAME_RUNS))
    gained = row(fewer_runs, KNOWN_SCENARIOS, GAIN)["value"]
    assert gained == pytest.approx(familiar - held_out)
    assert row(fewer_runs, SAME_RUNS)["runs"] < row(fewer_runs, LEFT_OUT)["runs"]
    fewer = predictions.filter(pl.col("study") != KNOWN_SCENARIOS)
    both = estimated(pl.concat([predictions, fewer.with_columns(method=pl.lit("invariants"))]))
    without = {KNOWN_SCENARIOS, SAME_RUNS}
    assert set(both.filter(method="invariants")["study"]) == set(ASKED) - without
    assert both.filter(pl.col("method") != "invariants").equals(table)


# Architectures.

SETTINGS = architectures.ArchitecturesSettings(
    noise=(0.05,), noisy_logs=2, percentile=0.99, equivalence_margin=0.1, power=0.8, seed=0
)


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
    table = architectures.estimates(
        made_up, pl.concat([study, main, later]), sizes, INTERVALS, SETTINGS
    )
    of_noise = table.filter(pl.col("noise") > 0, study=RULES, architecture="gru")
    rates = {row["metric"]: row for row in of_noise.iter_rows(named=True)}

    def rate(*logs: int) -> float:
        rows = made_up.filter(pl.col("log").is_in(logs), architecture="gru")
        right = (pl.col("prediction") == pl.col("category")).mean()
        return rows.group_by("scenario").agg(right=right)["right"].to_numpy().mean()

    accuracy, over = rates["accuracy"], rates[architectures.OVER_LOGS]
    assert accuracy["value"] == pytest.approx(rate(1, 2))
    assert (accuracy["n"], accuracy["unit"]) == (8 * len(CATEGORIES), "scenario")
    first, second = rate(1), rate(2)
    assert (over["n"], over["unit"]) == (2, "noisy log")
    assert over["value"] == pytest.approx((first + second) / 2)
    half = stats.t.ppf(0.975, 1) * abs(first - second) / 2
    assert over["ci_high"] - over["value"] == pytest.approx(half)


CALIBRATION = ArchitecturesDesign(noise=(0.05,), noisy_logs=2, percentile=0.99, seed=0)


def test_thresholds_of_its_own_come_from_an_architectures_successful_runs_alone(repository):
    features = pl.read_parquet(repository / "data/features/features.parquet")
    pair = pl.col("architecture").is_in(("transformer", "gru"))
    features = features.filter(pair, optimizer="adamw")
    reference = HealthyBand(
        dict.fromkeys(band_features(), 1.0), dict.fromkeys(band_features(), 0.0)
    )
    taken = {
        each.thresholds: each
        for each in calibrations(features, reference, IMPROVED_RULES, CALIBRATION)
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
        list(calibrations(gone, HealthyBand({}, {}), IMPROVED_RULES, CALIBRATION))


# Difficulty.

DEFINED = made_up_scenarios(SCENARIOS)
RUNS = reference_runs(DEFINED)
DESIGN = DifficultyDesign(
    feature_set="19", left_out=(), hard_below=0.45, easy_from=0.7, hardest=3, neighbours=5
)


def of_one_scenario(*answers: tuple[str, str, str, int, int, str]) -> dict[str, object]:
    """What is measured of a scenario by study, method, architecture, seed, repeat and answer.

    All others are told by every method, in every study.
    """
    columns = ["study", "method", "architecture", "seed", "repeat", "prediction"]
    asked = pl.DataFrame(list(answers), schema=columns, orient="row")
    names = [(each.id, each.category) for each in DEFINED if each.id != "optimization_0"]
    others = pl.DataFrame(names, schema=["scenario", "category"], orient="row")
    told = asked.drop("prediction").unique().join(others, how="cross")
    one = asked.with_columns(scenario=pl.lit("optimization_0"), category=pl.lit("optimization"))
    both = pl.concat([one, told.with_columns(prediction="category")], how="diagonal")
    same = {"feature_set": pl.lit("19"), "confidence": pl.lit(0.5), "fold": pl.lit(0)}
    table = completed(both.with_columns(**same, run_id="scenario"))
    scenarios, _ = measure(table, DEFINED, RUNS, DESIGN)
    (row,) = scenarios.filter(scenario="optimization_0").to_dicts()
    return row


def test_methods_and_architectures_count_alike_however_many_predictions_they_have():
    right, wrong = "optimization", "unknown"
    row = of_one_scenario(
        # the reference run: right in half of the repeats, and in the other study: 0.75
        (NESTED_CV, "ebm", "transformer", 0, 0, right),
        (NESTED_CV, "ebm", "transformer", 0, 1, wrong),
        (POOLED, "ebm", "transformer", 0, 0, right),
        # with another seed, never: the architecture has 0.375
        (POOLED, "ebm", "transformer", 1, 0, wrong),
        # the other architecture, always: the method has 0.6875
        (POOLED, "ebm", "lstm", 0, 0, right),
        # the other method, never
        (POOLED, "random_forest", "transformer", 0, 0, wrong),
        (POOLED, "random_forest", "lstm", 0, 0, "abstain"),
    )
    assert row["ease"] == pytest.approx((0.375 + 1 + 0 + 0) / 4)
    assert (row["runs"], row["measured"]) == (3, "hard")
    assert (row["instead"], row["instead_share"]) == ("unknown", pytest.approx(0.40625))
    # an abstention is never right, and may be what is given most often
    repeats = [(study, repeat) for study in (NESTED_CV, POOLED) for repeat in range(2)]
    row = of_one_scenario(*((of, "ebm", "transformer", 0, each, "abstain") for of, each in repeats))
    assert (row["ease"], row["instead"], row["by_surface"]) == (0.0, "abstain", False)


def test_what_was_not_predicted_or_not_recorded_is_refused():
    of_two_methods = made_up_studies(("random_forest", "ebm"))
    settings = DESIGN.model_copy(update={"left_out": ("oracle",)})
    with pytest.raises(BadInputError, match="'oracle' was not predicted"):
        measure(of_two_methods, DEFINED, RUNS, settings)
    with pytest.raises(BadInputError, match="'unknown_7' was predicted and is not there"):
        measure(of_two_methods, DEFINED[:-1], RUNS, DESIGN)
    with pytest.raises(BadInputError, match=r"features.*'unknown_7' was predicted"):
        measure(of_two_methods, DEFINED, RUNS.filter(pl.col("scenario") != "unknown_7"), DESIGN)


# Conditions side by side.


def test_accuracies_are_those_of_predictions_of_which_none_counts_twice(repository):
    points = {
        each.points: read_points(
            repository / f"data/plots/{each.points}.csv", points_schema(each.points)
        )
        for each in CONDITIONS.values()
    }
    folder = repository / "data/predictions"
    predictions = {
        (each.predictions, name): pl.read_parquet(folder / each.predictions / f"{name}.parquet")
        for each in CONDITIONS.values()
        for name in each.methods
    }
    rows = accuracies(points, predictions, Captions.read("crosswalk"))
    for method in ("improved_rules", "random_forest"):
        for name, condition in CONDITIONS.items():
            if method in condition.methods:
                answers = condition.answers(predictions[condition.predictions, method])
                assert not answers.select("repeat", "run_id", "fold").is_duplicated().any()
                right = (pl.col("prediction") == pl.col("category")).mean()
                value = answers.group_by("scenario").agg(right=right)["right"].mean()
                printed = float(next(rows)[8].split(" ")[0])
                assert printed == pytest.approx(100 * value, abs=0.051), (method, name)
    assert next(rows, None) is None
