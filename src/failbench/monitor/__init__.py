"""The monitor: what must hold in healthy training, measured while a loop runs.

A log is read without torch, which is imported when :class:`Monitor` is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from failbench.monitor.history import read_history
from failbench.monitor.vocabulary import Vocabulary

if TYPE_CHECKING:
    from failbench.monitor.monitor import Monitor

__all__ = ["Monitor", "Vocabulary", "read_history"]


def __getattr__(name: str) -> Any:
    if name == "Monitor":
        from failbench.monitor.monitor import Monitor

        return Monitor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
