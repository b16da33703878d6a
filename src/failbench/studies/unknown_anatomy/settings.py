"""Settings: which methods are asked of unknown scenarios, and how feature sets are compared."""

from __future__ import annotations

from pydantic import Field

from failbench.methods.classifiers import RandomForestSettings
from failbench.records import Record

UNKNOWN = "unknown"
"""The category of scenarios whose cause nobody can tell."""


class UnknownAnatomyDesign(Record):
    """What is looked at; the section ``unknown_anatomy`` of params.yaml."""

    left_out: tuple[str, ...]
    neighbours: int = Field(ge=1)
    forest: RandomForestSettings
    repeats: int = Field(ge=1)
