"""The margins study: rates of held-out healthy runs, and the stage that fits a setting's bounds."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.monitor.bounds import read_bounds
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE
from failbench.monitored.tables import (
    Monitored,
    monitored_of,
    monitored_row,
    signal_rows,
    write_monitored,
)
from failbench.studies.monitor.halves import HALF_SCHEMA
from failbench.studies.monitor.margins import GROUPS, MarginSettings, margins_report, setting_bounds
from pipeline import REPOSITORY

CHOICE = MarginSettings(margins=(0.0, 8.0), most_alarmed=0.01, confidence=0.95)


def healthy(n: int) -> Monitored:
    """Healthy runs whose reading and gradients vary, from one to the next too."""
    generator = np.random.default_rng(1)
    of_run = {"kind": "success", "architecture": "gru", "optimizer": "sgd", "scale": "small"}
    rows = []
    for run in range(n):
        values = generator.lognormal(generator.normal(0, 0.3), 0.2, (60, 2))
        steps = tuple(
            Row(step, {"blocked_data": float(blocked), "gradient_norm": float(norm)})
            for step, (blocked, norm) in enumerate(values)
        )
        history = History("standard", 1, {}, {}, steps, End("completed", "callback", 59))
        rows.append((monitored_row(history, {**of_run, "run_id": f"s{run}"}), signal_rows(history)))
    return monitored_of(rows)


def exploding(runs: Monitored, kind: str, scenario: str) -> Monitored:
    """The same runs under other names, with gradients that nothing healthy comes near."""
    name = pl.lit(f"{kind}-{scenario}-") + pl.col("run_id")
    return Monitored(
        runs.runs.with_columns(
            run_id=name, kind=pl.lit(kind), scenario=pl.lit(scenario, pl.String)
        ),
        runs.signals.with_columns(
            run_id=name,
            gradient_norm=pl.when(pl.col("step") < 30)
            .then("gradient_norm")
            .otherwise(pl.lit(1e6, pl.Float32)),
        ),
    )


def test_the_report_says_what_each_margin_alarms_and_which_is_taken():
    fitted = setting_bounds("gru-sgd", healthy(12), CHOICE, ())
    report = margins_report({"gru-sgd": fitted}, CHOICE)
    assert [fitted.groups[name].margin for name in GROUPS] == [8.0, 8.0]
    assert set(fitted.bounds) >= {"reads_not_blocked", "gradients_not_growing"}
    at_zero = report.metrics["gru-sgd"]["training"]["0.0"]["any"]
    assert at_zero["n"] == 12
    assert at_zero["value"] > 0
    wide = report.metrics["gru-sgd"]["machine"]["8.0"]["any"]
    assert (wide["value"], wide["ci_high"]) == (0, pytest.approx(0.2425, abs=1e-3))
    assert report.metrics["gru-sgd"]["chosen"] == {
        "training": 8.0,
        "machine": 8.0,
        "runs": 12,
        "bounds": len(fitted.bounds),
    }
    (table,) = report.tables
    assert [row[-1] for row in table.rows] == ["", "taken"] * 2


def test_a_margin_that_alarms_too_often_is_marked():
    choice = CHOICE.model_copy(update={"margins": (0.0,)})
    report = margins_report({"x": setting_bounds("x", healthy(12), choice, ())}, choice)
    assert report.tables[0].rows[0][-1] == "taken †"


def test_a_setting_without_healthy_runs_is_refused_by_name():
    with pytest.raises(BadInputError, match="gru-sgd: has 1 completed"):
        setting_bounds("gru-sgd", healthy(1), CHOICE, ())


def test_the_stage_writes_bounds_that_can_be_read_and_the_same_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(REPOSITORY / "params.yaml", tmp_path)
    (tmp_path / "figures").mkdir()
    shutil.copy(REPOSITORY / "figures/matplotlibrc", tmp_path / "figures")
    runs = healthy(6)
    write_monitored(Path("data/monitor"), "gru-sgd", runs)
    stage = str(REPOSITORY / "experiments/monitor_bounds.py")
    halves = pl.DataFrame(
        [("seen", "unknown", "development"), ("unseen", "unknown", "test")],
        schema=HALF_SCHEMA,
        orient="row",
    )
    halves.write_csv("data/monitor/halves.csv")
    runpy.run_path(stage, run_name="__main__")
    path = Path("data/monitor/bounds/gru-sgd.json")
    written = path.read_bytes()
    stored = read_bounds(path, CATALOGUE)
    assert stored.runs == 6
    assert stored.fitted_on.startswith("completed successes of gru-sgd, margins ")
    assert json.loads(Path("data/metrics/monitor_bounds.json").read_text("utf-8"))["gru-sgd"]
    for kind, scenario in (("failure", "seen"), ("twin", "unseen")):
        write_monitored(Path("data/monitor"), "gru-sgd", exploding(runs, kind, scenario))
        runpy.run_path(stage, run_name="__main__")
        assert path.read_bytes() == written, f"runs of kind {kind} of {scenario} moved the bounds"
    write_monitored(Path("data/monitor"), "gru-sgd", exploding(runs, "twin", "seen"))
    runpy.run_path(stage, run_name="__main__")
    assert "4 (training)" in read_bounds(path, CATALOGUE).fitted_on, "no margin holds of these"
