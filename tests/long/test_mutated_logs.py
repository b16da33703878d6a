"""No log, however mangled, is more than bad input, takes long, or is answered with a NaN.

Seeds are consoles of the field's development and renderings of the benchmark's formats.
"""

import json
import math
import operator
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.outputs.document import document_of, json_of
from failbench.diagnose.readers.opening import read_log
from failbench.diagnose.subject import is_training_log
from failbench.neighbours.rendering.formats import FORMATS, rendered
from failbench.neighbours.rendering.run import complete_shape
from made_up_logs import made_up_run

FIELD = Path(__file__).parents[2] / "data/field/development"
LARGEST = 4_000  # bytes of a seed
DIAGNOSED = 8  # of so many logs one is diagnosed too
SLOW, FIXED = 20, 4_000  # times the median per byte, and bytes that reading any log costs
CONTROLS = [
    b"\x1b[31m",
    b"\x1b]0;",
    b"\x1b",
    b"\0",
    b"\x07",
    b"\x08",
    b"\xe2\x80\xae",
    b"\xff",
    b"\r",
]
VALUES = [
    "nan",
    "-inf",
    "1e999",
    "-0",
    "9" * 70,
    "1,5",
    "1.234,5",
    "٣",
    "３.５",
    "1e-400",
    "0x1f",
    "½",
]
UNITS = [
    " ",
    "a.",
    "(",
    "{'a': ",
    "loss=",
    "1,",
    "1.",
    "| ",
    "│",
    "/",
    "\\n",
    "--",
    "[[",
    "'",
    "E ",
    "=",
]


def seeds():
    found = [path.read_bytes() for path in sorted(FIELD.glob("*/*/*/console.txt"))]
    rng = np.random.default_rng(0)
    for form in FORMATS:
        run = made_up_run("exception", 12)
        found += rendered(run, form, complete_shape(form), rng).values()
    return [data[:LARGEST] for data in found if data]


def some(rng, count):
    return int(rng.integers(max(1, count)))


def with_lines(change):
    """A change of the list of lines, as one of bytes."""

    def changed(rng, data, other):
        lines = data.splitlines(keepends=True) or [b"\n"]
        return b"".join(change(rng, lines, other.splitlines(keepends=True)))

    return changed


def cut(rng, data, _):
    start = some(rng, len(data)) if rng.random() < 0.3 else 0
    return data[start : start + some(rng, len(data))]


def flip(rng, data, _):
    changed = bytearray(data or b"x")
    for _ in range(1 + some(rng, 20)):
        changed[some(rng, len(changed))] ^= 1 << some(rng, 8)
    return bytes(changed)


def control(rng, data, _):
    for _ in range(1 + some(rng, 12)):
        at = some(rng, len(data))
        data = data[:at] + CONTROLS[some(rng, len(CONTROLS))] + data[at:]
    return data


def value(rng, data, _):
    words = data.decode(errors="replace").split(" ")
    numbers = [place for place, word in enumerate(words) if any(map(str.isdigit, word))]
    for _ in range(1 + some(rng, 8)):
        if numbers:
            words[numbers[some(rng, len(numbers))]] = VALUES[some(rng, len(VALUES))]
    return " ".join(words).encode()


def long_line(rng, data, _):
    at, unit = some(rng, len(data)), UNITS[some(rng, len(UNITS))].encode()
    if rng.random() < 0.3:
        unit = data[at : at + 1 + some(rng, 30)].replace(b"\n", b" ") or unit
    return data[:at] + unit * (1 + some(rng, 12_000) // len(unit)) + data[at:]


def encode(rng, data, _):
    name = ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1251", "cp500", "utf-7"][some(rng, 7)]
    return data.decode(errors="replace").encode(name, errors="replace")


def nest(rng, lines, other):
    """Lines between tracebacks that do not end and an exception whose message is another text."""
    frames = [b"Traceback (most recent call last):\n", b'  File "a.py", line 3, in f\n']
    return [*frames * (1 + some(rng, 60)), *lines, b"ValueError: ", *other[:3]]


MUTATIONS = [
    cut, flip, control, value, long_line, encode,
    lambda rng, data, other: data.replace(b".", b","),
    lambda rng, data, other: data.replace(b"\n", [b"\r", b"\r\n", b"\n\n", b""][some(rng, 4)]),
    lambda rng, data, other: data + other,
    with_lines(nest),
    with_lines(lambda rng, lines, other: [line for line in lines if rng.random() < 0.7]),
    with_lines(lambda rng, lines, other: [line for line in lines for _ in range(1 + some(rng, 3))]),
    with_lines(lambda rng, lines, other: [lines[place] for place in rng.permutation(len(lines))]),
    with_lines(lambda rng, lines, other: [b"[rank%d]: " % some(rng, 4) + line for line in lines]),
    with_lines(lambda rng, lines, other: map(operator.add, lines, other)),
]  # fmt: skip


def mutated(rng, texts):
    data, other = (texts[some(rng, len(texts))] for _ in range(2))
    for place in rng.integers(len(MUTATIONS), size=1 + some(rng, 3)):
        data = MUTATIONS[place](rng, data, other)
    return data


def seconds_of(path):
    """How long reading takes, of the processor's time, and what was read, if anything."""
    begun = process_time()
    try:
        log = read_log(path)
    except BadInputError:
        log = None
    return process_time() - begun, log


@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_mutated_logs_are_read_and_diagnosed_or_refused(tmp_path, count):
    rng, texts = np.random.default_rng(29), seeds()
    path, slow = tmp_path / "train.log", tmp_path / "slow"
    slow.mkdir()
    speeds = []
    for place in range(count):
        data = mutated(rng, texts)
        path.write_bytes(data)
        seconds, log = seconds_of(path)
        speeds.append(seconds / (len(data) + FIXED))
        if speeds[-1] > SLOW / 2 * np.median(speeds[-200:]):
            (slow / str(place)).write_bytes(data)
        if log is not None and not log.is_empty and place % DIAGNOSED == 0:
            assert is_training_log(log) in (True, False)
            found = diagnosis_of(log, failed=bool(rng.integers(2)))
            assert math.isclose(sum(found.categories.values()), 1.0)
            shares = [each.confidence for each in found.hypotheses]
            assert all(0 <= share <= 1 for share in [found.confidence, *shares]), shares
            json.loads(json_of(document_of(found)), parse_constant=pytest.fail)
    bound = SLOW * np.median(speeds)
    for each in slow.iterdir():  # what was slow once may have waited for something else
        speed = min(seconds_of(each)[0] for _ in range(3)) / (each.stat().st_size + FIXED)
        assert speed < bound, each.read_bytes()[:2_000]
