"""The committed answers cover every scenario, and the report and the margin are made from them."""

from __future__ import annotations

import pytest

from failbench.params import read_section
from failbench.prediction.slices import ReferenceStudy
from failbench.preflight.memory import margin
from failbench.preflighted.answers import read_answers
from failbench.scenarios import read_scenarios
from failbench.statistics.settings import read_with_statistics
from failbench.studies.preflight.looked import looked_at
from failbench.studies.preflight.report import report
from failbench.studies.preflight.results import PreflightSettings
from failbench.telemetry import read_telemetry


@pytest.fixture(scope="module")
def inputs(repository):
    params = repository / "params.yaml"
    return (
        read_answers(repository / "data/preflight/answers.parquet"),
        read_telemetry(repository / "data/telemetry"),
        read_scenarios(repository / "data/scenarios"),
        read_section("nested_cv", ReferenceStudy, params),
        read_with_statistics("preflight", PreflightSettings, params),
    )


@pytest.fixture(scope="module")
def shown(inputs):
    return report(*inputs)


def test_every_scenario_was_looked_at(inputs):
    looked = looked_at(*inputs[:4])
    assert {each.scenario.id for each in looked} == {each.id for each in inputs[2]}


def test_a_crash_that_is_looked_at_is_the_one_that_was_recorded(inputs):
    answers, recorded = inputs[:2]
    last = answers.filter(look="failure").join(
        recorded.runs.select("run_id", "ending", recorded_type="error_type"), on="run_id"
    )
    crashed = last.filter(ending="exception")
    assert crashed.height
    same = crashed.filter(pl_equal(crashed))
    assert same.height >= 0.8 * crashed.height


def pl_equal(table):
    return table["error_type"] == table["recorded_type"]


def test_the_margin_is_the_line_through_healthy_runs(shown):
    line = shown.metrics["memory"]
    assert margin().factor == pytest.approx(line["factor"]["value"])
    assert margin().bytes == pytest.approx(line["added_mebibytes"]["value"] * 2**20, abs=2**10)
    assert margin().runs == line["factor"]["n"]
