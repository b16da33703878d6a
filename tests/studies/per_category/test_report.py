from __future__ import annotations

import polars as pl
import pytest

from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.per_category.report import report
from failbench.studies.per_category.tables import RULES
from made_up import made_up_predictions

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


@pytest.fixture(scope="module")
def of_the_rules(reported):
    predictions = made_up_predictions().with_columns(method=pl.lit(RULES))
    recall = {"value": 0.25, "ci_low": 0.125, "ci_high": 0.5, "n": 12}
    return report(predictions, {"19": {RULES: {"recall_unknown": recall}}}, reported, SETTINGS)


def test_precisions_are_metrics_and_stand_in_the_table_beside_recalls_that_were_measured_before(
    of_the_rules,
):
    precision = of_the_rules.metrics["19"][RULES]["precision_unknown"]
    cells = {row[0]: row[-1] for row in of_the_rules.tables[0].rows if row[1] == "Improved rules"}
    assert cells["Precision"].startswith(f"{100 * precision['value']:.1f} [")
    assert cells["Precision"].endswith(f"], n = {precision['n']}")
    assert cells["Recall"] == "25.0 [12.5, 50.0]"
    assert cells["F1"] == "–"


def test_table_and_figure_are_made_of_the_confusions_that_are_published(of_the_rules):
    points = of_the_rules.points["per_category"]
    assert points["share"].equals(points["share"].round(6))
    diagonal = points.filter(category="unknown", answer="unknown")["scenarios"].item()
    row = of_the_rules.tables[1].rows[-1]
    headings = [(column.heading, column.group) for column in of_the_rules.tables[1].columns]
    assert row[headings.index(("unknown", "measured"))] == f"{diagonal:.1f}"
    (picture,) = of_the_rules.figures.values()
    (panels,) = picture.draw.args
    assert [title for title, _ in panels] == ["Improved rules", "Improved rules, reported"]
    drawn = panels[0][1]
    assert drawn.join(points, on=points.columns).height == drawn.height > 0
