"""The numbers that the paper prints agree with one another, and others are refused."""

from __future__ import annotations

import copy

import pytest

from failbench.base.errors import BadInputError
from failbench.base.records import kept_by_hand
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.study.paper_numbers import Reported, reported_number


def test_tables_agree_with_themselves(reported):
    tables = reported.tables
    for row in (*tables.methods.rows.values(), *tables.architectures.rows.values()):
        if row.interval is not None:
            assert row.interval[0] <= row.accuracy <= row.interval[1], row.label
    for row in tables.per_category.rows.values():
        assert row.interval[0] <= row.f1 <= row.interval[1]
    confusion = tables.confusion.rows
    assert {category: sum(confusion[category]) for category in CATEGORIES} == COUNTS
    ablation = tables.ablation.rows
    for row in ablation.values():
        if row.drop is not None:
            assert row.accuracy - ablation["full"].accuracy == pytest.approx(row.drop)


def test_text_and_figure_2_agree_with_the_tables(reported):
    claims, rows = reported.claims, reported.tables.methods.rows
    assert {category: claims[f"scenarios_{category}"].value for category in CATEGORIES} == COUNTS
    assert claims["scenarios"].value == sum(COUNTS.values())
    points = reported.figures.tradeoff.rows
    for method, row in rows.items():
        claim = claims.get(f"{method}_accuracy")
        assert claim is None or claim.value == pytest.approx(row.accuracy, abs=0.0006), method
        assert method not in points or points[method].accuracy == row.accuracy
    hybrid = reported_number(reported, "hybrid_accuracy")
    assert points["hybrid_two_way"].accuracy == hybrid
    with pytest.raises(BadInputError, match=r"claims\.human_skills"):  # several numbers
        reported_number(reported, "human_skills")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tables.methods.rows.ebm.acuracy", 0.5),
        ("tables.methods.rows.ebm.accuracy", 95.7),
        ("tables.ablation.rows.full.accuracy", 61.8),
        ("tables.confusion.rows.unknown", [1, 2, 3]),
        ("figures.tradeoff.rows.ebm.accuracy", 95.7),
        ("figures.tradeoff.rows.ebm.interpretability", [85, 101]),
        ("figures.tradeoff.rows.decision_tree.interpretability", [80, 60]),
        ("claims.gap.value", 38.6),
        ("claims.gap.place", "somewhere"),
        ("claims.gap.colour", "red"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_path(raw_reported, path, value):
    wrong = copy.deepcopy(raw_reported)
    entry = wrong
    *keys, last = path.split(".")
    for key in keys:
        entry = entry[key]
    entry[last] = value
    with pytest.raises(BadInputError) as caught:
        kept_by_hand(Reported, wrong, "data/reported/paper.yaml")
    assert caught.value.field.startswith(".".join(keys[: 2 if keys[0] == "claims" else 3]))
    assert caught.value.place == "data/reported/paper.yaml"
