"""Settings: what the page takes from params.yaml."""

from __future__ import annotations

from pydantic import Field

from failbench.base.records import Record


class ShownIntervals(Record):
    """Of the section ``statistics``, what intervals are said to be."""

    confidence: float = Field(gt=0, lt=1)
