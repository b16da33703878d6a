"""What the label audit shows: who was told what, every contested scenario, and the ceiling."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.reporting.markup import render
from failbench.reporting.study_report import StudyReport
from failbench.reporting.style import BLACK
from failbench.studies.label_audit.figure import MARKS, label_audit_picture
from failbench.studies.label_audit.raters import read_ratings
from failbench.studies.label_audit.report import report
from made_up_reports import assert_same
from printed_pictures import assert_printable, assert_repeats, marks_of

pytestmark = pytest.mark.usefixtures("project_style")


@pytest.fixture
def ratings(written, rows, scenarios) -> pl.DataFrame:
    return read_ratings(written(rows), scenarios)


@pytest.fixture
def published(ratings, reported, settings) -> StudyReport:
    return report(ratings, reported, settings)


def test_every_table_says_that_raters_are_language_models_and_what_they_were_told(published):
    for table in published.tables:
        assert "language models" in table.caption
        assert "stand in for no human rater" in table.notes[0]
        assert "titles and one-line root causes" in table.notes[0]


def test_the_papers_kappa_stands_beside_as_that_of_people(published, reported):
    overall = published.tables[0]
    *measured, paper = overall.rows
    assert [row[1] for row in measured] == ["18 of 20", "19 of 20", "19 of 20"]
    assert "people" in paper[0]
    assert paper[3] == "0.78" == f"{reported.claims['fleiss_kappa'].value}"
    assert set(paper) - {paper[0], paper[3]} == {"–"}


def test_the_ceiling_is_what_the_raters_reach(published):
    (ceiling,) = (note for note in published.tables[0].notes if note.startswith("Ceiling"))
    assert "in 90.0 to 95.0 % of scenarios" in ceiling
    best = published.metrics["rater_2"]["all"]["agreement"]
    assert f"[{100 * best['ci_low']:.1f}, {100 * best['ci_high']:.1f}] %" in ceiling


def test_each_contested_scenario_has_a_row_with_the_label_and_both_answers(published):
    contested = {row[0]: row for row in published.tables[2].rows}
    assert set(contested) == {"unknown 0", "data pipeline 2", "optimization 3"}
    assert contested["unknown 0"][2:] == (
        *("unknown", "memory hardware", "0", "–", "memory hardware", "1", "unknown"),
        "rater 1 and rater 2",
    )
    assert contested["data pipeline 2"][-1] == "rater 1"
    assert contested["optimization 3"][-1] == "–"


def test_a_kappa_that_cannot_vary_stands_without_brackets(published):
    by_label = {row[0]: row for row in published.tables[1].rows}
    assert by_label["Optimization"][3] == "1.00"
    assert "[" in by_label["Unknown"][3]


def test_metrics_are_nested_by_subject_scope_and_metric(published):
    assert set(published.metrics) == {"rater_1", "rater_2", "raters"}
    kappa = published.metrics["raters"]["unknown"]["kappa"]
    assert set(kappa) == {"value", "ci_low", "ci_high", "n"}
    assert set(published.metrics["raters"]["all"]["fleiss_kappa"]) == {"value", "n"}
    points = published.points["label_audit"]
    assert not points.select("subject", "scope", "metric").is_duplicated().any()


def test_the_figure_draws_the_published_kappas_and_the_papers(published):
    figure = assert_printable(published.figures["label_audit"])
    (axes,) = figure.axes
    kappas = published.points["label_audit"].filter(metric="kappa")
    drawn = {line.get_label(): line for line in marks_of(axes)}
    for subject, mark in MARKS.items():
        expected = kappas.filter(subject=subject)["value"].to_list()
        assert sorted(drawn[mark.label].get_xdata()) == sorted(expected)
    (tick,) = (line for line in axes.lines if line.get_marker() == "|")
    assert (tick.get_color(), list(tick.get_xdata())) == (BLACK, [0.78])


def test_the_finding_names_the_category_of_the_least_agreement(published):
    title = published.figures["label_audit"].title
    kappa = published.metrics["rater_1"]["all"]["kappa"]["value"]
    assert f"at kappa {kappa:.2f} and " in title
    assert "least on data pipeline" in title or "least on unknown" in title
    points = published.points["label_audit"].with_columns(
        value=pl.when(pl.col("scope") == "optimization").then(0.1).otherwise("value")
    )
    assert "least on optimization (0.10 and 0.10)" in label_audit_picture(points, 0.78).title


def test_the_figure_is_the_same_to_the_byte(published, tmp_path):
    assert_repeats(published.figures["label_audit"], tmp_path)


def test_the_same_ratings_give_the_same_report(ratings, published, reported, settings, tmp_path):
    assert_same(report(ratings, reported, settings), published, tmp_path)
    assert all(render(table) for table in published.tables)


def test_a_paper_without_its_kappa_is_refused(ratings, reported, settings):
    claims = {name: claim for name, claim in reported.claims.items() if name != "fleiss_kappa"}
    with pytest.raises(BadInputError, match="fleiss_kappa"):
        report(ratings, reported.model_copy(update={"claims": claims}), settings)
