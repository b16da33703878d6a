"""The committed file of the paper's numbers, and the records that hold it."""

from __future__ import annotations

import copy

import pytest

from failbench.base.errors import BadInputError
from failbench.base.records import kept_by_hand
from failbench.base.scenarios import ARCHITECTURES, COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.study.paper_numbers import Reported, reported_number


def test_every_interval_is_in_order_and_holds_its_value(reported):
    rows = [*reported.tables.methods.rows.values(), *reported.tables.architectures.rows.values()]
    for row in rows:
        if row.interval is not None:
            assert row.interval[0] <= row.accuracy <= row.interval[1], row.label
    for row in reported.tables.per_category.rows.values():
        assert row.interval[0] <= row.f1 <= row.interval[1]


def test_confusion_rows_add_up_to_the_papers_scenarios(reported):
    rows = reported.tables.confusion.rows
    assert {category: sum(rows[category]) for category in CATEGORIES} == COUNTS


def test_ablation_drops_are_against_the_full_framework(reported):
    rows = reported.tables.ablation.rows
    for row in rows.values():
        if row.drop is not None:
            assert row.accuracy - rows["full"].accuracy == pytest.approx(row.drop)


def test_all_architectures_and_categories_have_their_row(reported):
    assert set(reported.tables.architectures.rows) == set(ARCHITECTURES)
    assert set(reported.tables.per_category.rows) == set(CATEGORIES)


def test_counts_in_the_text_are_the_scenario_counts(reported):
    counted = {category: reported.claims[f"scenarios_{category}"].value for category in CATEGORIES}
    assert counted == COUNTS
    assert reported.claims["scenarios"].value == sum(COUNTS.values())


def test_accuracies_in_the_text_agree_with_table_1_as_printed(reported):
    claims, rows = reported.claims, reported.tables.methods.rows
    for method in rows:
        claim = claims.get(f"{method}_accuracy")
        if claim is not None:
            assert claim.value == pytest.approx(rows[method].accuracy, abs=0.0006), method


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("tables", "methods", "rows", "ebm", "acuracy"), 0.5),
        (("tables", "methods", "rows", "ebm", "accuracy"), 95.7),
        (("tables", "ablation", "rows", "full", "accuracy"), 61.8),
        (("tables", "confusion", "rows", "unknown"), [1, 2, 3]),
        (("figures", "tradeoff", "rows", "ebm", "accuracy"), 95.7),
        (("figures", "tradeoff", "rows", "ebm", "interpretability"), [85, 101]),
        (("figures", "tradeoff", "rows", "decision_tree", "interpretability"), [80, 60]),
        (("claims", "gap", "value"), 38.6),
        (("claims", "gap", "place"), "somewhere"),
        (("claims", "gap", "colour"), "red"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_path(raw_reported, path, value):
    wrong = copy.deepcopy(raw_reported)
    entry = wrong
    for key in path[:-1]:
        entry = entry[key]
    entry[path[-1]] = value
    with pytest.raises(BadInputError) as caught:
        kept_by_hand(Reported, wrong, "data/reported/paper.yaml")
    assert caught.value.field.startswith(".".join(path[: 2 if path[0] == "claims" else 3]))
    assert caught.value.place == "data/reported/paper.yaml"


def test_accuracies_of_figure_2_agree_with_the_table_and_the_text(reported):
    rows = reported.tables.methods.rows
    for method, point in reported.figures.tradeoff.rows.items():
        if method in rows:
            assert point.accuracy == rows[method].accuracy
    hybrid = reported.figures.tradeoff.rows["hybrid_two_way"].accuracy
    assert hybrid == reported_number(reported, "hybrid_accuracy")


def test_scores_of_figure_2_are_those_listed_among_the_claims(reported):
    scores = {
        score
        for point in reported.figures.tradeoff.rows.values()
        for score in point.interpretability
    }
    assert scores == set(reported.claims["interpretability_scores"].value)


def test_a_claim_with_several_numbers_is_not_taken_for_one(reported):
    with pytest.raises(BadInputError, match=r"claims\.human_skills"):
        reported_number(reported, "human_skills")
