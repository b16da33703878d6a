"""What `make cost` and `make million` measured, as a table with a row a work and size.

``python tests/benchmarks/cost_summary.py JSON CSV`` writes the table from the JSON of
pytest-benchmark, and prints the rows of `paper/tables/cost.md` that follow from it.
"""

import json
import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

COSTS = {
    "work": pl.String, "grows_in": pl.String, "size": pl.Int64, "cpu_seconds": pl.Float64,
    "peak_mib": pl.Float64,
}  # fmt: skip
"""Columns of the table; its key is work and size, in the order in which they were measured."""

UNIT = "features extract"
"""The work whose time at 1x is the unit of the others'."""

SHORTEST = 1e-3
"""Seconds below which a time has no ratio: what does nothing takes less."""

DIGITS = 4


def costs(benchmarks: list[dict[str, Any]]) -> pl.DataFrame:
    measured = ("axis", "size", "cpu_seconds", "peak_mib")
    rows = [(one["group"], *(one["extra_info"][name] for name in measured)) for one in benchmarks]
    return pl.DataFrame(rows, COSTS, orient="row").with_columns(
        pl.col("cpu_seconds", "peak_mib").round_sig_figs(DIGITS)
    )


def rows_of_costs(table: pl.DataFrame, sizes: tuple[int, ...]) -> list[str]:
    """A row a work: its time in units, ratios of times, the last exponent, and memory."""
    unit = table.row(by_predicate=(pl.col("work") == UNIT) & (pl.col("size") == 1), named=True)
    rows = []
    for work in table["work"].unique(maintain_order=True):
        mine = table.filter(pl.col("work") == work)
        seconds = dict(mine.select("size", "cpu_seconds").rows())
        mib = dict(mine.select("size", "peak_mib").rows())
        ratios = [_ratio(seconds, size, before) for before, size in pairwise(sizes)]
        largest = max(seconds)
        last = largest // (sizes[1] // sizes[0])
        grown = _ratio(seconds, largest, last)
        exponent = None if grown is None else math.log(grown, largest / last)
        cells = [
            work, mine["grows_in"][0],
            f"{seconds[1] / unit['cpu_seconds']:.3g}" if seconds[1] >= SHORTEST else "0",
            *(_cell(ratio, 1) for ratio in ratios), _cell(exponent, 2), f"{mib[largest]:.0f}",
            _cell(mib[largest] / mib[last], 1),
        ]  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def rows_of_runs(table: pl.DataFrame) -> list[str]:
    """A row a number of runs: time a run and memory, over those at the fewest."""
    a_run = table["cpu_seconds"] / table["size"]
    return [
        f"| {runs:,} | {time:.2f} | {memory:.2f} |"
        for runs, time, memory in zip(
            table["size"], a_run / a_run[0], table["peak_mib"] / table["peak_mib"][0], strict=True
        )
    ]


def _ratio(seconds: dict[int, float], size: int, before: int) -> float | None:
    if size not in seconds or seconds[before] < SHORTEST:
        return None
    return seconds[size] / seconds[before]


def _cell(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def main(source: Path, target: Path) -> None:
    found = costs(json.loads(source.read_text(encoding="utf-8"))["benchmarks"])
    found.write_csv(target)
    sizes = tuple(found["size"].unique().sort())
    rows = rows_of_costs(found, sizes) if UNIT in found["work"] else rows_of_runs(found)
    print("\n".join(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
