"""What the trees of a forest tested, against the paths that scikit-learn reports of each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from failbench.methods import forest_paths
from failbench.methods.catalogue import method_named
from failbench.methods.forest_paths import SHOWN_TESTS


@pytest.fixture
def forest(context, settings_of, runs):
    frame, labels, groups = runs
    return (
        method_named("random_forest")
        .build(settings_of("random_forest"), context)
        .fit(frame, labels, groups)
    )


def test_conditions_are_the_tests_on_the_paths_through_all_trees(forest, runs):
    values = forest.pipeline_["impute"].transform(runs[0])
    lengths = sum(
        np.asarray(tree.decision_path(values).sum(axis=1)).ravel() - 1
        for tree in forest.pipeline_["classify"].estimators_
    )
    assert [item.conditions for item in forest.diagnose(runs[0])] == lengths.tolist()


def test_evidence_is_the_tests_that_trees_of_the_answer_made_most_often(forest, runs):
    values = forest.pipeline_["impute"].transform(runs[0])
    names = forest.pipeline_["impute"].get_feature_names_out()
    classes = forest.pipeline_.classes_
    for row, diagnosis in zip(values, forest.diagnose(runs[0]), strict=True):
        counts: dict[tuple[str, str], float] = {}
        for tree in forest.pipeline_["classify"].estimators_:
            votes = tree.predict_proba(row[None])[0][list(classes).index(diagnosis.category)]
            for node in tree.decision_path(row[None]).indices:
                feature = tree.tree_.feature[node]
                if feature >= 0:
                    above = np.float32(row[feature]) > tree.tree_.threshold[node]
                    test = (names[feature], "above" if above else "below")
                    counts[test] = counts.get(test, 0.0) + votes
        made = [counts[(item.signal, item.relation)] for item in diagnosis.evidence]
        assert made == pytest.approx(sorted(counts.values(), reverse=True)[: len(made)])
        assert min(made) > 0
        assert len(made) == min(SHOWN_TESTS, sum(count > 0 for count in counts.values()))


def test_values_lie_on_the_side_that_the_evidence_says(forest, runs):
    for diagnosis in forest.diagnose(runs[0]):
        for item in diagnosis.evidence:
            assert (item.value > item.threshold) == (item.relation == "above")


def test_symptoms_are_named_by_what_they_are(context, settings_of, runs):
    frame, labels, groups = runs
    method = method_named("symptom_baseline").build(settings_of("symptom_baseline"), context)
    diagnoses = method.fit(frame, labels, groups).diagnose(frame)
    signals = {item.signal for diagnosis in diagnoses for item in diagnosis.evidence}
    assert {"error_type_RuntimeError", "steps_before_failure"} <= signals


@pytest.mark.parametrize("batch", [1, 7, 60])
def test_paths_are_in_memory_for_one_batch_of_runs_at_a_time(forest, runs, monkeypatch, batch):
    frame = runs[0]
    expected = forest.diagnose(frame)
    sizes: list[int] = []
    follow = RandomForestClassifier.decision_path

    def watched(self, X):
        sizes.append(len(X))
        return follow(self, X)

    monkeypatch.setattr(RandomForestClassifier, "decision_path", watched)
    monkeypatch.setattr(forest_paths, "RUNS_PER_BATCH", batch)
    assert forest.diagnose(frame) == expected
    assert max(sizes) == batch
    assert sum(sizes) == len(frame)


def test_a_tree_is_read_along_its_path(context, settings_of, runs):
    frame, labels, groups = runs
    method = method_named("decision_tree").build(settings_of("decision_tree"), context)
    diagnoses = method.fit(frame, labels, groups).diagnose(frame)
    assert all(diagnosis.conditions == len(diagnosis.evidence) > 0 for diagnosis in diagnoses)
