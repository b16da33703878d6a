"""A million runs are diagnosed in the memory that ten thousand take: `make million`."""

import shutil
import tempfile
from dataclasses import asdict
from functools import partial

import pytest

from cost_cases import stream_of_runs
from measured_child import Cost, MeasuredChild, can_measure

pytestmark = [
    pytest.mark.cost,
    pytest.mark.skipif(not can_measure(), reason="peak memory is read from Linux's /proc"),
]

RUNS = (10**4, 10**5, 10**6)
WARM_UP = 10**3

BYTES_A_RUN = 8_000
"""Of telemetry and diagnoses, compressed; a little more than they take."""

BOUNDED = 1.5
"""Times the memory of ten thousand runs: batches differ a little in what their runs hold."""


@pytest.fixture(scope="module")
def measured() -> dict[int, Cost]:
    return {}


@pytest.mark.parametrize("runs", RUNS)
def test_memory_does_not_grow_with_the_runs(benchmark, measured, runs):
    if shutil.disk_usage(tempfile.gettempdir()).free < runs * BYTES_A_RUN:
        pytest.skip(f"{runs} runs take {runs * BYTES_A_RUN / 1e9:.0f} GB of a disk")
    child = MeasuredChild(stream_of_runs, runs, WARM_UP)
    benchmark.group = "stream of runs"
    prepare = partial(child.prepare, "diagnose")
    cost = benchmark.pedantic(partial(child.do, "diagnose"), setup=prepare, rounds=1)
    child.close()
    measured[runs] = cost
    benchmark.extra_info.update(axis="runs", size=runs, **asdict(cost))
    assert RUNS[0] in measured, "Ten thousand runs are what the others are compared with."
    assert cost.peak_mib <= BOUNDED * measured[RUNS[0]].peak_mib
