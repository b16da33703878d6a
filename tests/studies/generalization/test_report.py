"""The report of generalization, from made-up predictions."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.generalization.report import report
from made_up_studies import made_up_studies

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)


@pytest.mark.usefixtures("project_style")
def test_methods_whose_rules_were_made_in_view_stand_below_and_are_never_called_the_best(reported):
    studies = made_up_studies(("random_forest", "invariants", "simulated_human"))
    right = pl.when(pl.col("method") == "invariants").then("category").otherwise("prediction")
    made = report(studies.with_columns(prediction=right), reported, SETTINGS)
    picture = made.figures["generalization"]
    assert "(random forest)" in picture.title
    assert "(invariants)" not in picture.title
    assert picture.title.endswith("(*: by rules made with these scenarios in view)")
    rows = [label.get_text() for label in picture.figure().axes[0].get_yticklabels()]
    assert rows == ["Random forest", "Invariants*", "Simulated human"]
    assert DEVELOPMENT_NOTE in made.tables[0].notes
