import polars as pl
import pytest

import measure_sensitivity as module
import sensitivity
from failbench.base.errors import BadInputError
from failbench.base.method_settings import DecisionTreeSettings
from failbench.base.scenarios import read_scenarios
from shared.sensitivity import SensitivitySettings
from study_settings import EBM, INTERVALS, REFERENCE

STUDY = REFERENCE.model_copy(update={"run_seeds": (0, 1)})
SETTINGS = SensitivitySettings(repeats=2, run_seed=0, interactions=2, interaction_repeats=1)
DECLARED = {
    "decision_tree": DecisionTreeSettings(inner_folds=2, max_depth=(3,), min_samples_leaf=(1,)),
    "ebm": EBM.model_copy(update={"max_rounds": 20}),
}
OF_ONE_FAULT = ("unknown_0", "unknown_1")


def test_one_seed_is_trained_on_and_scenarios_of_one_fault_are_never_on_both_sides(
    failures, successes, splits, repository, monkeypatch
):
    """With a scenario for each that was made up; two of a category have one fault."""
    template = read_scenarios(repository / "data/scenarios")[0]
    faults = {name: "shared" if name in OF_ONE_FAULT else name for name in failures["scenario"]}
    scenarios = tuple(
        template.model_copy(
            update={"id": name, "fault": template.fault.model_copy(update={"name": fault})}
        )
        for name, fault in sorted(faults.items())
    )
    features = pl.concat([failures, successes], how="vertical_relaxed")
    study, seen, predict = (features, splits, scenarios, DECLARED, STUDY), [], module.nested_cv

    def watched(failures, successes, splits, *others):
        seen.append((others[0], splits, failures["seed"].unique().sort().to_list()))
        return predict(failures, successes, splits, *others)

    monkeypatch.setattr(module, "nested_cv", watched)
    module.measure(*study, SETTINGS, 1)
    assert [seeds for *_, seeds in seen] == [[0], [0], [0, 1], [0, 1]]
    (tree, apart, _), (machine, folds, _) = seen[2:]
    assert (tree, machine) == ("decision_tree", "ebm")
    shared = apart.filter(pl.col("scenario").is_in(OF_ONE_FAULT))
    assert shared.group_by("repeat").agg(pl.col("fold").n_unique())["fold"].to_list() == [1, 1]
    assert folds["repeat"].unique().to_list() == [0]
    with pytest.raises(BadInputError, match=r"sensitivity\.run_seed: .* no runs of seed 7"):
        module.measure(*study, SETTINGS.model_copy(update={"run_seed": 7}), 1)


def test_labels_of_agreeing_raters_and_leaving_unknown_out_may_reverse_an_order():
    """Of four scenarios that are labelled unknown, the raters agree on another label for two."""
    rated = {"a": "memory_hardware", "b": "memory_hardware"}
    labels = dict.fromkeys("abcd", "unknown") | dict.fromkeys("ef", "optimization")
    labels |= dict.fromkeys("gh", "data_pipeline")
    said = {
        "random_forest": labels | dict.fromkeys("ef", "unknown"),
        "simple_rules": labels | dict.fromkeys("abcd", "memory_hardware"),
    }
    answers = pl.DataFrame(
        [
            {"study": "nested_cv", "feature_set": "19", "method": method, "repeat": 0, "fold": 0}
            | {"run_id": f"{name}-{seed}", "scenario": name, "seed": seed, "category": label}
            | {"prediction": said[method][name]}
            for method in said
            for name, label in labels.items()
            for seed in (0, 1)
        ]
    )
    both = list((labels | rated).values())
    ratings = pl.DataFrame({"scenario": list(labels), "rater_1": both, "rater_2": both})
    found = sensitivity.by_other_labels(answers, ratings, INTERVALS)
    values = {
        row[:3]: row[3] for row in found.select("variant", "method", "metric", "value").rows()
    }
    assert values == {
        ("labels_of_raters", "random_forest", "accuracy"): 0.5,
        ("labels_of_raters", "simple_rules", "accuracy"): 0.75,
        ("labels_of_raters", "random_forest", "lead"): -0.25,
        ("without_unknown", "random_forest", "accuracy"): 0.5,
        ("without_unknown", "simple_rules", "accuracy"): 1.0,
        ("without_unknown", "random_forest", "lead"): -0.5,
    }
