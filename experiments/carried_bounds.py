"""Stage carried_bounds: bounds of the monitor that hold in settings they were not fitted to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field

from failbench.base import measuring as st
from failbench.base.records import Record
from failbench.field.monitored import healthy_histories as of_field
from failbench.monitor.bounds import Reach, carried_bounds, reach_of, write_bounds
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.records.tables import healthy_histories, measured_settings
from shared.carried import BOUND_SCHEMA, NONE
from shared.ranks import healthy_ranks

MONITORED, FIELD = Path("data/monitor"), Path("data/field")
BOUNDS = Path("data/measurements/carried_bounds.parquet")
PACKAGED = Path("src/failbench/fitted/bounds.json")


class Carried(Record):
    """The section ``carried_bounds`` of params.yaml."""

    margins: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=1)
    most_alarmed: float = Field(ge=0, lt=1)


def healthy() -> dict[str, list[History]]:
    """Healthy runs: of each setting of the benchmark, each author of the field, and of ranks."""
    field = of_field(FIELD, "development")
    settings = {
        name: healthy_histories(runs) + healthy_histories(runs, "twin")
        for name, runs in measured_settings(MONITORED).items()
    }
    ranks = {
        name: [history for run in runs for history in run.values()]
        for name, runs in healthy_ranks().items()
    }
    return settings | field | ranks


def without(left_out: str, reaches: Mapping[str, Reach], settings: Carried) -> list[dict[str, Any]]:
    """Bounds of all settings but one, or of all, as rows."""
    kept = {name: reach for name, reach in reaches.items() if name != left_out}
    bounds = carried_bounds(kept, settings.margins, settings.most_alarmed)
    return [
        {"left_out": left_out, "invariant": name, "low": bound.low, "high": bound.high}
        for name, bound in bounds.items()
    ]


def main() -> None:
    settings = st.read_section("carried_bounds", Carried)
    runs = healthy()
    measured = st.parallel_map(
        reach_of, [(each, CATALOGUE) for each in runs.values()], st.workers()
    )
    reaches = dict(zip(runs, measured, strict=True))
    tasks = [(left_out, reaches, settings) for left_out in (NONE, *reaches)]
    rows = [row for part in st.parallel_map(without, tasks, st.workers()) for row in part]
    st.write_parquet(pl.DataFrame(rows, BOUND_SCHEMA), BOUNDS)
    whole = carried_bounds(reaches, settings.margins, settings.most_alarmed)
    count = sum(map(len, runs.values()))
    write_bounds(PACKAGED, whole, count, f"healthy runs of {len(runs)} settings and authors")
    st.print_table(["setting", "healthy runs"], [(name, len(each)) for name, each in runs.items()])


if __name__ == "__main__":
    st.run(main)
