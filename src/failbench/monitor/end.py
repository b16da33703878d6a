"""End: how a run ended, as far as its log knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from failbench.monitor.signals import Phase

EndKind = Literal["completed", "exception", "out of memory", "killed", "hung", "running"]
"""``killed`` left no word of its own; ``hung`` still lives and has made no progress."""

OUT_OF_MEMORY: Final = ("OutOfMemoryError", "MemoryError", "ENOMEM")
"""Parts of the names of exceptions that say so themselves."""

OUT_OF_MEMORY_MESSAGES: Final = (  # parts, in lower case, of other exceptions, as RuntimeError
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "bad_alloc",
    "unable to mmap",
)


@dataclass(frozen=True)
class End:
    """The end of a run."""

    kind: EndKind
    phase: Phase
    step: int
    error: str = ""
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether the run ended before its loop did."""
        return self.kind not in ("completed", "running")


def end_of_error(error: BaseException, phase: Phase, step: int) -> End:
    """The end that an exception makes."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    message = str(error)
    memory = any(part in kind.__name__ for part in OUT_OF_MEMORY) or any(
        part in message.lower() for part in OUT_OF_MEMORY_MESSAGES
    )
    return End(
        "out of memory" if memory else "exception",
        phase,
        step,
        f"{module}{kind.__qualname__}",
        message[:500],
    )
