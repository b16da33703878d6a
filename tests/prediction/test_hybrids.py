from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import (
    HybridSettings,
    ImprovedRulesSettings,
    RandomForestSettings,
    SimulatedHumanSettings,
    SkillLevel,
)
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Record
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.hybrid import Hybrid, HybridSections, HybridTwoWay
from failbench.prediction.hybrids import compose
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import make_splits

SECTIONS = HybridSections(
    hybrid=HybridSettings(rules_from=0.85, classifier_from=0.6),
    improved_rules=ImprovedRulesSettings(
        tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
    ),
    random_forest=RandomForestSettings(
        trees=5, inner_folds=2, max_features=("sqrt",), min_samples_leaf=(1,)
    ),
    simulated_human=SimulatedHumanSettings(levels={"expert": SkillLevel(share=1, accuracy=0.9)}),
)


@pytest.fixture(scope="module")
def table(failures) -> pl.DataFrame:
    """Runs of which the rules recognise some by an error, and more or less surely."""
    memory = pl.col("category") == "memory_hardware"
    out_of_memory = memory | ((pl.col("category") == "data_pipeline") & (pl.col("seed") == 0))
    return failures.with_columns(
        error_type=pl.when(out_of_memory).then(pl.lit("torch.OutOfMemoryError")),
        error_message=pl.when(out_of_memory).then(pl.lit("CUDA out of memory.")),
        peak_memory=pl.when(out_of_memory).then(1.0).otherwise(0.5),
        memory_at_failure=pl.when(out_of_memory).then(1.0).otherwise(0.5),
        memory_warning=out_of_memory.cast(pl.Float64),
    )


@pytest.fixture(scope="module")
def predict(table, successes):
    splits = make_splits(table.select("scenario", "category").unique(), 3, 1, seed=0)

    def run(name: str, settings: Record) -> pl.DataFrame:
        return nested_cv(table, successes, splits, name, settings, FEATURE_SETS, seed=5)

    return run


@pytest.fixture(scope="module")
def rules(predict) -> pl.DataFrame:
    return predict("improved_rules", SECTIONS.improved_rules)


@pytest.fixture(scope="module")
def members(predict) -> dict[str, pl.DataFrame]:
    return {
        "classifier": predict("random_forest", SECTIONS.random_forest),
        "human": predict("simulated_human", SECTIONS.simulated_human),
    }


def test_a_composed_hybrid_predicts_what_the_fitted_hybrid_does(predict, rules, members):
    composed = compose("hybrid", Hybrid(None, None, None), rules, members)
    assert composed["route"].n_unique() > 1
    assert composed.equals(predict("hybrid", SECTIONS))


def test_a_composed_two_way_hybrid_hands_on_every_abstention(rules, members):
    composed = compose("hybrid_two_way", HybridTwoWay(None, None), rules, members)
    assert composed.schema == PREDICTION_SCHEMA
    assert composed.height == rules.height
    assert "abstain" not in set(composed["prediction"])
    abstained = rules["prediction"] == "abstain"
    assert (composed["route"] == "classifier").to_list() == abstained.to_list()


def test_a_member_that_lacks_a_run_is_refused(rules, members):
    short = {**members, "human": members["human"].head(3)}
    with pytest.raises(BadInputError, match="that hybrid hands on are missing"):
        compose("hybrid", Hybrid(None, None, None), rules, short)
