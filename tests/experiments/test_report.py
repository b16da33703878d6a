"""What the scripts of reports read and write, when something is wrong with it."""

from __future__ import annotations

import json

import pytest

from failbench.base.errors import BadInputError
from failbench.study.inputs import read_metrics
from failbench.study.publication import run

ESTIMATE = {"value": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 76}
METRICS = {"19": {"ebm": {"accuracy": ESTIMATE}}}


def test_metrics_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "intervals.json"
    path.write_text(json.dumps(METRICS), encoding="utf-8")
    assert read_metrics(path, "19") == METRICS


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("no JSON", "(file)"),
        ("[]", "(file)"),
        ("{}", "19"),
        (json.dumps({"19": {"ebm": {}}}), "19.ebm.accuracy"),
        (json.dumps({"19": {"ebm": {"accuracy": {"value": 0.5}}}}), "19.ebm.accuracy.ci_low"),
        (json.dumps({"19": {"ebm": {"accuracy": ESTIMATE | {"n": "many"}}}}), "19.ebm.accuracy.n"),
    ],
)
def test_metrics_that_lack_an_estimate_are_refused_by_its_name(tmp_path, content, field):
    path = tmp_path / "intervals.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_metrics(path, "19")
    assert (error.value.place, error.value.field) == (str(path), field)
    assert "dvc repro" in error.value.remedy


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
