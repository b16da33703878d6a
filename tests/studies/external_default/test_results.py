"""Estimates are shares of runs, with intervals by drawing groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.external.tables import BUGGY, CORRECT, DETECTION, LABEL
from failbench.statistics.intervals import wilson
from failbench.studies.external_default.grouping import GROUP_SCHEMA
from failbench.studies.external_default.measure import ANSWER_SCHEMA
from failbench.studies.external_default.results import (
    ACCURACY,
    BALANCED,
    DIFFERENCE,
    PRECISION,
    cell,
    estimates,
)
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    BLOCKS,
    SHUFFLED,
    SIMPLE_RULES,
    THEIR_FOREST,
)

FOREST = {"task": DETECTION, "protocol": SHUFFLED, "columns": ALL_COLUMNS, "method": THEIR_FOREST}


def of_groups(numbers, groups=16):
    return pl.DataFrame(
        {
            "task": DETECTION,
            "grouping": BLOCKS,
            "groups": groups,
            "row": range(len(numbers)),
            "group": numbers,
        },
        schema=GROUP_SCHEMA,
    )


def of_answers(named, **changed):
    key = {**FOREST, **changed}
    return pl.DataFrame({**key, "row": range(len(named)), "answer": named}, schema=ANSWER_SCHEMA)


@pytest.fixture(scope="module")
def truth(tables):
    return tables.detection[LABEL].to_list()


@pytest.fixture(scope="module")
def table(measured, tables, small):
    return estimates(measured.answers, measured.groups, tables, small)


def test_accuracy_is_the_share_of_right_answers(tables, small, truth):
    named = truth[:150] + [CORRECT] * (len(truth) - 150)
    right = np.mean([a == b for a, b in zip(named, truth, strict=True)])
    numbers = [number * 16 // len(truth) for number in range(len(truth))]
    table = estimates(of_answers(named), of_groups(numbers), tables, small)
    row = cell(table, metric=ACCURACY, **FOREST)
    assert row["value"] == pytest.approx(right)
    assert row["ci_low"] < right < row["ci_high"]
    assert (row["n"], row["rows"]) == (16, len(truth))


def test_balanced_accuracy_is_the_mean_of_both_recalls(tables, small, truth):
    numbers = [number * 16 // len(truth) for number in range(len(truth))]
    table = estimates(of_answers([BUGGY] * len(truth)), of_groups(numbers), tables, small)
    assert cell(table, metric=BALANCED, **FOREST)["value"] == pytest.approx(0.5)


def test_intervals_are_wider_where_a_group_is_right_or_wrong_as_a_whole(tables, small, truth):
    wrong = {BUGGY: CORRECT, CORRECT: BUGGY}
    groups = np.arange(len(truth)) * 16 // len(truth)
    together = [
        wrong[name] if group < 8 else name for name, group in zip(truth, groups, strict=True)
    ]
    apart = [name if row % 2 else wrong[name] for row, name in enumerate(truth)]
    widths = []
    for named in (together, apart):
        table = estimates(of_answers(named), of_groups(groups.tolist()), tables, small)
        row = cell(table, metric=ACCURACY, **FOREST)
        widths.append(row["ci_high"] - row["ci_low"])
    assert widths[0] > 5 * widths[1]


def test_where_all_are_right_the_interval_is_wilsons_over_groups(tables, small, truth):
    numbers = [number * 16 // len(truth) for number in range(len(truth))]
    table = estimates(of_answers(truth), of_groups(numbers), tables, small)
    row = cell(table, metric=ACCURACY, **FOREST)
    low, _ = wilson(1.0, 16, small.confidence)
    assert (row["value"], row["ci_high"]) == (1.0, 1.0)
    assert row["ci_low"] == pytest.approx(low)


def test_precision_is_the_share_of_faulty_runs_among_those_that_rules_call_faulty(
    tables, small, truth
):
    buggy = [row for row, name in enumerate(truth) if name == BUGGY][:6]
    correct = [row for row, name in enumerate(truth) if name == CORRECT][:2]
    named = [BUGGY if row in (*buggy, *correct) else CORRECT for row in range(len(truth))]
    numbers = [number * 16 // len(truth) for number in range(len(truth))]
    answers = pl.concat([of_answers(named, method=SIMPLE_RULES), of_answers(truth)])
    table = estimates(answers, of_groups(numbers), tables, small)
    row = cell(table, metric=PRECISION, **{**FOREST, "method": SIMPLE_RULES})
    assert (row["value"], row["rows"]) == (pytest.approx(0.75), 8)


def test_a_difference_is_that_of_the_accuracies_on_the_same_folds(table):
    key = {**FOREST, "method": "ebm"}
    ours, theirs = (cell(table, metric=ACCURACY, **each)["value"] for each in (key, FOREST))
    assert cell(table, metric=DIFFERENCE, **key)["value"] == pytest.approx(ours - theirs)
    assert table.filter(metric=DIFFERENCE, method=THEIR_FOREST).is_empty()


def test_a_row_without_a_group_is_refused(tables, small, truth):
    groups = of_groups([0] * 50 + [1] * 50)
    with pytest.raises(BadInputError, match="has no group"):
        estimates(of_answers(truth), groups, tables, small)


def test_answers_of_other_groups_than_the_settings_say_are_refused(tables, small, truth):
    groups = of_groups([0, 1] * (len(truth) // 2), groups=7)
    with pytest.raises(BadInputError, match="no answer has a group"):
        estimates(of_answers(truth), groups, tables, small)
