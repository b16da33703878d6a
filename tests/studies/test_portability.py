import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import categories_of
from failbench.methods.healthy import MOVED, RATIOS, band_of, recalibrated
from failbench.methods.improved_tree import all_band_features
from failbench.prediction.splits import make_splits
from failbench.statistics.significance import ComparisonSettings
from made_up_telemetry import made_up_scenarios, made_up_telemetry, together
from measure_portability import TRAINED, condition_tables, measure
from portability import contrasts
from shared.portability import ADAPTIVE, HOME, RECALIBRATED, PortabilitySettings
from study_settings import DRAWS, FOREST, SIMPLE_RULES, TESTS

COMPARED = ComparisonSettings(**DRAWS, **TESTS)
SETTINGS = PortabilitySettings.model_validate(
    {
        "home": {"architecture": "transformer", "optimizer": "adamw", "scale": "small"},
        "away": {"architecture": "transformer", "optimizer": "sgd", "scale": "small"},
        "own_history_steps": 6,
        "repeats": 1,
        "contrasts": [["fixed", "home"], ["adaptive", "home"]],
        "seed": 0,
        "logistic_regression": {"inner_folds": 2, "inverse_penalty": [1], "max_iterations": 99},
        "random_forest": FOREST,
    }
)
SCENARIOS = made_up_scenarios()
SPLITS = make_splits(categories_of(SCENARIOS), folds=2, repeats=1, seed=0)
TELEMETRY = together(made_up_telemetry("adamw", seeds=2), made_up_telemetry("sgd", scale=9.0))
"""Two seeds at home and one away, where gradient norms are nine times as large."""


def accuracies(predictions):
    right = (pl.col("prediction") == pl.col("category")).mean()
    return dict(predictions.group_by("condition").agg(right=right).iter_rows())


def test_scenarios_and_seeds_of_both_settings_are_taken_and_a_change_of_scale_is_undone():
    tables, *_ = condition_tables(TELEMETRY, SCENARIOS, SETTINGS)
    assert {name: table.height for name, table in tables.items()} == dict.fromkeys(tables, 20)
    assert {tuple(sorted(set(table["seed"]))) for table in tables.values()} == {(0,)}
    for condition, home in ((RECALIBRATED, HOME), (ADAPTIVE, "home_adaptive")):
        for name in ("max_gradient_norm", "mean_gradient_norm", "gradient_norm_variance"):
            expected = tables[home][name].to_numpy()
            assert tables[condition][name].to_numpy() == pytest.approx(expected, rel=1e-4)
    lacking = TELEMETRY.select((pl.col("optimizer") == "adamw") | (pl.col("kind") != "success"))
    with pytest.raises(BadInputError, match="no success run of transformer with sgd"):
        condition_tables(lacking, SCENARIOS, SETTINGS)
    late = SETTINGS.model_copy(update={"own_history_steps": 9})
    with pytest.raises(BadInputError, match="starts at step 8, within the 9 steps"):
        condition_tables(TELEMETRY, SCENARIOS, late)


def test_a_run_is_predicted_in_every_condition_and_conditions_are_compared_on_the_same_scenarios():
    predictions = measure(TELEMETRY, SCENARIOS, SPLITS, {"simple_rules": SIMPLE_RULES}, SETTINGS)
    assert predictions.columns == [*PREDICTION_SCHEMA.names(), "condition"]
    optimizers = dict(predictions.select("condition", "optimizer").unique().iter_rows())
    away = {"fixed": "sgd", "recalibrated": "sgd", "adaptive": "sgd"}
    assert optimizers == {"home": "adamw", "home_adaptive": "adamw", **away}
    assert set(optimizers) == {condition for tested in TRAINED.values() for condition in tested}
    assert not predictions.select("run_id", "repeat", "condition").is_duplicated().any()
    assert set(predictions["run_id"]) <= set(TELEMETRY.runs["run_id"])
    compared = contrasts(predictions, SETTINGS.contrasts, COMPARED)
    pairs = [(each.left, each.right) for each in compared]
    assert pairs == [("fixed", "home"), ("adaptive", "home")]
    accuracy = accuracies(predictions)
    assert compared[0].difference == pytest.approx(accuracy["fixed"] - accuracy["home"])


@pytest.fixture(scope="module")
def home(successes):
    return successes.with_columns(pl.col(name).abs() + 1.0 for name in RATIOS)


def test_recalibrating_undoes_a_change_of_scale_of_every_feature_with_a_threshold(home):
    assert set(all_band_features()) <= set(MOVED)
    away = home.with_columns(pl.col(name) * 7 + 3 for name in MOVED)
    moved = recalibrated(away, band_of(away), band_of(home))
    for name in MOVED:
        assert moved[name].to_numpy() == pytest.approx(home[name].to_numpy())
    assert moved.drop(MOVED).equals(home.drop(MOVED))
