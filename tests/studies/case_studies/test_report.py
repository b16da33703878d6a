"""The report of the case studies, from what is committed of them."""

from __future__ import annotations

import json

import polars as pl
import pytest

from failbench.studies.case_studies.cases import CASES, CaseStudiesSettings
from failbench.studies.case_studies.measure import CaseMeasurements
from failbench.studies.case_studies.report import report
from failbench.studies.case_studies.results import case_metrics, case_studies
from failbench.telemetry import read_telemetry

SETTINGS = CaseStudiesSettings(run_seed=0, smallest_growth=10, settled_steps=10)


@pytest.fixture(scope="module")
def measured(repository):
    folder = repository / "data/measurements/case_studies"
    names = ("cases", "facts", "diagnoses", "evidence")
    return CaseMeasurements(*(pl.read_parquet(folder / f"{name}.parquet") for name in names))


@pytest.fixture(scope="module")
def predictions(repository, measured):
    folder = repository / "data/predictions/nested_cv"
    asked = measured.diagnoses["method"].unique().sort()
    return pl.concat(pl.read_parquet(folder / f"{method}.parquet") for method in asked)


def test_answers_are_the_share_of_repeats_that_are_right(measured, predictions, repository):
    metrics = case_metrics(case_studies(measured, predictions))
    forest = metrics["answers"]["gradient_explosion"]["random_forest"]
    (run_id,) = measured.cases.filter(case="gradient_explosion")["run_id"].unique()
    stored = predictions.filter(method="random_forest", run_id=run_id, feature_set="19")
    assert forest["value"] == (stored["prediction"] == "optimization").mean()
    assert forest["n"] == stored.height
    published = json.loads((repository / "data/metrics/case_studies.json").read_text("utf-8"))
    assert set(metrics["facts"]) == set(published["facts"]) == set(CASES)


def test_the_most_frequent_answer_is_that_of_most_repeats_and_not_of_the_explained_fit(
    measured, predictions
):
    shown = 0
    for answer in case_studies(measured, predictions).answers:
        stored = predictions.filter(
            method=answer.method, run_id=answer.case.run_id, feature_set="19"
        )
        counts = dict(stored["prediction"].value_counts().iter_rows())
        assert answer.count == max(counts.values())
        expected = {given for given, count in counts.items() if count == answer.count}
        assert set(answer.most_frequent) == expected
        shown += answer.diagnosis.category not in answer.most_frequent
    assert shown


def test_the_report_has_a_table_per_case_and_one_of_diagnoses(
    measured, predictions, repository, reported
):
    telemetry = read_telemetry(repository / "data/telemetry")
    made = report(measured, predictions, telemetry, reported, SETTINGS)
    assert [table.name for table in made.tables] == [
        *(f"case_{name}" for name in CASES),
        "case_diagnoses",
    ]
    assert len(made.tables[-1].rows) == measured.diagnoses.height
    assert set(made.points["case_studies"]["case"]) == set(CASES)
