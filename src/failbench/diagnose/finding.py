"""Finding: something in a log that speaks for a cause, and the place where it can be checked."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from failbench.causes.support import Strength
from failbench.diagnose.readers.log import Log

# a known message, where an error was raised, a value that misleads, the size of a block that
# memory had no room for, a check of a signal, where a curve parts from that of a run that worked,
# an invariant of the monitor, how the run ended, a value of the configuration, a line of code,
# where a rank parts from the others
FindingKind = Literal[
    "message", "place", "trap", "allocation", "check", "parting", "invariant", "ending", "setting",
    "code", "rank",
]  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One item of evidence.

    Attributes
    ----------
    id
        Of the message, check, invariant, ...: the same for all logs.
    kind
        What it is.
    strength
        How much it says by itself.
    statement
        What was found, as a sentence with its numbers.
    source
        Name of the file it was found in.
    line
        Its line, counted from 1; None where the format has no lines.
    step
        Its training step; None where the log says none.
    signal
        What the value is of: a signal of the log or of the monitor; empty where there is none.
    value
        What was found; None where it is words.
    relation
        How the value stands to the threshold: ``above``, ``below``, ``equals``; empty without one.
    threshold
        What it was held against; None where it is words.
    quote
        The words of the log, as they stand there, cut to 300 letters; empty where it is a number.
    causes
        Causes it speaks for, the most likely first.
    """

    id: str
    kind: FindingKind
    strength: Strength
    statement: str
    source: str
    line: int | None
    step: int | None
    signal: str = ""
    value: float | None = None
    relation: str = ""
    threshold: float | None = None
    quote: str = ""
    causes: tuple[str, ...] = ()


# relative distance of a value from the number in its line: what six printed digits may lose
CLOSE: Final = 1e-3
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_WORD: Final = re.compile(r"\w+")
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_UNITS: Final = (1.0, 1e3, 1e6, 1e9, 2.0**10, 2.0**20, 2.0**30)
_WORDS: Final = 8  # words of a quote that are looked up


def look_up(finding: Finding, log: Log, files: Mapping[str, bytes]) -> tuple[str, bool]:
    """A finding's ``line``, ``step``, or ``course`` of a series, and whether it is there."""
    if "," in finding.signal:
        return "course", True
    content = next((text for name, text in files.items() if name.endswith(finding.source)), b"")
    written = content.decode("utf-8", errors="replace")
    if finding.quote:
        text = " ".join(_ESCAPE.sub("", written).splitlines())
        words = _WORD.findall(finding.quote)[:_WORDS]
        return "line", finding.line is not None and all(word in text for word in words)
    if finding.line is not None and finding.value is not None:
        line = _THOUSANDS.sub("", written.split("\n")[finding.line - 1])
        return "line", any(_same(finding.value, number) for number in _NUMBER.findall(line))
    return "line" if finding.line is not None else "step", _is_row(finding, log)


def _same(value: float, text: str) -> bool:
    number = float(text)
    if math.isnan(value) or math.isnan(number):
        return math.isnan(value) and math.isnan(number)
    if math.isinf(value):
        return value == number
    alike = (number * unit for unit in _UNITS)
    return any(math.isclose(value, each, rel_tol=CLOSE, abs_tol=1e-12) for each in alike) or (
        number > 0 and math.isclose(value, math.log(number), rel_tol=CLOSE)  # of a perplexity
    )


def _is_row(finding: Finding, log: Log) -> bool:
    """Whether a row of the log is at the finding's place, with its value where it has one."""
    at = np.ones(len(log.rows), dtype=bool)
    if finding.line is not None:
        at &= log.rows.line == finding.line
    if finding.step is not None:
        at &= log.rows.step == finding.step
    if finding.value is None or not finding.signal:
        return bool(at.any())
    signal = "loss" if finding.signal == "validation_loss" else finding.signal
    values = log.rows[signal][at & log.rows.has(signal)].tolist()
    return any(_same(finding.value, repr(each)) for each in values)
