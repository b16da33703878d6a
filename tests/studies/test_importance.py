import polars as pl
import pytest

from failbench.base.method_settings import LearnedRulesSettings
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.splits import make_splits
from importance import ImportanceSettings, answers, importance
from learned_rules import signal_shares
from measure_importance import Importances, importances
from measure_learned_rules import learned_fits
from shared.learned_rules import TOP_SCHEMA
from study_settings import DRAWS, FOREST

SETTINGS = ImportanceSettings(**DRAWS, repeats=1, replacements=5, source="training_fold", shapes=2)
METHODS = {"random_forest": FOREST.model_copy(update={"trees": 15, "max_features": (0.5,)})}
CODES = {category: float(code) for code, category in enumerate(CATEGORIES)}


@pytest.fixture(scope="module")
def splits(failures) -> pl.DataFrame:
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="module")
def told_twice(failures) -> pl.DataFrame:
    """Failures that two features of one group tell apart, each of them by itself."""
    code = pl.col("category").replace_strict(CODES)
    return failures.with_columns(max_loss=pl.lit(0.0), peak_memory=code, memory_at_failure=code)


@pytest.fixture(scope="module")
def measured(told_twice, splits) -> Importances:
    return importances(told_twice, splits, METHODS, SETTINGS, seed=0)


def test_features_that_stand_in_for_one_another_are_found_as_a_group(measured):
    correct = answers(measured.predictions, measured.replacements, "training_fold")
    found = importance(correct, measured.built_in, SETTINGS)
    of_set = found.filter(feature_set="19").select("kind", "name", "value").iter_rows()
    drops = {(kind, name): value for kind, name, value in of_set}
    alone = max(drops["feature", name] for name in ("peak_memory", "memory_at_failure"))
    assert drops["group", "memory"] > max(0.5, alone + 0.2)
    assert (found["ci_low"] <= found["value"]).all()
    assert (found["value"] <= found["ci_high"]).all()
    totals = found.group_by("feature_set", "kind").agg(pl.col("share", "own").sum())
    assert totals.select("share", "own").to_numpy() == pytest.approx(1)


# Learned rules.

RULES = LearnedRulesSettings(max_depth=5, inner_folds=2, max_leaf_nodes=(8,), min_samples_leaf=(1,))


def test_a_signal_that_alone_tells_the_label_is_at_every_root_and_few_are_on_top(failures, splits):
    telling = failures.with_columns(max_loss=pl.col("category").replace_strict(CODES))
    rules, tops = learned_fits(telling, splits, RULES, FEATURE_SETS["19"], 0)
    at_root = [("max_loss", "training_dynamics", "loss", 1.0, 1.0, 6)]
    assert signal_shares(tops).rows() == at_root
    assert set(rules["category"]) == set(CATEGORIES)
    assert (rules["share"] == 1).all()
    _, tops = learned_fits(failures, splits, RULES, FEATURE_SETS["19"], 0)
    signals = signal_shares(tops)
    assert (tops.schema, tops.height) == (TOP_SCHEMA, 6)
    assert signals["at_root"].sum() == pytest.approx(1, abs=1e-5)
    assert (signals["on_top"] >= signals["at_root"]).all()
    assert 1 <= signals["on_top"].sum() <= 3
    # a fit that asks nothing counts among the fits
    tops = pl.DataFrame([(0, 0, ["max_loss", "oov_rate"]), (0, 1, [])], TOP_SCHEMA, orient="row")
    shares = signal_shares(tops).select("signal", "at_root", "on_top", "fits")
    assert shares.rows() == [("max_loss", 0.5, 0.5, 2), ("oov_rate", 0.0, 0.5, 2)]
