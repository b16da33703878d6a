"""What a diagnosis costs beside reading the log, as ratios within one run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from failbench.diagnose.diagnosis import diagnosis_of
from failbench.readers.log import Log
from failbench.readers.text import read_text

LINES = 20_000


def log_of(lines: int) -> list[bytes]:
    rows = (
        f"step {step} | loss {3 + 100 / (step + 1):.5f} | grad norm {1 + step % 7 / 10:.3f} "
        f"| lr 1.0e-04 | mem 12.5 GiB"
        for step in range(lines)
    )
    return ["\n".join(rows).encode()]


def cpu_seconds(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started


def read(lines: int) -> Log:
    return read_text("-", log_of(lines))


def test_a_diagnosis_costs_less_than_reading_the_log():
    chunks = log_of(5 * LINES)
    log = read_text("-", chunks)
    diagnosis_of(log)  # the model and the catalogues are read once
    reading = min(cpu_seconds(lambda: read_text("-", chunks)) for _ in range(2))
    assert min(cpu_seconds(lambda: diagnosis_of(log)) for _ in range(2)) <= reading


def test_four_times_the_rows_take_about_four_times_as_long():
    small, large = read(LINES), read(4 * LINES)
    diagnosis_of(small)
    seconds = min(cpu_seconds(lambda: diagnosis_of(small)) for _ in range(3))
    assert cpu_seconds(lambda: diagnosis_of(large)) <= 7 * seconds


def test_the_command_says_its_options_in_the_time_of_a_few_interpreters():
    def seconds(*arguments: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return time.perf_counter() - started

    empty = min(seconds("-c", "import argparse, json, pathlib") for _ in range(3))
    helped = min(seconds("-m", "failbench.cli", "diagnose", "--help") for _ in range(3))
    assert helped <= 12 * empty
