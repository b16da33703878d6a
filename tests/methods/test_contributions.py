"""The terms that carry an answer, against the scores of the models themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from failbench.methods.catalogue import method_named
from failbench.methods.evidence import (
    SHARE,
    additive_contributions,
    boosted_contributions,
    boosted_path_lengths,
    leading_terms,
    linear_contributions,
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
