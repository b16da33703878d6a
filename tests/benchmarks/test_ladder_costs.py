"""What each rung of the monitor's ladder costs: the same training without a monitor is 1.

``make monitor-cost`` writes what was measured to data/monitor/cost.csv, which the study shows.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

torch = pytest.importorskip("torch")

from failbench.monitor import Monitor, Vocabulary  # noqa: E402
from failbench.monitor.invariants import CATALOGUE  # noqa: E402
from failbench.monitor.memory import MOST_SHARE  # noqa: E402
from failbench.monitor.records.scoring import COST_SCHEMA, LADDER, speaking  # noqa: E402
from failbench.monitor.signals import SIGNALS  # noqa: E402
from test_monitor_costs import EVERY, LEARNT, TOKENS, rows_for, seconds_of_steps  # noqa: E402

pytestmark = pytest.mark.cost

STEPS = (0.03, 0.1)
"""Seconds of a step: about that of the recorder's, and one that is long enough for most."""

ROUNDS = 5


def signals_by_rung():
    """What is measured on each rung: what its invariants speak of and what they presume."""
    rungs = {}
    for name, invariants in speaking(CATALOGUE).items():
        read = {each.signal for each in invariants} | {each.presumes for each in invariants}
        rungs[name] = read & {signal.name for signal in SIGNALS}
    return rungs


def test_cost_of_each_rung_of_the_ladder(tmp_path, record_property):
    """Rounds take turns; of each step from one check to the next, the fastest counts."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    rungs, rows = signals_by_rung(), []
    for wanted in STEPS:
        size = rows_for(wanted)
        rounds = {name: [] for name in ("none", *rungs)}
        for number in range(ROUNDS):
            for name, taken in rounds.items():
                if name == "none":
                    taken.append(seconds_of_steps(size, LEARNT + EVERY)[-EVERY:])
                    continue
                folder = tmp_path / f"{wanted}-{name}-{number}"
                with Monitor(folder, "full", EVERY, Vocabulary(TOKENS, 0, 1)) as monitor:
                    monitor._guard.off |= {each.name for each in SIGNALS} - rungs[name]
                    steps = seconds_of_steps(size, LEARNT + EVERY, monitor)
                taken.append(steps[-EVERY:])
        seconds = {
            name: sum(map(min, zip(*taken, strict=True))) / EVERY for name, taken in rounds.items()
        }
        for name, signals in rungs.items():
            # Tensors are counted so seldom that it is rarely among these steps: its bound is added.
            counted = MOST_SHARE if "live_tensors" in signals else 0.0
            ratio = seconds[name] / seconds["none"] + counted
            rows.append((name, 1000 * wanted, 1000 * seconds["none"], ratio))
            record_property(f"{name} {wanted}", ratio)
    torch.set_num_threads(threads)
    cost = pl.DataFrame(rows, schema=COST_SCHEMA, orient="row")
    print(cost)
    if path := os.environ.get("MONITOR_COST"):
        cost.with_columns(pl.col(pl.Float64).round(4)).write_csv(Path(path))
    assert set(cost["rung"]) == {rung.name for rung in LADDER}
    assert cost["ratio"].max() < 3, "a monitor that triples a run is none to keep on"
