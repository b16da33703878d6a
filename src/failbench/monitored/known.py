"""Known: what the monitor knows of runs, one row per run, as methods receive it."""

from __future__ import annotations

from typing import Final, get_args

import polars as pl

from failbench.monitor.end import EndKind
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.signals import PHASES
from failbench.monitored.verdicts import OWN
from failbench.monitored.versions import Rules

END_KINDS: Final[tuple[EndKind, ...]] = get_args(EndKind)


def _flag(prefix: str, name: str) -> str:
    return f"{prefix}_{name.replace(' ', '_')}"


BROKE: Final = {invariant.id: _flag("broke", invariant.id) for invariant in CATALOGUE}
ENDED: Final = {kind: _flag("ended", kind) for kind in END_KINDS}
IN_PHASE: Final = {phase: _flag("phase", phase) for phase in PHASES}

FLAGS: Final = (*BROKE.values(), *ENDED.values(), *IN_PHASE.values())
"""Columns that are 1 or 0: whether an invariant broke, how the run ended and in which phase."""

DECIDED: Final = ("answer", "decided_by", "decided_kind")
END: Final = ("end_kind", "end_phase", "end_error")

KNOWN_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        **dict.fromkeys((*DECIDED, *END, "statement"), pl.String()),  # empty where there is none
        "decided_step": pl.Float64(),
        **dict.fromkeys(FLAGS, pl.Float64()),
    }
)
"""Columns that are known of a run at the end of its log, keyed by ``run_id``."""


def known_table(
    breaks: pl.DataFrame, verdicts: pl.DataFrame, ends: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """What one version of the rules knows of runs at the end of their logs.

    Parameters
    ----------
    breaks, verdicts, ends
        Tables of :mod:`failbench.monitored.verdicts`, of one version. Only bounds of a run's own
        setting count.
    rules
        The version, whose statements say what had to hold.

    Returns
    -------
    polars.DataFrame
        Rows of :data:`KNOWN_SCHEMA`, sorted by run.
    """
    broken = breaks.filter(pl.col("bounds") == OWN)
    of_run = {
        str(run_id): set(part["invariant"])
        for (run_id,), part in broken.partition_by("run_id", as_dict=True).items()
    }
    answers = verdicts.filter(pl.col("bounds") == OWN, pl.col("steps_ahead").is_null())
    known = ends.select("run_id", "end_kind", "end_phase", end_error="error").join(
        answers.select("run_id", *DECIDED, "decided_step"), on="run_id"
    )
    statements = {invariant.id: invariant.statement for invariant in rules.invariants}
    statements |= {ending.id: ending.statement for ending in rules.endings}
    rows = []
    for run in known.sort("run_id").iter_rows(named=True):
        names = of_run.get(run["run_id"], set())
        row = {name: run[name] or "" for name in (*DECIDED, *END)}
        row |= {"run_id": run["run_id"], "decided_step": run["decided_step"]}
        row["statement"] = statements.get(run["decided_by"], "")
        row |= {column: float(name in names) for name, column in BROKE.items()}
        row |= {column: float(run["end_kind"] == kind) for kind, column in ENDED.items()}
        row |= {column: float(run["end_phase"] == phase) for phase, column in IN_PHASE.items()}
        rows.append(row)
    return pl.DataFrame(rows, schema=KNOWN_SCHEMA)


def with_known(features: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """A feature table with what the monitor knows beside it, of the runs that were monitored.

    Parameters
    ----------
    features
        Keyed by ``run_id``.
    known
        Rows of :data:`KNOWN_SCHEMA`.
    """
    return features.join(known, on="run_id", how="inner", maintain_order="left")
