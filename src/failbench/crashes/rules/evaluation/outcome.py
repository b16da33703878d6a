"""How statements end."""

from __future__ import annotations

from dataclasses import dataclass, field

from failbench.crashes.rules.knowledge.values import Known, Value


@dataclass
class Outcome:
    """How a run of statements ended.

    Parameters
    ----------
    end
        ``next``, or ``return``, ``break``, ``continue``.
    value
        That was returned.
    maybe
        Values that may have been returned before; what follows them is not certain to be executed.
    """

    end: str = "next"
    value: Value = field(default_factory=lambda: Known(None))
    maybe: list[Value] = field(default_factory=list)
    is_doubtful: bool = False
