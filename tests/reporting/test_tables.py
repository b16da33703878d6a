from __future__ import annotations

import copy

import pytest
import yaml

from failbench.errors import BadInputError
from failbench.reporting.tables import markdown, methods_table, percent, with_interval


@pytest.fixture(scope="module")
def reported(repository):
    return yaml.safe_load((repository / "data/reported/paper.yaml").read_text(encoding="utf-8"))


def estimate(value):
    return {"value": value, "ci_low": value - 0.1, "ci_high": value + 0.1, "n": 76}


def measured(*methods):
    metrics = {
        "accuracy": estimate(0.5),
        "balanced_accuracy": estimate(0.4),
        "macro_f1": estimate(0.3),
    }
    return {
        "19": dict.fromkeys(methods, metrics),
        "19+keywords": {method: {**metrics, "accuracy": estimate(0.6)} for method in methods},
    }


def rows_of(table):
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_percent_has_one_decimal():
    assert percent(0.5714) == "57.1"
    assert with_interval(0.957, 0.87, 1.0) == "95.7 [87.0, 100.0]"


def test_a_row_shows_reported_beside_measured_for_both_feature_sets(reported):
    header, _, row = rows_of(methods_table(measured("simple_rules"), reported))
    cells = dict(zip(header, row, strict=True))
    assert cells == {
        "Method": "Simple Rules",
        "Accuracy reported (Table 1)": "57.1 [35.2, 79.0]",
        "Accuracy (19)": "50.0 [40.0, 60.0]",
        "Balanced accuracy (19)": "40.0 [30.0, 50.0]",
        "Macro-F1 (19)": "30.0 [20.0, 40.0]",
        "Accuracy (19 + keywords)": "60.0 [50.0, 70.0]",
        "Balanced accuracy (19 + keywords)": "40.0 [30.0, 50.0]",
        "Macro-F1 (19 + keywords)": "30.0 [20.0, 40.0]",
        "n": "76",
    }


def test_methods_come_in_the_papers_order_and_ours_after_them(reported):
    table = methods_table(measured("symptom_baseline", "random_forest", "simple_rules"), reported)
    assert [row[0] for row in rows_of(table)[2:]] == [
        "Simple Rules",
        "Random Forest",
        "Symptom baseline",
    ]


def test_a_method_that_the_paper_lacks_has_no_reported_figure(reported):
    assert rows_of(methods_table(measured("symptom_baseline"), reported))[2][1] == "–"


def test_a_feature_set_in_which_a_method_was_not_measured_stays_empty(reported):
    partial = measured("simple_rules", "random_forest")
    del partial["19+keywords"]["simple_rules"]
    rows = rows_of(methods_table(partial, reported))
    assert rows[2][5:8] == ["–", "–", "–"]
    assert rows[3][5:8] != ["–", "–", "–"]


def test_a_reported_number_out_of_range_is_refused_by_name(reported):
    wrong = copy.deepcopy(reported)
    wrong["tables"]["methods"]["rows"]["ebm"]["accuracy"] = 95.7
    with pytest.raises(BadInputError, match=r"tables\.methods\.rows\.ebm\.accuracy"):
        methods_table(measured("simple_rules"), wrong)


def test_markdown_cells_line_up():
    lines = markdown(["a", "bb"], [["long", "1"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
