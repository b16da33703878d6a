"""What a monitor costs within its budget: the same training without a monitor is 1.

The two take turns in one process, block of steps by block, and the processor time of the training
thread counts, so that other work on the machine changes little. ``make monitor-cost`` writes what
was measured to data/monitor/budget.csv, and what each measurement takes to
data/monitor/measurements.csv, from which the study makes its schedules.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

torch = pytest.importorskip("torch")

from failbench.monitor import Monitor, Vocabulary, budget  # noqa: E402
from test_ladder_costs import EVERY, LAYERS, TOKENS, WIDTH, rows_for, training  # noqa: E402

pytestmark = pytest.mark.cost

LOOPS = {  # seconds of a step: width and layers, steps until the budget has settled, and after
    0.005: ((64, 2), 700, 600),
    0.02: ((WIDTH, LAYERS), 400, 300),
    0.1: ((WIDTH, LAYERS), 250, 150),
    1.0: ((WIDTH, LAYERS), 20, 50),
}
BLOCK = 10
PROCESSES = 3


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.delenv(budget.OFF, raising=False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Turns:
    """Loops that take turns, and the processor time of each one's own blocks."""

    def __init__(self, monitors, rows, steps, size):
        self.loops = {name: training(rows, steps, each, size) for name, each in monitors.items()}
        for loop in self.loops.values():
            next(loop)
        self.blocks = {name: [] for name in monitors}
        self.own = 0.0  # of the loop with a budget, to which the others' time does not exist
        self.started = None

    def now(self):
        return self.own + (0.0 if self.started is None else time.thread_time() - self.started)

    def run(self, number):
        for name in [*self.loops] if number % 2 else [*self.loops][::-1]:
            started = time.thread_time()
            self.started = started if name == "within" else None
            for _ in range(BLOCK):
                next(self.loops[name])
            passed = time.thread_time() - started
            self.own, self.started = self.now(), None
            self.blocks[name].append(passed)


def measured(folder, wanted):
    """Ratios of a loop, and the seconds of each measurement."""
    size, settling, settled = LOOPS[wanted]
    rows, steps = rows_for(wanted, size), settling + settled
    vocabulary = Vocabulary(TOKENS, 0, 1)
    with (
        Monitor(folder / "within", "standard", EVERY, vocabulary) as within,
        Monitor(folder / "without", "standard", EVERY, vocabulary, budget=None) as without,
    ):
        turns = Turns({"none": None, "within": within, "without": without}, rows, steps, size)
        within._budget.now = turns.now
        for number in range(steps // BLOCK):
            turns.run(number)
        costs = within._budget.costs()
    last = {name: sum(blocks[settling // BLOCK :]) for name, blocks in turns.blocks.items()}
    whole = {name: sum(blocks) for name, blocks in turns.blocks.items()}
    row = {
        "nominal_milliseconds": 1000 * wanted,
        "milliseconds": 1000 * last["none"] / settled,
        "steps": steps,
        "ratio": last["within"] / last["none"],
        "ratio_from_start": whole["within"] / whole["none"],
        "ratio_without_budget": last["without"] / last["none"],
        "memory_ratio": memory_ratio(folder, rows, size),
    }
    return row, costs


CHILD = """
import sys
sys.path[:0] = {paths}
from pathlib import Path
from failbench.monitor import Monitor, Vocabulary
from test_ladder_costs import TOKENS, seconds_of_steps
kind, folder = sys.argv[-2:]
monitor = Monitor(folder, vocabulary=Vocabulary(TOKENS, 0, 1)) if kind == "within" else None
seconds_of_steps({rows}, 25, monitor, {size})
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def memory_ratio(folder, rows, size):
    """Medians of the most memory of processes, with a monitor and without, in turn."""
    paths = [str(Path(__file__).parent), *sys.path]
    code = CHILD.format(paths=paths, rows=rows, size=size)
    peaks = {"none": [], "within": []}
    for number in range(PROCESSES):
        for kind, found in peaks.items():
            command = [sys.executable, "-c", code, kind, str(folder / f"memory-{kind}-{number}")]
            told = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append(int(told.stdout))
    return statistics.median(peaks["within"]) / statistics.median(peaks["none"])


def test_cost_within_the_budget(tmp_path, record_property):
    rows, costs = [], []
    for wanted in LOOPS:
        row, of_measurements = measured(tmp_path / f"{wanted}", wanted)
        rows.append(row)
        for name, seconds in of_measurements.items():
            costs.append((row["nominal_milliseconds"], name, 1e6 * seconds))
        record_property(f"{wanted}", row["ratio"])
    found = pl.DataFrame(rows)
    print(found)
    if path := os.environ.get("MONITOR_BUDGET"):
        found.with_columns(pl.col(pl.Float64).round(4)).write_csv(Path(path) / "budget.csv")
        names = ["nominal_milliseconds", "measurement", "microseconds"]
        table = pl.DataFrame(costs, names, orient="row").with_columns(
            pl.col("microseconds").round(1)
        )
        table.write_csv(Path(path) / "measurements.csv")
    assert found["ratio"].max() < 1 + 5 * budget.SHARE, "a budget that is not kept is none"
