"""The terms that carry an answer and the tests on paths, against what the models themselves say."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from failbench.methods.catalogue import method_named
from failbench.methods.evidence import (
    SHARE,
    SHOWN_TESTS,
    additive_contributions,
    boosted_contributions,
    boosted_path_lengths,
    leading_terms,
    leaf_conditions,
    linear_contributions,
    tree_paths,
)

ADDITIVE = ("logistic_regression", "lightgbm", "ebm")
two_or_more = pytest.mark.parametrize("categories", [2, 5])


@pytest.fixture
def pipeline_of(fit, runs):
    """A pipeline fitted to the first runs, one of two or of all five categories."""

    def build(name: str, categories: int = 5):
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


def repeated(intercepts, runs):
    return np.tile(np.ravel(intercepts), (runs, 1))


def test_the_fewest_terms_reach_the_share_largest_first():
    contributions = np.array([[1.0, -6.0, 3.0, 0.0], [5.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    assert [terms.tolist() for terms in leading_terms(contributions, 0.9)] == [
        [1, 2],
        [0],
        [0, 1, 2, 3],
    ]


@two_or_more
@pytest.mark.parametrize(
    ("name", "contributions"),
    [("logistic_regression", linear_contributions), ("ebm", additive_contributions)],
)
def test_terms_and_intercept_add_up_to_the_score(pipeline_of, name, contributions, categories):
    pipeline, frame, answers, positions = pipeline_of(name, categories)
    intercepts = repeated(pipeline["classify"].intercept_, len(frame))
    total = contributions(pipeline, frame, answers).sum(axis=1) + of_answers(intercepts, positions)
    assert total == pytest.approx(of_answers(pipeline.decision_function(frame), positions))


@two_or_more
def test_contributions_of_boosted_trees_add_up_to_the_raw_score(pipeline_of, categories):
    pipeline, frame, answers, positions = pipeline_of("lightgbm", categories)
    classifier, values = pipeline["classify"], pipeline["impute"].transform(frame)
    actual = classifier.predict(values, pred_contrib=True)
    expected = actual.reshape(len(values), -1, values.shape[1] + 1)[:, :, -1]
    terms = boosted_contributions(pipeline, frame, answers)
    raw = of_answers(classifier.predict(values, raw_score=True), positions)
    assert terms.sum(axis=1) + of_answers(expected, positions) == pytest.approx(raw)


@two_or_more
def test_path_lengths_of_boosted_trees_are_those_that_the_library_reports(pipeline_of, categories):
    pipeline, frame, answers, positions = pipeline_of("lightgbm", categories)
    classifier = pipeline["classify"]
    table = classifier.booster_.trees_to_dataframe()
    leaves = table[table["split_feature"].isna()]
    depth = {
        (row.tree_index, int(row.node_index.split("L")[1] if "-L" in row.node_index else 0)): (
            row.node_depth - 1
        )
        for row in leaves.itertuples()
    }
    actual = classifier.predict(pipeline["impute"].transform(frame), pred_leaf=True)
    turns = 1 if categories == 2 else categories
    expected = [
        sum(
            depth.get((tree, leaf), 0)
            for tree, leaf in enumerate(row)
            if tree % turns == position % turns
        )
        for row, position in zip(actual, positions, strict=True)
    ]
    assert boosted_path_lengths(pipeline, frame, answers).tolist() == expected
    assert min(expected) > 0


@pytest.mark.parametrize("name", ADDITIVE)
def test_the_feature_that_tells_the_label_leads_the_evidence_most_often(name, fitted, runs):
    method, frame = fitted(name), runs[0]
    leading = Counter(item.evidence[0].signal for item in method.diagnose(frame))
    assert leading.most_common(1)[0][0] == "max_loss"


@pytest.mark.parametrize("name", ADDITIVE)
def test_evidence_lies_on_the_side_it_says(name, fitted, runs):
    method, frame = fitted(name), runs[0]
    for diagnosis in method.diagnose(frame):
        signals = [item.signal for item in diagnosis.evidence]
        assert len(signals) == len(set(signals))
        for item in diagnosis.evidence:
            assert (item.value > item.threshold) == (item.relation == "above")


def test_a_term_of_two_features_is_two_conditions_and_each_feature_is_evidence_once(
    context, settings_of, runs
):
    frame, labels, groups = runs
    settings = settings_of("ebm").model_copy(update={"interactions": 3, "max_rounds": 20})
    method = method_named("ebm").build(settings, context).fit(frame, labels, groups)
    members = method.pipeline_["classify"].term_features_
    assert sum(len(member) == 2 for member in members) == 3
    terms = leading_terms(
        additive_contributions(method.pipeline_, frame, method.predict(frame)), SHARE
    )
    names = method.pipeline_["impute"].get_feature_names_out()
    for diagnosis, leading in zip(method.diagnose(frame), terms, strict=True):
        read = [names[feature] for term in leading for feature in members[term]]
        assert diagnosis.conditions == len(read)
        assert [item.signal for item in diagnosis.evidence] == list(dict.fromkeys(read))


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


@pytest.fixture
def staircase() -> DecisionTreeClassifier:
    """Splits a alone, at 1, 2 and 3 (found midway), into classes 0, 1, 2 and 3."""
    a = np.array([0.5, 1.5, 2.5, 3.5])
    return DecisionTreeClassifier(random_state=0).fit(np.column_stack([a, 0 * a]), [0, 1, 2, 3])


def random_tree(seed: int, **limits: int) -> tuple[DecisionTreeClassifier, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(80, 4))
    labels = rng.integers(0, 5, 80)
    return DecisionTreeClassifier(random_state=seed, **limits).fit(matrix, labels), matrix


def test_repeated_tests_of_one_side_become_the_tightest(staircase):
    paths = tree_paths(staircase, ["a", "b"], np.array([[0.0, 0.0], [1.7, 0.0], [9.0, 0.0]]))
    seen = [{(item.signal, item.relation, item.threshold) for item in path} for path in paths]
    assert seen == [
        {("a", "below", 1.0)},
        {("a", "above", 1.0), ("a", "below", 2.0)},
        {("a", "above", 3.0)},
    ]


def test_the_threshold_itself_is_below(staircase):
    (path,) = tree_paths(staircase, ["a", "b"], np.array([[1.0, 0.0]]))
    assert [(item.value, item.relation, item.threshold) for item in path] == [(1.0, "below", 1.0)]


@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"max_leaf_nodes": 9}])
def test_merged_conditions_hold_for_exactly_the_runs_of_their_leaf(limits):
    tree, matrix = random_tree(3, **limits)
    leaves = tree.apply(matrix)
    bounds = leaf_conditions(tree)
    assert set(bounds) == set(leaves)
    for leaf, conditions in bounds.items():
        holds = np.ones(len(matrix), dtype=bool)
        for condition in conditions:
            above = matrix[:, condition.column] > condition.threshold
            holds &= above if condition.side == "above" else ~above
        assert holds.tolist() == (leaves == leaf).tolist()
