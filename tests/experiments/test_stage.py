from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from failbench.base import stage
from failbench.base.errors import BadInputError


@pytest.mark.parametrize("value", [None, [1, 2]])
def test_metrics_must_be_scalars_because_dvc_does_not_show_others(tmp_path, value):
    with pytest.raises(TypeError, match="must be a scalar"):
        stage.write_metrics(tmp_path / "metrics.json", {"a": value})


def test_a_metric_that_is_not_a_number_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        stage.write_metrics(tmp_path / "metrics.json", {"a": float("nan")})


def test_workers_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("FAILBENCH_WORKERS", "3")
    assert stage.workers() == 3
    monkeypatch.delenv("FAILBENCH_WORKERS")
    assert stage.workers() >= 1


@pytest.mark.parametrize("value", ["0", "-1", "two", ""])
def test_workers_must_be_a_positive_number(monkeypatch, value):
    monkeypatch.setenv("FAILBENCH_WORKERS", value)
    with pytest.raises(BadInputError, match="FAILBENCH_WORKERS"):
        stage.workers()


def test_an_output_that_is_not_there_names_the_command_that_makes_it(tmp_path):
    with pytest.raises(BadInputError, match="dvc repro"):
        stage.read_output(tmp_path / "features.parquet", pl.Schema({"a": pl.Int64}))


@pytest.mark.parametrize("script", ["features", "nested_cv"])
def test_a_stage_ends_bad_input_with_one_line_and_status_two(repository, tmp_path, script):
    path = repository / "experiments" / f"{script}.py"
    arguments = ["random_forest"] if script == "nested_cv" else []
    done = subprocess.run(
        [sys.executable, path, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("params.yaml: (file): cannot be read.")


def test_points_are_read_and_their_absence_says_which_stage_to_run(tmp_path):
    path = tmp_path / "points.csv"
    schema = pl.Schema({"a": pl.Float64})
    pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_csv(path)
    assert stage.read_points(path, schema).equals(pl.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(BadInputError, match="Run `dvc repro` for the stage that writes it"):
        stage.read_points(tmp_path / "absent.csv", schema)


SCHEMA = pl.Schema({"method": pl.String, "value": pl.Float64})
TABLE = pl.DataFrame({"method": ["ebm"], "other": [1], "value": [0.5]})


def test_only_the_columns_that_were_checked_are_read(tmp_path):
    TABLE.write_parquet(tmp_path / "table.parquet")
    table = stage.read_output(tmp_path / "table.parquet", SCHEMA)
    assert table.equals(TABLE.select("method", "value"))


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (TABLE.drop("value"), "value: the column is missing."),
        (TABLE.rename({"value": "values"}), "value: the column is missing."),
        (TABLE.cast({"value": pl.String}), "value: is String, not Float64."),
        (TABLE.clear(), "(rows): there are none."),
    ],
)
def test_a_table_that_is_not_as_declared_is_refused_by_file_and_column(tmp_path, broken, line):
    broken.write_parquet(tmp_path / "ebm.parquet")
    path = tmp_path / "ebm.parquet"
    for read in (
        lambda: stage.read_output(path, SCHEMA),
        lambda: stage.read_outputs(tmp_path, ["ebm"], SCHEMA),
    ):
        with pytest.raises(BadInputError) as error:
            read()
        remedy = "Run `dvc repro` for the stage that writes it."
        assert str(error.value) == f"{path}: {line} {remedy}"


@pytest.fixture(scope="module")
def hybrids(repository, tmp_path_factory):
    """The inputs of the stage hybrids, and a function that breaks one and runs the stage."""
    root = tmp_path_factory.mktemp("hybrids")
    members = ("improved_rules", "random_forest", "simulated_human", "invariants")
    inputs = [
        Path("data/predictions", study, f"{member}.parquet")
        for study in ("nested_cv", "across_architectures")
        for member in members
    ]
    for path in (*inputs, Path("params.yaml")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes((repository / path).read_bytes())

    def answer(path, content):
        healthy = (root / path).read_bytes()
        (root / path).write_bytes(content)
        try:
            done = subprocess.run(
                [sys.executable, repository / "experiments" / "hybrids.py"],
                cwd=root,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            (root / path).write_bytes(healthy)
        assert not list(root.rglob("hybrid*.parquet")), "It wrote before it had read everything."
        return done

    return answer


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("data/predictions/across_architectures/simulated_human.parquet", b"\x93 no parquet"),
        ("params.yaml", b"\xff no text"),
        ("params.yaml", b"hybrid: {not_a_key: 1}\n"),
    ],
)
def test_a_broken_input_ends_a_stage_with_one_line_before_it_writes(hybrids, path, content):
    done = hybrids(path, content)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"{path}: ")
    assert done.stderr.count("\n") == 1
