"""The monitor: what must hold in healthy training, measured while a loop runs.

A log is read without torch, which is imported when :class:`Monitor` is asked for, and so is each
library whose callback is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from failbench.monitor.history import read_history
from failbench.monitor.vocabulary import Vocabulary

if TYPE_CHECKING:
    from failbench.monitor.integrations.lightning import LightningCallback
    from failbench.monitor.integrations.transformers import TransformersCallback
    from failbench.monitor.monitor import Monitor

__all__ = ["LightningCallback", "Monitor", "TransformersCallback", "Vocabulary", "read_history"]

_LATER: Final = {
    "LightningCallback": "failbench.monitor.integrations.lightning",
    "Monitor": "failbench.monitor.monitor",
    "TransformersCallback": "failbench.monitor.integrations.transformers",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
