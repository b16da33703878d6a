"""The study over what is recorded, and its committed results."""

from __future__ import annotations

import json

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.scenarios import read_scenarios
from failbench.statistics.settings import read_with_statistics
from failbench.studies.onset.results import (
    TEXT_AND_SERIES,
    TEXT_ONLY,
    with_answers,
    with_kind,
)
from failbench.studies.onset.runs import observed_runs, recorded_settings, texts
from failbench.studies.onset.settings import OnsetSettings
from failbench.telemetry import read_telemetry

SIMPLE = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)


@pytest.fixture(scope="module")
def settings(repository):
    return read_with_statistics("onset", OnsetSettings, repository / "params.yaml")


@pytest.fixture(scope="module")
def features(repository):
    return pl.read_parquet(repository / "data/features/features.parquet")


@pytest.fixture(scope="module")
def observed(repository, settings, features):
    telemetry = read_telemetry(repository / "data/telemetry")
    reference = next(
        each for each in recorded_settings(telemetry.runs) if each.name == "transformer-adamw"
    )
    ids = reference.of(telemetry.runs)["run_id"]
    scenarios = read_scenarios(repository / "data/scenarios")
    part = telemetry.select(pl.col("run_id").is_in(ids.implode()))
    return observed_runs(part, scenarios, features, settings, SIMPLE)


@pytest.fixture(scope="module")
def committed(repository):
    return json.loads((repository / "data/metrics/onset.json").read_text(encoding="utf-8"))


def test_every_failing_run_has_one_kind_and_its_committed_share(observed, settings, committed):
    rows = with_kind(observed, "sds", settings.near_steps)
    assert rows.height == 228
    by_scenario = rows.group_by("scenario").agg(pl.col("onset") == "gradual")
    share = by_scenario["onset"].list.mean().mean()
    assert committed["kinds"]["all"]["gradual"]["value"] == pytest.approx(share, abs=1e-6)


def test_crashes_of_the_first_step_have_no_sign(observed):
    first = observed.filter(pl.col("since_onset") == 0, ~pl.col("switched_on"))
    assert first.filter(pl.col("kind") == "failure").height
    assert first["sds_lead"].null_count() == first.height


def test_healthy_twins_have_no_text_and_seldom_a_sign(observed):
    twins = observed.filter(pl.col("kind") == "twin")
    assert not twins["has_text"].fill_null(value=False).any()
    assert twins["sds_lead"].null_count() > 0.85 * twins.height


def test_a_text_that_runs_of_two_categories_left_is_shared_whatever_its_numbers(features):
    failing = features.filter(pl.col("kind") == "failure").head(3)
    made_up = failing.with_columns(
        category=pl.Series(["optimization", "data_pipeline", "data_pipeline"]),
        error_type=pl.Series(["RuntimeError", "RuntimeError", None]),
        error_message=pl.Series(["size mismatch 3", "size mismatch 17", None]),
    ).cast(dict(FEATURE_SCHEMA))
    found = texts(made_up)
    assert found["shared_text"].to_list() == [True, True, False]
    assert found["named"].to_list() == ["model_software", "model_software", None]
    assert found["has_text"].to_list() == [True, True, False]


def test_a_run_without_a_prediction_is_refused(repository, observed, settings):
    rows = with_kind(observed, "sds", settings.near_steps)
    folder = repository / "data/predictions/nested_cv"
    predictions = pl.concat(
        pl.read_parquet(folder / f"{name}.parquet") for name in (TEXT_ONLY, TEXT_AND_SERIES)
    )
    assert with_answers(rows, predictions)[TEXT_ONLY].null_count() == (~rows["has_text"]).sum()
    fewer = predictions.filter(pl.col("run_id") != rows["run_id"][0])
    with pytest.raises(BadInputError, match=f"{TEXT_ONLY}.parquet: run_id: a failing run"):
        with_answers(rows, fewer)
