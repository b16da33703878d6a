"""Bounds that carry over, by what was left out when they were fitted."""

from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.measuring import read_output
from failbench.monitor.invariants import Bound

NONE: Final = "none"  # what is left out of the package's own

BOUND_SCHEMA: Final = pl.Schema(
    {"left_out": pl.String(), "invariant": pl.String(), "low": pl.Float64(), "high": pl.Float64()}
)


def read_carried(path: Path) -> dict[str, dict[str, Bound]]:
    """Bounds by the setting or author that was left out."""
    found: dict[str, dict[str, Bound]] = {}
    for left_out, invariant, low, high in read_output(path, BOUND_SCHEMA).iter_rows():
        found.setdefault(left_out, {})[invariant] = Bound(low, high)
    return found
