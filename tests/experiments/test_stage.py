"""What stages and reports read and write, when something is wrong with it."""

import json

import polars as pl
import pytest

from failbench.base import stage
from failbench.base.errors import BadInputError
from failbench.study.inputs import read_metrics
from failbench.study.publication import run


def test_a_metric_must_be_a_number_and_workers_a_positive_one(tmp_path, monkeypatch):
    path = tmp_path / "metrics.json"
    for value in (None, [1, 2]):  # dvc does not show others
        with pytest.raises(TypeError, match="must be a scalar"):
            stage.write_metrics(path, {"a": value})
    with pytest.raises(ValueError, match="not JSON compliant"):
        stage.write_metrics(path, {"a": float("nan")})
    monkeypatch.setenv("FAILBENCH_WORKERS", "3")
    assert stage.workers() == 3
    for value in ("0", "-1", "two", ""):
        monkeypatch.setenv("FAILBENCH_WORKERS", value)
        with pytest.raises(BadInputError, match="FAILBENCH_WORKERS"):
            stage.workers()


def test_a_table_that_is_not_as_declared_is_refused_by_file_and_column(tmp_path):
    path, table = tmp_path / "ebm.parquet", pl.DataFrame({"method": ["ebm"], "value": [0.5]})
    for broken, line in (
        (table.rename({"value": "values"}), "value: the column is missing."),
        (table.cast({"value": pl.String}), "value: is String, not Float64."),
        (table.clear(), "(rows): there are none."),
    ):
        broken.write_parquet(path)
        with pytest.raises(BadInputError) as error:
            stage.read_output(path, table.schema)
        remedy = "Run `dvc repro` for the stage that writes it."
        assert str(error.value) == f"{path}: {line} {remedy}"


ESTIMATE = {"value": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 76}
METRICS = {"19": {"ebm": {"accuracy": ESTIMATE}}}


def test_metrics_that_lack_an_estimate_are_refused_by_its_name(tmp_path):
    path = tmp_path / "intervals.json"
    path.write_text(json.dumps(METRICS), encoding="utf-8")
    assert read_metrics(path, "19") == METRICS
    for content, field in (
        ([], "(file)"),
        ({}, "19"),
        ({"19": {"ebm": {}}}, "19.ebm.accuracy"),
        ({"19": {"ebm": {"accuracy": {"value": 0.5}}}}, "19.ebm.accuracy.ci_low"),
        ({"19": {"ebm": {"accuracy": ESTIMATE | {"n": "many"}}}}, "19.ebm.accuracy.n"),
    ):
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(BadInputError, match="dvc repro") as error:
            read_metrics(path, "19")
        assert (error.value.place, error.value.field) == (str(path), field)


def test_a_broken_style_ends_a_stage_before_it_computes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures/matplotlibrc").write_text("font.size: 9\nfont.sise: 9\n", "utf-8")
    computed = []
    with pytest.raises(SystemExit) as end:
        run(lambda: computed.append("study"))
    assert end.value.code == 2
    assert not computed
    error = capsys.readouterr().err
    assert error.startswith("figures/matplotlibrc: line 2: 'font.sise: 9' is no setting")
    assert error.count("\n") == 1
