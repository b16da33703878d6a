"""Elsewhere: what peers say that were asked about runs of other settings alone.

A peer is judged on the runs that it was asked about: those that its table of verdicts has a row of.
One that cannot be asked about the reference setting has rows of its own, one for each setting and
one more for those runs of it that the peer could read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from failbench.errors import BadInputError
from failbench.peers.answers import recorded_answers
from failbench.peers.verdicts import VERDICT_SCHEMA
from failbench.scenarios import Scenario
from failbench.studies.peers.said import answered, best_formats, described
from failbench.studies.peers.schemas import DOCUMENTED, SAID_SCHEMA

READ: Final = "read"
KINDS: Final = ("failure", "twin", "success")
NOTHING, UNREADABLE = "nothing is wrong", "not readable"
"""What a peer says of a run where it reports no issue."""


@dataclass(frozen=True)
class Asked:
    """Whose answers to which runs stand in a row."""

    peer: str
    setting: str
    read: bool = False

    @property
    def method(self) -> str:
        """What stands for it among methods.

        >>> Asked("default_plus_plus", "bert-adamw", read=True).method
        'default_plus_plus:bert-adamw:read'
        """
        return ":".join([self.peer, self.setting, *([READ] if self.read else [])])

    @classmethod
    def of(cls, method: str) -> Self | None:
        """Whose answers a method's name stands for; None for a method of the reference setting.

        >>> Asked.of("umlaut") is None
        True
        >>> Asked.of("default_plus_plus:bert-adamw")
        Asked(peer='default_plus_plus', setting='bert-adamw', read=False)
        """
        peer, *of_setting = method.split(":")
        return cls(peer, of_setting[0], of_setting[1:] == [READ]) if of_setting else None


@dataclass(frozen=True)
class Elsewhere:
    """What peers say that were asked about no run of the reference setting."""

    said: pl.DataFrame
    runs: pl.DataFrame
    issues: pl.DataFrame


def asked_elsewhere(
    verdicts: pl.DataFrame,
    reference: pl.DataFrame,
    recorded: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
) -> Elsewhere:
    """What these peers say of the runs that they were asked about."""
    on_reference = verdicts.join(reference, on="run_id", how="semi").select("peer").unique()
    others = verdicts.join(on_reference, on="peer", how="anti").sort("peer", "format", "run_id")
    unknown = others.join(recorded, on="run_id", how="anti", maintain_order="left")
    if unknown.height:
        peer, run_id = unknown["peer"][0], unknown["run_id"][0]
        problem = f"{peer} was asked about {run_id!r}, which was not recorded."
        raise BadInputError("data/peers", "run_id", problem, "Record the peer again.")
    runs = described(recorded.join(others, on="run_id", how="semi"), scenarios)
    taken = (
        best_formats(others, runs)
        .join(runs.select("run_id", "setting", "kind"), on="run_id")
        .with_columns(is_read=pl.col("unreadable").is_null())
        .with_columns(read=pl.col("is_read").sum().over("peer", "setting"))
        .sort("peer", "read", "setting", "run_id", descending=[False, True, False, False])
    )
    return Elsewhere(_said(taken), runs, _issues(taken))


def _said(taken: pl.DataFrame) -> pl.DataFrame:
    parts = [pl.DataFrame(schema=SAID_SCHEMA)]
    for (peer, setting), asked in taken.group_by("peer", "setting", maintain_order=True):
        for is_read in (False, True):
            rows = asked.filter("is_read") if is_read else asked
            if rows.filter(kind="failure").height:
                said = answered(recorded_answers(rows.select(*VERDICT_SCHEMA)), DOCUMENTED)
                method = Asked(str(peer), str(setting), is_read).method
                parts.append(said.with_columns(method=pl.lit(method)))
    return pl.concat(parts)


def _issues(taken: pl.DataFrame) -> pl.DataFrame:
    """The issues of each peer and setting, those of most failing runs first."""
    first = pl.col("issues").list.first().fill_null(NOTHING)
    counts = [(pl.col("kind") == kind).sum().cast(pl.Int64).alias(kind) for kind in KINDS]
    keys = ["peer", "setting"]
    parts = [
        of_setting.with_columns(issue=pl.when("is_read").then(first).otherwise(pl.lit(UNREADABLE)))
        .group_by(*keys, "issue")
        .agg(*counts)
        .with_columns(is_last=pl.col("issue").is_in([NOTHING, UNREADABLE]))
        .sort("is_last", "failure", "twin", "issue", descending=[False, True, True, False])
        .select(*keys, "issue", *KINDS)
        for _, of_setting in taken.group_by(keys, maintain_order=True)
    ]
    nothing = pl.DataFrame(schema=dict.fromkeys([*keys, "issue"], pl.String))
    empty = nothing.with_columns(pl.lit(0, pl.Int64).alias(kind) for kind in KINDS)
    return pl.concat([empty, *parts])
