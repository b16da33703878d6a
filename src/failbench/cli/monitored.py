"""What the monitor knows of recorded runs: those of the reference, and those of a folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import RUN_SCHEMA, read_table
from failbench.cli.paths import BROKEN, MONITORED
from failbench.cli.reference import Reference

if TYPE_CHECKING:
    from failbench.monitor.records.versions import Rules


def reads_monitor(methods: Iterable[str]) -> bool:
    """Whether one of some methods reads what the monitor knows."""
    from failbench.base.methods import MONITOR_METHODS

    return not set(methods).isdisjoint(MONITOR_METHODS)


def known_of_reference(reference: Reference) -> pl.DataFrame:
    """What the last frozen version of the rules knows of the benchmark's runs."""
    from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, known_table

    rules = _last_rules(reference)
    folder = reference.root / BROKEN
    of_versions = pl.Schema({"version": pl.String(), **BREAK_SCHEMA})
    breaks = read_table(folder / "breaks.parquet", of_versions)
    of_version = breaks.filter(pl.col("version") == rules.version).drop("version")
    return known_table(of_version, read_table(folder / "ends.parquet", END_SCHEMA), rules)


def known_of_folder(telemetry: Path, reference: Reference) -> pl.DataFrame:
    """What the last frozen version of the rules knows of runs that were recorded with a monitor."""
    from failbench.base.telemetry_stream import remedied_anywhere
    from failbench.monitor.records.tables import RUNS, SIGNALS, read_monitored
    from failbench.monitor.records.verdicts import break_table, ends_of, known_table

    folder = telemetry / MONITORED.name
    if not (folder / RUNS).exists():
        raise BadInputError(
            folder / RUNS,
            "(file)",
            "is not there: the runs were recorded without a monitor.",
            "Record them with it, or choose methods that read telemetry alone.",
        )
    if not any((folder / SIGNALS).glob("*.parquet")):
        raise BadInputError(
            folder / SIGNALS,
            "(folder)",
            "has no file: what the monitor measured is not there.",
            "Copy it from where the runs were recorded, or record them again.",
        )
    rules = _last_rules(reference)
    with remedied_anywhere():
        monitored = read_monitored(folder)
        runs = read_table(telemetry / RUNS, RUN_SCHEMA)
    ends = ends_of(monitored.runs, runs)
    return known_table(break_table(monitored, rules), ends, rules)


def _last_rules(reference: Reference) -> Rules:
    from failbench.monitor.records.versions import FROZEN, read_frozen, read_rules

    folder = reference.root / MONITORED
    versions = list(read_frozen(folder))
    if not versions:
        raise BadInputError(
            folder / FROZEN, "(file)", "has no version.", "Freeze one with `failbench freeze`."
        )
    return read_rules(folder, versions[-1])
