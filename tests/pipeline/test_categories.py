import re

import pytest

from failbench.base.scenarios import read_scenarios
from failbench.base.vocabulary import CATEGORIES
from pipeline import REPOSITORY

TEXT = (REPOSITORY / "docs/categories.md").read_text(encoding="utf-8")
SCENARIOS = read_scenarios(REPOSITORY / "data/scenarios")
LABELS = {scenario.id: scenario.category for scenario in SCENARIOS}
BORDER, CONFLICTS = "## Border cases", "## Where it conflicts with labels"


def rows_below(heading: str) -> list[list[str]]:
    """Cells of the table below a heading, without its head."""
    part = TEXT.partition(heading)[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("row", rows_below(BORDER), ids=lambda row: row[0])
def test_a_border_case_with_a_scenario_is_placed_as_it_is_labelled(row):
    _, scenario, placed, why = row
    assert placed in CATEGORIES
    assert not scenario or LABELS[scenario] == placed
    assert re.match(r"[1-5]\b", why)


@pytest.mark.parametrize("row", rows_below(CONFLICTS), ids=lambda row: row[0])
def test_a_conflict_names_the_label_and_another_category(row):
    scenario, label, placed, _ = row
    assert LABELS[scenario] == label
    assert placed in set(CATEGORIES) - {label}


def test_every_category_has_a_question_and_a_row():
    rows = rows_below("## The categories")
    assert {row[0] for row in rows} == set(CATEGORIES)
    questions = re.findall(r"^[1-5]\. .*?`(\w+)`$", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert sorted(questions) == sorted(CATEGORIES)


def test_whatever_it_names_is_a_scenario_or_a_category():
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", TEXT)) - {"zero_grad"}
    assert named <= {*LABELS, *CATEGORIES}
