"""Known columns: what the monitor knows of a run, from a step until the run's next row."""

from collections.abc import Iterable
from typing import Final

import polars as pl

OWN: Final = "own"  # bounds from healthy runs of the run's own setting; without any, logic alone
LOGIC: Final = "logic"  # no bounds: what holds in every run, and the ending
FLAG_KINDS: Final = ("broke", "ended", "phase")  # what a column that is 1 or 0 says

DECIDED: Final = ("answer", "decided_by", "decided_kind")
END: Final = ("end_kind", "end_phase", "end_error")

UNENDED: Final = ("completed", "running")  # kinds of end of a run that nothing ended

KNOWN_OF_RUN: Final = pl.Schema(  # what is known of a run beside its flags
    {
        **dict.fromkeys((*DECIDED, *END, "statement"), pl.String()),  # empty where there is none
        "decided_step": pl.Float64(),
    }
)

COURSE_KEYS: Final = pl.Schema(  # the key of a table of what was known when
    {
        "run_id": pl.String(),
        "bounds": pl.String(),  # OWN, LOGIC, or the setting that lent them
        "step": pl.Int32(),  # from which on this was known; null when it failed
    }
)


def flag_column(kind: str, name: str) -> str:
    """The column of a flag.

    >>> flag_column("ended", "out of memory")
    'ended_out_of_memory'
    """
    return f"{kind}_{name.replace(' ', '_')}"


def flags_in(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that are flags, in their order.

    >>> flags_in(["max_loss", "broke_reads_not_blocked", "end_kind", "ended_hung"])
    ('broke_reads_not_blocked', 'ended_hung')
    """
    prefixes = tuple(f"{kind}_" for kind in FLAG_KINDS)
    return tuple(name for name in columns if name.startswith(prefixes))
