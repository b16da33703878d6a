"""What a monitor and each rung of its ladder cost: the same training without a monitor is 1.

``make monitor-cost`` writes what was measured to data/monitor/cost.csv, which the study shows.
"""

import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import product
from pathlib import Path

import polars as pl
import pytest

torch = pytest.importorskip("torch")

from failbench.monitor import Monitor, Vocabulary  # noqa: E402
from failbench.monitor.invariants import CATALOGUE  # noqa: E402
from failbench.monitor.memory import MOST_SHARE  # noqa: E402
from failbench.monitor.records.scoring import COST_SCHEMA, LADDER, speaking  # noqa: E402
from failbench.monitor.signals import SIGNALS  # noqa: E402

pytestmark = pytest.mark.cost

TOKENS, WIDTH, LAYERS, POSITIONS, EVERY = 512, 128, 4, 64, 10
LEARNT = 20
"""Batches after which all that a batch is compared with is known."""

STEPS = (0.03, 0.1)
"""Seconds of a step: about that of the recorder's, and one that is long enough for most."""

ROUNDS = 5


class Model(torch.nn.Module):
    def __init__(self, width=WIDTH, layers=LAYERS) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(TOKENS, width)
        self.positions = torch.nn.Embedding(POSITIONS, width)
        layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.output = torch.nn.Linear(width, TOKENS)

    def forward(self, ids):
        length = ids.shape[1]
        hidden = self.tokens(ids) + self.positions(torch.arange(length))
        mask = torch.nn.Transformer.generate_square_subsequent_mask(length)
        return self.output(self.layers(hidden, mask, is_causal=True))


def training(rows, steps, monitor=None, size=()):
    """Train a model of a size; yield after each step."""
    torch.manual_seed(0)
    model = Model(*size)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    if monitor is not None:
        monitor.watch(model, optimizer)
    batches = [torch.randint(2, TOKENS, (rows, POSITIONS)) for _ in range(steps)]
    yield
    for batch in batches if monitor is None else monitor.data(batches):
        ids, labels = batch[:, :-1], batch[:, 1:]
        logits = model(ids)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        if monitor is not None:
            monitor.loss(logits, labels, loss)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        yield


def seconds_of_steps(rows, steps, monitor=None, size=()):
    trained = training(rows, steps, monitor, size)
    next(trained)
    seconds, started = [], time.perf_counter()
    for _ in trained:
        seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
    return seconds


def rows_for(seconds, size=()):
    """Rows of a batch whose step takes about so long."""
    rows = 1
    while rows < 512 and min(seconds_of_steps(rows, 3, size=size)) < seconds:
        rows = max(rows + 1, int(rows * 1.25))
    return rows


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@contextmanager
def watching(folder, level="full", signals=None):
    with Monitor(folder, level, EVERY, Vocabulary(TOKENS, 0, 1), budget=None) as monitor:
        if signals is not None:
            monitor._guard.off |= {each.name for each in SIGNALS} - signals
        yield monitor


@pytest.fixture
def fastest(tmp_path):
    """Seconds of a step, by monitor: of rounds that take turns, the fastest of each step counts."""

    def measured(seconds, **monitors):
        rows, monitors = rows_for(seconds), {"none": lambda _: nullcontext(), **monitors}
        rounds = {name: [] for name in monitors}
        for number, (name, monitored) in product(range(ROUNDS), monitors.items()):
            with monitored(tmp_path / f"{seconds}-{name}-{number}") as monitor:
                rounds[name].append(seconds_of_steps(rows, LEARNT + EVERY, monitor)[-EVERY:])
        steps = {name: map(min, zip(*taken, strict=True)) for name, taken in rounds.items()}
        return {name: sum(fastest) / EVERY for name, fastest in steps.items()}

    return measured


@pytest.mark.parametrize(
    ("level", "step", "most"),
    [("light", 0.1, 1.05), ("standard", 0.1, 1.15), ("light", 0.03, 1.3), ("standard", 0.03, 1.3)],
)
def test_a_monitor_takes_a_small_part_of_the_time(fastest, record_property, level, step, most):
    seconds = fastest(step, monitored=partial(watching, level=level))
    # Tensors are counted so seldom that it is rarely among these steps: its bound is added.
    ratio = seconds["monitored"] / seconds["none"] + (0 if level == "light" else MOST_SHARE)
    record_property("ratio", ratio)
    print(f"{level}, steps of {1000 * seconds['none']:.0f} ms: {ratio:.3f}")
    assert ratio <= most


def signals_by_rung():
    """What is measured on each rung: what its invariants speak of and what they presume."""
    rungs = {}
    for name, invariants in speaking(CATALOGUE).items():
        read = {each.signal for each in invariants} | {each.presumes for each in invariants}
        rungs[name] = read & {signal.name for signal in SIGNALS}
    return rungs


def test_cost_of_each_rung_of_the_ladder(fastest, record_property):
    rungs, rows = signals_by_rung(), []
    monitors = {name: partial(watching, signals=signals) for name, signals in rungs.items()}
    for wanted in STEPS:
        seconds = fastest(wanted, **monitors)
        for name, signals in rungs.items():
            counted = MOST_SHARE if "live_tensors" in signals else 0.0
            ratio = seconds[name] / seconds["none"] + counted
            rows.append((name, 1000 * wanted, 1000 * seconds["none"], ratio))
            record_property(f"{name} {wanted}", ratio)
    cost = pl.DataFrame(rows, schema=COST_SCHEMA, orient="row")
    print(cost)
    if path := os.environ.get("MONITOR_COST"):
        cost.with_columns(pl.col(pl.Float64).round(4)).write_csv(Path(path))
    assert set(cost["rung"]) == {rung.name for rung in LADDER}
    assert cost["ratio"].max() < 3, "a monitor that triples a run is none to keep on"


CHILD = """
import sys
sys.path[:0] = {paths}
from pathlib import Path
from failbench.monitor import Monitor, Vocabulary
from test_ladder_costs import TOKENS, seconds_of_steps
level, folder = sys.argv[-2:]
monitor = None
if level != "none":
    monitor = Monitor(folder, level, vocabulary=Vocabulary(TOKENS, 0, 1), budget=None)
seconds_of_steps(64, 25, monitor)
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""
LEVELS = ("none", "light", "standard", "full")
PROCESSES = 5
"""Processes per level: the heap of one grows by some per cent more or less from run to run."""


def peak_kib(level, folder):
    paths = [str(Path(__file__).parent), *sys.path]
    command = [sys.executable, "-c", CHILD.format(paths=paths), level, folder]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_a_monitor_takes_at_most_a_twentieth_of_the_memory(tmp_path, record_property):
    """Medians of processes, one of each level in turn."""
    peaks = {level: [] for level in LEVELS}
    for number in range(PROCESSES):
        for level in LEVELS:
            peaks[level].append(peak_kib(level, tmp_path / f"{level}-{number}"))
    medians = {level: statistics.median(measured) for level, measured in peaks.items()}
    for level in LEVELS:
        record_property(level, medians[level] / medians["none"])
    assert max(medians.values()) <= 1.05 * medians["none"]
