"""Known: what the monitor knows of runs, as methods receive it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import polars as pl

from failbench.base.known_columns import COURSE_KEYS, DECIDED, END, KNOWN_OF_RUN, LOGIC, flag_column
from failbench.monitor.end import EndKind
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.records.verdicts import OWN, RUNNING, at_failure, stored_breaks, verdict
from failbench.monitor.records.versions import Rules
from failbench.monitor.signals import PHASES

END_KINDS: Final[tuple[EndKind, ...]] = get_args(EndKind)

BROKE: Final = {invariant.id: flag_column("broke", invariant.id) for invariant in CATALOGUE}
ENDED: Final = {kind: flag_column("ended", kind) for kind in END_KINDS}
IN_PHASE: Final = {phase: flag_column("phase", phase) for phase in PHASES}

FLAGS: Final = (*BROKE.values(), *ENDED.values(), *IN_PHASE.values())
"""Columns that are 1 or 0: whether an invariant broke, how the run ended and in which phase."""

KNOWN_SCHEMA: Final = pl.Schema(
    {"run_id": pl.String(), **KNOWN_OF_RUN, **dict.fromkeys(FLAGS, pl.Float64())}
)
"""Columns that are known of a run when it failed, keyed by ``run_id``."""

COURSE_SCHEMA: Final = pl.Schema(
    {**COURSE_KEYS, **KNOWN_OF_RUN, **dict.fromkeys(FLAGS, pl.Float64())}
)
"""What was known of runs from a step on, and when they failed, keyed by its first three."""


def known_table(breaks: pl.DataFrame, ends: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What a version of the rules knew of runs at their failure, by bounds of their setting."""
    of_setting = breaks.filter(pl.col("bounds") == OWN)
    course = known_course(of_setting, ends, rules)
    at_failure = course.filter(pl.col("bounds") == OWN, pl.col("step").is_null())
    return at_failure.select(KNOWN_SCHEMA.names())


def known_course(
    breaks: pl.DataFrame, ends: pl.DataFrame, rules: Rules, lenders: Sequence[str] = ()
) -> pl.DataFrame:
    """What one version of the rules knew of runs at every step, and when they failed.

    Breaks are causal: a log that is cut shows those that it had by then, of a run that still lives.
    Where a run went on after its failure, what its log says later is left out, as it is of
    features; of a run that never failed the whole log counts.
    """
    invariants = {invariant.id: invariant for invariant in rules.invariants}
    fixed = [invariant.id for invariant in rules.invariants if invariant.bound is not None]
    of_logic = breaks.filter(pl.col("bounds") == OWN, pl.col("invariant").is_in(fixed))
    breaks = pl.concat([breaks, of_logic.with_columns(bounds=pl.lit(LOGIC))])
    parts = breaks.partition_by("run_id", "bounds", as_dict=True)
    statements = _statements(rules)
    rows = []
    for run in ends.iter_rows(named=True):
        for bounds in (OWN, LOGIC, *lenders):
            if bounds == run["setting"]:  # its own bounds are no borrowed ones
                continue
            part = parts.get((run["run_id"], bounds))
            broken = () if part is None else tuple(stored_breaks(part, invariants))
            steps = sorted({0, *(each.step for each in broken)}) if bounds == OWN else []
            for step in (None, *steps):
                known, end = at_failure(run, broken)
                if step is not None:
                    known, end = tuple(each for each in broken if each.step <= step), RUNNING
                said = verdict(known, end, rules)
                said |= {"end_kind": end.kind, "end_phase": end.phase, "end_error": end.error}
                names = {each.invariant.id for each in known}
                key = {"run_id": run["run_id"], "bounds": bounds, "step": step}
                rows.append(key | _row(said, names, statements))
    return pl.DataFrame(rows, schema=COURSE_SCHEMA).sort(COURSE_KEYS.names())


def _statements(rules: Rules) -> dict[str, str]:
    statements = {invariant.id: invariant.statement for invariant in rules.invariants}
    return statements | {ending.id: ending.statement for ending in rules.endings}


def _row(run: Mapping[str, Any], broken: set[str], statements: Mapping[str, str]) -> dict[str, Any]:
    """What is known of a run, from what decided and how it ended, and the names of what broke."""
    row: dict[str, Any] = {name: run.get(name) or "" for name in (*DECIDED, *END)}
    row["decided_step"] = run.get("decided_step")
    row["statement"] = statements.get(row["decided_by"], "")
    row |= {column: float(name in broken) for name, column in BROKE.items()}
    row |= {column: float(run["end_kind"] == kind) for kind, column in ENDED.items()}
    return row | {column: float(run["end_phase"] == phase) for phase, column in IN_PHASE.items()}


def with_known(features: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """A feature table with what the monitor knows beside it, of the runs that were monitored."""
    return features.join(known, on="run_id", how="inner", maintain_order="left")
