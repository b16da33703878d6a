"""Bounds of a setting, and which healthy runs each margin alarms."""

from __future__ import annotations

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.records.tables import (
    Monitored,
    monitored_of,
    monitored_row,
    signal_rows,
)
from monitor_bounds import GROUPS, MarginSettings, metrics, rates, setting_bounds

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


def test_the_smallest_margin_that_alarms_seldom_is_taken():
    fitted = {"gru-sgd": setting_bounds("gru-sgd", healthy(12), CHOICE, ())}
    assert [fitted["gru-sgd"].margins[name] for name in GROUPS] == [8.0, 8.0]
    bounds = fitted["gru-sgd"].bounds
    assert set(bounds) >= {"reads_not_blocked", "gradients_not_growing"}
    found = metrics(fitted, rates(fitted, CHOICE.confidence))["gru-sgd"]
    at_zero = found["training"]["0.0"]["any"]
    assert at_zero["n"] == 12
    assert at_zero["value"] > 0
    wide = found["machine"]["8.0"]["any"]
    assert (wide["value"], wide["ci_high"]) == (0, pytest.approx(0.2425, abs=1e-3))
    assert found["chosen"] == {"training": 8.0, "machine": 8.0, "runs": 12, "bounds": len(bounds)}


def test_a_setting_without_healthy_runs_is_refused_by_name():
    with pytest.raises(BadInputError, match="gru-sgd: has 1 completed"):
        setting_bounds("gru-sgd", healthy(1), CHOICE, ())
