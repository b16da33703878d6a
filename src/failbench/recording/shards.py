"""Shards: disjoint parts of a plan, to be recorded apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from failbench.base.errors import BadInputError

Unit = TypeVar("Unit")


@dataclass(frozen=True)
class Shard:
    """One of the parts of a plan, counted from one."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``I/N``, as in 2/4."""
        numbers = re.fullmatch(r"(\d+)/(\d+)", text)
        shard = cls(int(numbers[1]), int(numbers[2])) if numbers else None
        if shard is None or not 1 <= shard.number <= shard.count:
            raise BadInputError(
                "command line",
                "--shard",
                f"{text!r} is no part of a plan.",
                "Give its number and how many there are, from 1/4 to 4/4 say.",
            )
        return shard

    def part(self, units: Sequence[Unit]) -> list[Unit]:
        """Every ``count``-th unit, from the ``number``-th on.

        The order of a plan is drawn, so that no shard has more of one category.
        """
        return list(units[self.number - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE = Shard(1, 1)
"""The whole plan."""
