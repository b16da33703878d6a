"""Progress of a campaign."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Progress:
    """Progress of a campaign, shown after every run."""

    planned: int
    done: int = 0
    kept: int = 0
    as_expected: int = 0
    rejected: list[str] = field(default_factory=list)
