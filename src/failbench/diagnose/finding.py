"""Finding: something in a log that speaks for a cause, with the place where it can be checked."""

from dataclasses import dataclass
from typing import Literal

from failbench.causes.support import Strength

# a known message, where an error was raised, a value that misleads, the size of a block that
# memory had no room for, a check of a signal, an invariant of the monitor, how the run ended, a
# value of the configuration, a line of code
FindingKind = Literal[
    "message", "place", "trap", "allocation", "check", "invariant", "ending", "setting", "code",
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
