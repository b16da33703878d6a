"""Agreement as a table: a row per pair of methods, those most alike first."""

from __future__ import annotations

import polars as pl

from failbench.reporting.cells import percent
from failbench.reporting.labels import method_label
from failbench.reporting.table import Column, Table

COLUMNS = (
    Column("Method", align="left", cell=lambda row: method_label(row["left"])),
    Column("Other method", align="left", cell=lambda row: method_label(row["right"])),
    Column("Same answer", cell=lambda row: percent(row["value"])),
    Column("n", cell=lambda row: str(row["n"])),
)


def agreement_table(points: pl.DataFrame) -> Table:
    """The pairs of :func:`failbench.studies.agreement.results.agreement`.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    pairs = points.sort("value", "left", "right", descending=[True, False, False])
    return Table.of(
        "agreement",
        COLUMNS,
        pairs.iter_rows(named=True),
        "How often two methods give the same answer.",
        ("Percent of runs that both answer alike, right or wrong, mean over repeats.",),
    )
