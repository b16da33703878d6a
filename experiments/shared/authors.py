"""What asking methods of another author's causes and reporting it share."""

from collections.abc import Mapping

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.scenarios import Identifier
from failbench.base.slices import RunSetting, Seeds

A, B = "A", "B"
"""Who wrote causes and faults: the 76 of the benchmark, and the 40 in ``data/author_b``."""

WITHIN_A, WITHIN_B = "within_a", "within_b"
A_TO_B, B_TO_A = "a_to_b", "b_to_a"
BOTH = "both"
"""Studies: an author's causes by fits to the others of the same author, by a fit to all of the
other author, and all causes by fits to the others of both. Of the first the main study has the runs
of the reference setting."""

AS_SCORED = "as_scored"
"""What ``failbench score`` says of author B's runs: by a fit to A's in all architectures."""

_TEXT = ("run_id", "scenario", "category", "answer", "decided_kind", "decided_by", "family")

EVIDENCE_SCHEMA = pl.Schema(
    {**dict.fromkeys(_TEXT, pl.String()), "families": pl.List(pl.String), "seed": pl.Int32()}
)
"""What decided the monitor's answer to each run of author B, the family of the invariant that did
(null for an ending), and those of all that broke; keyed by the first."""

_ANSWERED = ("version", "run_id", "scenario", "category", "half", "answer")

VERSION_SCHEMA = pl.Schema({**dict.fromkeys(_ANSWERED, pl.String()), "seed": pl.Int32()})
"""What each frozen version of the rules by hand answers at the failure of both authors' runs, and
the half that a scenario of author A is in (null for B's); keyed by the first two."""

UNSEEN: Mapping[str, tuple[str, ...]] = {"1": ("development", "test"), "2": ("test",)}
"""Halves of author A's scenarios that a version was not developed on: none for later versions."""


class Reading(Record):
    """What a reader who was told a cause alone named: a row of ``data/author_b/readers.csv``."""

    scenario: Identifier
    reader: int
    component: str
    second_component: str
    cause: str


class Scored(Record):
    """What a method was worth on the runs of author B when they were first scored."""

    method: str
    right: int = Field(ge=0)
    runs: int = Field(ge=1)


class AuthorsDesign(Record):
    """How methods are asked of another author's causes; the section ``authors`` of params.yaml."""

    seeds: Mapping[str, int]
    folds: int = Field(ge=2)
    repeats: int = Field(ge=1)
    seed: int = Field(ge=0)
    scored_seeds: Seeds
    elsewhere: RunSetting
