"""Diagnoses of other telemetry: alike whatever the batches."""

import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.slices import AcrossArchitectures
from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.base.telemetry_stream import telemetry_batches
from failbench.diagnose.batch import (
    DIAGNOSIS_SCHEMA,
    READ_BY,
    diagnose_stream,
    diagnoses_of,
    fitted_method,
    read_features,
    refuse_unknown,
    settings_of,
)
from failbench.features.feature_table import feature_table, to_frame


@pytest.fixture(scope="module")
def features(repository):
    return read_features(repository / "data" / "features" / "features.parquet")


@pytest.fixture(scope="module")
def study(repository):
    return read_section("across_architectures", AcrossArchitectures, repository / "params.yaml")


@pytest.fixture(scope="module")
def rules(repository, features, study):
    return {
        name: fitted_method(name, settings_of(name, repository / "params.yaml"), features, study)
        for name in ("simple_rules", "improved_rules")
    }


@pytest.fixture(scope="module")
def folder(repository, tmp_path_factory):
    some = read_telemetry(repository / "data" / "telemetry").select(
        (pl.col("optimizer") == "sgd") & (pl.col("seed") == 0)
    )
    place = tmp_path_factory.mktemp("telemetry")
    write_parquet(some.runs, place / "runs.parquet")
    write_parquet(some.steps, place / "steps" / "transformer-sgd.parquet")
    return place


@pytest.fixture(scope="module")
def whole(folder, rules):
    return diagnoses_of(read_telemetry(folder), rules)


@pytest.mark.parametrize("rows", [1, 1009, 10**6])
def test_diagnoses_of_a_stream_are_those_of_the_whole(folder, rules, whole, rows):
    actual = list(diagnose_stream(telemetry_batches(folder, rows), rules))
    assert_frame_equal(pl.concat(table for _, table in actual), whole)
    assert sum(runs for runs, _ in actual) == read_telemetry(folder).runs.height


def test_each_failing_run_has_a_row_a_method_which_says_what_the_method_says(folder, rules, whole):
    healthy = read_telemetry(folder).select(pl.col("kind") == "success")
    assert_frame_equal(diagnoses_of(healthy, rules), DIAGNOSIS_SCHEMA.to_frame())
    recorded = read_telemetry(folder)
    failed = recorded.select(pl.col("kind") == "failure")
    assert failed.runs.height < recorded.runs.height
    keys = [(run, name) for run in failed.runs["run_id"] for name in rules]
    assert whole.select("run_id", "method").rows() == keys
    frame = to_frame(feature_table(failed, scenarios=()))
    for name, method in rules.items():
        rows = whole.filter(pl.col("method") == name)
        for row, said in zip(rows.iter_rows(named=True), method.diagnose(frame), strict=True):
            for field in ("confidence", "reason", "conditions"):
                assert row[field] == getattr(said, field)
            assert row["diagnosis"] == said.category
            seen = [(item["signal"], item["value"]) for item in row["evidence"]]
            assert seen == [(each.signal, str(each.value)) for each in said.evidence]


def test_nothing_is_learnt_from_another_optimizer(repository, features, study):
    others = features.filter(pl.col("optimizer") != study.optimizer)
    settings = settings_of("simple_rules", repository / "params.yaml")
    with pytest.raises(BadInputError, match=rf"no failing run of {study.optimizer} at scale"):
        fitted_method("simple_rules", settings, others, study)


def test_a_feature_table_that_lacks_a_column_is_refused(tmp_path, features):
    with pytest.raises(BadInputError, match=r"features\.parquet: \(file\): is missing or is not"):
        read_features(tmp_path / "features.parquet")
    write_parquet(features.drop("max_loss"), tmp_path / "features.parquet")
    with pytest.raises(BadInputError, match=r"features\.parquet: max_loss: the column is missing"):
        read_features(tmp_path / "features.parquet")


NAMES = [name for names in READ_BY.values() for name in names]


def test_what_cannot_diagnose_is_refused_with_all_that_can():
    for name, problem in {
        **dict.fromkeys(("crystal_ball", "mistral_7b"), "is unknown."),
        **dict.fromkeys(("simulated_human", "hybrid"), "needs the true causes"),
    }.items():
        with pytest.raises(BadInputError) as caught:
            refuse_unknown(name)
        assert caught.value.problem.startswith(f"{name!r} {problem}")
        assert {*NAMES} <= (listed := {*re.findall(r"\w+", caught.value.remedy)})
        assert not {"simulated_human", "hybrid"} & listed
