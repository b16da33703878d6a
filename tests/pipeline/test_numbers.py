"""The numbers that the README prints are those of the metrics."""

from __future__ import annotations

import json
import re

import pytest

from failbench.base.methods import CATALOGUE
from failbench.publish.reproduction.printed import generated_blocks, text_share
from pipeline import REPOSITORY

METRICS = json.loads((REPOSITORY / "data/metrics/intervals.json").read_text(encoding="utf-8"))
BLOCKS = generated_blocks((REPOSITORY / "README.md").read_text(encoding="utf-8"))
ROWS = {
    cells[0]: cells
    for cells in (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in BLOCKS["methods table"].splitlines()
        if line.startswith("| ")
    )
}
SHOWN = [entry for entry in CATALOGUE if entry.name in METRICS["19"] and entry.label in ROWS]


def printed(estimate: dict[str, float]) -> str:
    value, low, high = (f"{100 * estimate[key]:.1f}" for key in ("value", "ci_low", "ci_high"))
    return value if value == low == high else f"{value} [{low}, {high}]"


def test_most_methods_are_shown() -> None:
    assert len(SHOWN) > 15


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry.name)
def test_a_row_of_the_readme_has_the_metrics(entry) -> None:
    cells = ROWS[entry.label]
    for cell, features in zip(cells[-2:], ("19", "19+keywords"), strict=True):
        # On another processor a last digit may differ, as `make compare` allows.
        assert text_share(cell, printed(METRICS[features][entry.name]["accuracy"])) <= 1


def test_the_finding_has_the_metrics() -> None:
    forest = METRICS["19"]["random_forest"]["accuracy"]
    numbers = re.findall(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", BLOCKS["finding"])
    assert min(text_share(number, printed(forest)) for number in numbers) <= 1
