"""What was tried and did not help, as it is declared: sentences that name metrics, and no number.

The grammar of what a sentence names is that of :mod:`failbench.study.captions`.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from failbench.base.records import Record
from failbench.study.captions import CONDITION, PLACEHOLDER

FEWEST: Final = 14
"""Entries; a shorter list leaves out something that was tried."""

TYPED: Final = re.compile(r"\d+\.\d+|\d+(?:\.\d+)?\s*(?:%|percent|points)")
"""A number that a metric should have given."""


def _without_numbers(text: str) -> str:
    typed = TYPED.search(PLACEHOLDER.sub("number", text))
    if typed is not None:
        raise ValueError(f"{typed.group()!r} is typed; name the metric that it comes from")
    return text


Title = Annotated[str, StringConstraints(min_length=5), AfterValidator(_without_numbers)]
Sentences = Annotated[str, StringConstraints(min_length=20), AfterValidator(_without_numbers)]
"""Texts in which no decimal, percentage or difference in points is typed."""


class NegativeResult(Record):
    """One thing that was tried and did not help; ``holds`` is what its sentences claim."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
    title: Title
    tried: Sentences
    expected: Sentences
    measured: Sentences
    concluded: Sentences
    holds: tuple[str, ...] = Field(min_length=1)
    source: Annotated[str, StringConstraints(min_length=3)]

    @model_validator(mode="after")
    def _measures(self) -> Self:
        if PLACEHOLDER.search(self.measured) is None:
            raise ValueError("measured must name a metric")
        return self

    def paths(self) -> Iterator[str]:
        """The numbers that its texts and conditions name, each a metrics file and keys in it."""
        for text in (self.tried, self.expected, self.measured, self.concluded):
            yield from (match["path"] for match in PLACEHOLDER.finditer(text))
        for match in filter(None, map(CONDITION.match, self.holds)):
            yield from (side for side in match.group("left", "right") if side[0].isalpha())


class NegativeResults(Record):
    """The content of ``data/reported/negative_results.yaml``."""

    entries: tuple[NegativeResult, ...] = Field(min_length=FEWEST)

    @model_validator(mode="after")
    def _all_differ(self) -> Self:
        names = [entry.name for entry in self.entries]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{twice[0]!r} is the name of two entries")
        return self

    def keys_by_file(self) -> dict[str, set[str]]:
        """What the entries name of each metrics file."""
        keys: dict[str, set[str]] = {}
        for entry in self.entries:
            for path in entry.paths():
                name, _, key = path.partition(".")
                keys.setdefault(name, set()).add(key)
        return keys
