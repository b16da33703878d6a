"""Declared: what was tried and did not help, with outcomes that name metrics and hold no number.

The file ``data/reported/negative_results.yaml`` is a list of entries. A placeholder in the text of
an outcome, ``{intervals:19.ebm.accuracy}``, names a file of ``data/metrics`` and the path of an
estimate in it; behind a bar it may say how the estimate is written: see
:mod:`failbench.studies.negative_results.placeholders`. What a sentence claims of those numbers
stands beside it as conditions, and an entry whose condition fails is refused.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from failbench.records import Record
from failbench.studies.negative_results.placeholders import PLACEHOLDER


class NegativeResultsSettings(Record):
    """What the page says of its intervals; of the section ``statistics`` of params.yaml."""

    confidence: float = Field(gt=0, lt=1)


FEWEST: Final = 14
"""Entries; a shorter list leaves out something that was tried."""

TYPED: Final = re.compile(r"\d+\.\d+|\d+(?:\.\d+)?\s*(?:%|percent|points)")
"""A number that a metric should have given."""


def _without_numbers(text: str) -> str:
    typed = TYPED.search(PLACEHOLDER.sub("", text))
    if typed is not None:
        raise ValueError(f"{typed.group()!r} is typed; name the metric that it comes from")
    return text


Title = Annotated[str, StringConstraints(min_length=5), AfterValidator(_without_numbers)]
Sentences = Annotated[str, StringConstraints(min_length=20), AfterValidator(_without_numbers)]
"""Texts in which no decimal, percentage or difference in points is typed."""


class NegativeResult(Record):
    """One thing that was tried and did not help."""

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
