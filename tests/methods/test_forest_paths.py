"""What the trees of a forest tested, against the paths that scikit-learn reports of each."""

from __future__ import annotations

import numpy as np
import pytest

from failbench.methods.catalogue import method_named
from failbench.methods.evidence import SHOWN_TESTS


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
