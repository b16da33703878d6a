from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.study_report import StudyReport
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.significance.report import report

SETTINGS = SignificanceSettings(
    feature_set="19+keywords",
    contrasts=(("random_forest", "simple_rules"),),
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.10,
    power=0.80,
    seed=0,
)


@pytest.fixture(scope="module")
def of_both_sets(answers) -> StudyReport:
    rates = {"random_forest": 0.7, "simple_rules": 0.5, "ebm": 0.6}
    like = answers(rates, feature_set="19+keywords")
    papers = answers({**rates, "random_forest": 0.4}, feature_set="19")
    return report(pl.concat([like, papers]), SETTINGS)


def test_the_contrasts_are_tested_on_the_primary_set_and_beside_it_on_the_papers(of_both_sets):
    (table,) = of_both_sets.tables
    assert [row[:2] for row in table.rows] == [
        ("19 + keywords", "Random forest – simple rules"),
        ("19", "Random forest – simple rules"),
    ]
    lines = of_both_sets.sentences["contrast_sentences"].splitlines()
    assert "On 19 + keywords features" in lines[0]
    assert "more of the scenarios" in lines[0]
    assert "On 19 features" in lines[1]
    assert "fewer of the scenarios" in lines[1]


def test_contrasts_of_other_methods_are_not(of_both_sets):
    (table,) = of_both_sets.tables
    assert "in view" not in " ".join(table.notes)
    assert "in view" not in of_both_sets.sentences["contrast_sentences"]


def test_metrics_are_of_the_primary_set(of_both_sets):
    difference = of_both_sets.metrics["contrasts"]["random_forest_less_simple_rules"]["difference"]
    assert difference["value"] > 0
