"""What a diagnosis costs beside reading the log, as ratios within one run."""

from __future__ import annotations

from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.text import read_text
from ratios import times_as_long

LINES = 20_000


def log_of(lines: int) -> list[bytes]:
    rows = (
        f"step {step} | loss {3 + 100 / (step + 1):.5f} | grad norm {1 + step % 7 / 10:.3f} "
        f"| lr 1.0e-04 | mem 12.5 GiB"
        for step in range(lines)
    )
    return ["\n".join(rows).encode()]


def read(lines: int) -> Log:
    return read_text("-", log_of(lines))


def test_a_diagnosis_costs_less_than_reading_the_log():
    chunks = log_of(5 * LINES)
    log = read_text("-", chunks)
    diagnosis_of(log)  # the model and the catalogues are read once
    assert times_as_long(lambda: diagnosis_of(log), lambda: read_text("-", chunks), 1) <= 1


def test_four_times_the_rows_take_about_four_times_as_long():
    small, large = read(LINES), read(4 * LINES)
    diagnosis_of(small)
    assert times_as_long(lambda: diagnosis_of(large), lambda: diagnosis_of(small), 7) <= 7
