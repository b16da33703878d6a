"""The log of failbench's own monitor, of which rows hold the signals that other logs have too."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from failbench.diagnose.readers.log import Event, EventKind, Log, Source
from failbench.diagnose.readers.names import Meaning
from failbench.diagnose.readers.rows import Rows
from failbench.monitor.end import End
from failbench.monitor.history import History, read_history
from failbench.monitor.log import LINES

FILE: Final = LINES
"""By which a folder is known as a monitor's."""

_SIGNALS: Final = {
    "loss": Meaning("loss", "train"),
    "gradient_norm": Meaning("grad_norm", "train"),
    "learning_rate": Meaning("learning_rate", "train"),
    "memory": Meaning("memory", "train"),
    "evaluation_loss": Meaning("loss", "validation"),
}
"""What a monitor calls the signals of a row."""

_KINDS: Final[dict[str, EventKind]] = {
    "exception": "exception",
    "out of memory": "exception",
    "killed": "death",
    "hung": "death",
}


def read_monitor_log(name: str, folder: Path) -> Log:
    """Read the log in a folder."""
    return log_of_history(name, read_history(folder))


def log_of_history(name: str, history: History) -> Log:
    """The normal form of what a monitor measured."""
    rows = Rows()
    for row in history.rows:
        values = [
            (_SIGNALS[signal], value) for signal, value in row.values.items() if signal in _SIGNALS
        ]
        rows.add(None, [(Meaning("step"), float(row.step)), *values])
    notes = tuple(f"{signal} was not measured: {why}" for signal, why in history.off.items())
    table = rows.table()
    source = Source(name, "monitor", table.height, notes)
    return Log((source,), table, _events(history.end), history)


def _events(end: End) -> tuple[Event, ...]:
    """How the run ended, if it failed."""
    if not end.failed:
        return ()
    words = end.message or f"The run was {end.kind} in the phase {end.phase} of step {end.step}."
    return (Event(_KINDS[end.kind], 0, 0, end.error, words),)
