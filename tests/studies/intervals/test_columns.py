from __future__ import annotations

import pytest

from failbench.reporting.cells import three_decimals
from failbench.studies.intervals.columns import (
    HEADLINE_COLUMNS,
    METHODS_COLUMNS,
    SCORE_COLUMNS,
    Quantity,
)

ESTIMATES = {
    "accuracy": {"value": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 76},
    "majority": {"value": 0.25, "n": 76},
}


@pytest.mark.parametrize(
    ("quantity", "cell"),
    [
        (Quantity("accuracy", "Accuracy"), "50.0 [40.0, 60.0]"),
        (Quantity("accuracy", "Accuracy", three_decimals), "0.500 [0.400, 0.600]"),
        (Quantity("majority", "Majority"), "25.0"),
        (Quantity("brier", "Brier score"), "–"),
    ],
)
def test_a_cell_has_an_interval_where_there_is_one_and_a_dash_where_there_is_nothing(
    quantity, cell
):
    assert quantity.cell(ESTIMATES) == cell


def test_no_table_has_two_columns_of_one_heading_and_group():
    for columns in (METHODS_COLUMNS, HEADLINE_COLUMNS, SCORE_COLUMNS):
        keys = [(column.heading, column.group) for column in columns]
        assert len(set(keys)) == len(keys)
