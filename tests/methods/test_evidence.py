"""The terms that carry an answer and the tests on paths, against what the models themselves say."""

from collections import Counter

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from failbench.methods.evidence import (
    SHOWN_TESTS,
    additive_contributions,
    boosted_contributions,
    boosted_path_lengths,
    leaf_conditions,
    linear_contributions,
)

ADDITIVE = ("logistic_regression", "lightgbm", "ebm")
two_or_more = pytest.mark.parametrize("categories", [2, 5])


@pytest.fixture
def pipeline_of(fit, runs):
    def build(name, categories=5):
        first = slice(12 * categories)
        method, frame = fit(name, first), runs[0][first]
        answers = method.predict(frame)
        return method.pipeline_, frame, answers, np.searchsorted(method.pipeline_.classes_, answers)

    return build


def of_answers(scores, positions):
    """The score of each run's answer; of two categories libraries score the second alone."""
    scores = np.asarray(scores).reshape(len(positions), -1)
    if scores.shape[1] == 1:
        return np.where(positions == 1, scores[:, 0], -scores[:, 0])
    return scores[np.arange(len(scores)), positions]


@two_or_more
@pytest.mark.parametrize("name", ADDITIVE)
def test_terms_and_intercept_add_up_to_the_score(pipeline_of, name, categories):
    pipeline, frame, answers, positions = pipeline_of(name, categories)
    classifier, values = pipeline["classify"], pipeline["impute"].transform(frame)
    if name == "lightgbm":
        terms = boosted_contributions(pipeline, frame, answers)
        own = classifier.booster_.predict(values, pred_contrib=True)
        intercepts = own.reshape(len(values), -1, values.shape[1] + 1)[:, :, -1]
        scores = classifier.booster_.predict(values, raw_score=True)
    else:
        contributions = linear_contributions if name != "ebm" else additive_contributions
        terms = contributions(pipeline, frame, answers)
        intercepts = np.tile(np.ravel(classifier.intercept_), (len(frame), 1))
        scores = pipeline.decision_function(frame)
    total = terms.sum(axis=1) + of_answers(intercepts, positions)
    assert total == pytest.approx(of_answers(scores, positions))


@two_or_more
def test_path_lengths_of_boosted_trees_are_those_that_the_library_reports(pipeline_of, categories):
    pipeline, frame, answers, positions = pipeline_of("lightgbm", categories)
    classifier = pipeline["classify"]
    table = classifier.booster_.trees_to_dataframe()
    leaves = table[table["split_feature"].isna()]
    depth = {}
    for row in leaves.itertuples():
        leaf = int(row.node_index.split("L")[1] if "-L" in row.node_index else 0)
        depth[row.tree_index, leaf] = row.node_depth - 1
    actual = classifier.booster_.predict(pipeline["impute"].transform(frame), pred_leaf=True)
    turns = 1 if categories == 2 else categories
    expected = []
    for row, position in zip(actual, positions, strict=True):
        own = [each for each in enumerate(row) if each[0] % turns == position % turns]
        expected.append(sum(depth.get(each, 0) for each in own))
    assert boosted_path_lengths(pipeline, frame, answers).tolist() == expected
    assert min(expected) > 0


@pytest.mark.parametrize("name", ADDITIVE)
def test_evidence_is_led_by_what_tells_the_label_and_lies_on_the_side_it_says(name, fitted, runs):
    diagnoses = fitted(name).diagnose(runs[0])
    leading = Counter(diagnosis.evidence[0].signal for diagnosis in diagnoses)
    assert leading.most_common(1)[0][0] == "max_loss"
    for diagnosis in diagnoses:
        signals = [item.signal for item in diagnosis.evidence]
        assert len(signals) == len(set(signals))
        for item in diagnosis.evidence:
            assert (item.value > item.threshold) == (item.relation == "above")


def test_evidence_is_the_tests_that_trees_of_the_answer_made_most_often(fitted, runs):
    forest = fitted("random_forest")
    values = forest.pipeline_["impute"].transform(runs[0])
    names = forest.pipeline_["impute"].get_feature_names_out()
    classes = list(forest.pipeline_.classes_)
    for row, diagnosis in zip(values, forest.diagnose(runs[0]), strict=True):
        counts, length = Counter(), 0
        for tree in forest.pipeline_["classify"].estimators_:
            votes = tree.predict_proba(row[None])[0][classes.index(diagnosis.category)]
            path = tree.decision_path(row[None]).indices
            length += len(path) - 1
            for node in path:
                feature = tree.tree_.feature[node]
                if feature >= 0:
                    above = np.float32(row[feature]) > tree.tree_.threshold[node]
                    counts[names[feature], "above" if above else "below"] += votes
        made = [counts[(item.signal, item.relation)] for item in diagnosis.evidence]
        assert made == pytest.approx(sorted(counts.values(), reverse=True)[: len(made)])
        assert min(made) > 0
        assert len(made) == min(SHOWN_TESTS, sum(count > 0 for count in counts.values()))
        assert diagnosis.conditions == length


@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"max_leaf_nodes": 9}])
def test_merged_conditions_hold_for_exactly_the_runs_of_their_leaf(limits):
    rng = np.random.default_rng(3)
    matrix, labels = rng.normal(size=(80, 4)), rng.integers(0, 5, 80)
    tree = DecisionTreeClassifier(random_state=3, **limits).fit(matrix, labels)
    leaves = tree.apply(matrix)
    bounds = leaf_conditions(tree)
    assert set(bounds) == set(leaves)
    for leaf, conditions in bounds.items():
        holds = np.ones(len(matrix), dtype=bool)
        for condition in conditions:
            above = matrix[:, condition.column] > condition.threshold
            holds &= above if condition.side == "above" else ~above
        assert holds.tolist() == (leaves == leaf).tolist()
