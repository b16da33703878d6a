"""Judged runs: which runs versions of the monitor's rules judge, and what they say of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import categories_of
from failbench.monitor.invariants import Invariant
from failbench.monitor.records.halves import Half
from failbench.monitor.records.verdicts import OWN, verdict_table
from failbench.monitor.records.versions import Rules

RUN_COLUMNS: Final = ("run_id", "kind", "scenario", "seed", "onset_step")


class JudgedRuns(Record):
    """Which runs are judged, and by what; the section ``monitor`` of params.yaml."""

    versions: tuple[str, ...] = Field(min_length=1)
    halves: tuple[Half, ...] = Field(min_length=1)
    lenders: tuple[str, ...]
    contrasts: tuple[tuple[str, str], ...]
    steps_ahead: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)


def versioned(schema: pl.Schema) -> pl.Schema:
    """The columns of a table of all versions."""
    return pl.Schema({"version": pl.String(), **schema})


@dataclass(frozen=True)
class Judged:
    """Runs that were judged by a version of the rules, with what they are known to be."""

    rules: Rules
    breaks: pl.DataFrame
    verdicts: pl.DataFrame
    ends: pl.DataFrame
    runs: pl.DataFrame

    def answers(self, verdicts: pl.DataFrame, kind: str = "failure") -> pl.DataFrame:
        """Verdicts on runs of a kind as answers of one repeat, with the runs' setting and label."""
        return (
            verdicts.join(self.runs.filter(kind=kind), on="run_id")
            .join(self.ends.select("run_id", "setting", "failure_step"), on="run_id")
            .with_columns(repeat=pl.lit(0), prediction=pl.col("answer"))
        )

    def at_failure(self, bounds: str = OWN) -> pl.DataFrame:
        """The answers at the failure, of the runs that were recorded to fail."""
        return self.answers(self.verdicts.filter(steps_ahead=0, bounds=bounds))

    def of_whole_logs(self, bounds: str = OWN, kind: str = "failure") -> pl.DataFrame:
        """The answers at the end of the logs."""
        whole = self.verdicts.filter(pl.col("steps_ahead").is_null(), bounds=bounds)
        return self.answers(whole, kind)

    def without(self, left_out: Iterable[Invariant], kind: str = "failure") -> pl.DataFrame:
        """The answers, had some invariants not been measured: at the failure, if there is one."""
        names = [invariant.id for invariant in left_out]
        kept = self.breaks.filter(~pl.col("invariant").is_in(names))
        ahead = 0 if kind == "failure" else None
        return self.answers(verdict_table(kept, self.ends, self.rules, (ahead,)), kind)


def labelled(
    runs: pl.DataFrame, scenarios: Sequence[Scenario], halves: pl.DataFrame
) -> pl.DataFrame:
    """Monitored runs with category, difficulty and half of their scenarios."""
    levels = [(scenario.id, scenario.difficulty) for scenario in scenarios]
    schema = {"scenario": pl.String, "difficulty": pl.String}
    difficulty = pl.DataFrame(levels, schema=schema, orient="row")
    return (
        runs.select(RUN_COLUMNS)
        .join(categories_of(scenarios), on="scenario", how="left")
        .join(difficulty, on="scenario", how="left")
        .join(halves.select("scenario", "half"), on="scenario", how="left")
    )
