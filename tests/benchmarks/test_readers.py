from __future__ import annotations

import json
from collections.abc import Iterable

from failbench.diagnose.readers.lines import lines_of
from failbench.diagnose.readers.text import read_text
from ratios import times_as_long

LINES = 20_000


def log_of(lines: int) -> list[bytes]:
    """A log in two forms, with words between them."""
    text = []
    for step in range(lines // 2):
        text.append(f"step {step} | loss {3 / (step + 1):.5f} | grad norm {1.5:.3f} | lr 1.0e-04")
        text.append(f"{{'loss': {3 / (step + 1):.5f}, 'learning_rate': 1e-4, 'step': {step}}}")
    return ["\n".join(text).encode()]


def read(chunks: Iterable[bytes]) -> None:
    assert len(read_text("-", chunks).rows)


def test_four_times_the_lines_take_about_four_times_as_long():
    small, large = log_of(LINES), log_of(4 * LINES)
    read(small)
    assert times_as_long(lambda: read(large), lambda: read(small), 7) <= 7


def test_a_log_costs_a_few_times_what_its_lines_cost_as_json():
    """A parser in C, told what each line is, is the yardstick."""
    chunks = log_of(LINES)
    records = [
        json.dumps({"step": step, "loss": 3.5, "grad_norm": 1.5, "lr": 1e-4})
        for step in range(LINES)
    ]

    def parse_and_split() -> None:
        for record in records:
            json.loads(record)
        for _ in lines_of(chunks):
            pass

    assert times_as_long(lambda: read(chunks), parse_and_split, 15) <= 15


def test_a_line_meant_to_be_slow_costs_no_more_than_lines_of_its_length():
    hostile = [("loss " * 1_999 + "\n").encode(), b"a" * 9_999 + b"\n", b"1," * 4_999 + b"\n"] * 20
    plain = [b"step 1 loss 2.5 lr 1.0e-04 grad norm 1.5\n" * 250] * 60
    assert times_as_long(lambda: read_text("-", hostile), lambda: read_text("-", plain), 20) <= 20
