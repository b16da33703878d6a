import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import HybridSettings, SimulatedHumanSettings, SkillLevel
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.records import Record
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.hybrid import Hybrid, HybridSections, HybridTwoWay
from failbench.prediction.hybrids import compose
from failbench.prediction.nested_cv import nested_cv
from study_settings import FOREST, IMPROVED_RULES

SECTIONS = HybridSections(
    hybrid=HybridSettings(rules_from=0.85, classifier_from=0.6),
    improved_rules=IMPROVED_RULES,
    random_forest=FOREST,
    simulated_human=SimulatedHumanSettings(levels={"expert": SkillLevel(share=1, accuracy=0.9)}),
)


@pytest.fixture(scope="module")
def predict(out_of_memory, successes, one_repeat):
    def run(name: str, settings: Record) -> pl.DataFrame:
        return nested_cv(out_of_memory, successes, one_repeat, name, settings, FEATURE_SETS, seed=5)

    return run


def test_a_composed_hybrid_predicts_what_the_fitted_hybrid_does(predict):
    rules = predict("improved_rules", SECTIONS.improved_rules)
    members = {
        "classifier": predict("random_forest", SECTIONS.random_forest),
        "human": predict("simulated_human", SECTIONS.simulated_human),
    }
    composed = compose("hybrid", Hybrid(None, None, None), rules, members)
    assert composed["route"].n_unique() > 1
    assert composed.equals(predict("hybrid", SECTIONS))
    # the two-way hybrid hands on every abstention
    two_way = compose("hybrid_two_way", HybridTwoWay(None, None), rules, members)
    assert (two_way.schema, two_way.height) == (PREDICTION_SCHEMA, rules.height)
    assert "abstain" not in set(two_way["prediction"])
    abstained = rules["prediction"] == "abstain"
    assert (two_way["route"] == "classifier").to_list() == abstained.to_list()
    short = {**members, "human": members["human"].head(3)}
    with pytest.raises(BadInputError, match="that hybrid hands on are missing"):
        compose("hybrid", Hybrid(None, None, None), rules, short)
