"""The crosswalk as a table: why a method has several accuracies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from failbench.reporting.cells import percent, signed, with_interval
from failbench.reporting.labels import method_label
from failbench.reporting.table import Column, Table
from failbench.studies.crosswalk.conditions import RULES
from failbench.studies.crosswalk.results import PrintedAccuracy

NOTE = (
    "Accuracy in percent as the study prints it, with its interval where it has one; less main: "
    "points against the first row of the method. Folds: test folds per repeat, and what is never "
    "on both sides. Seeds: of the runs that are asked. Search: whether settings are chosen in "
    "inner folds; –: the method has none. Repeats are the first of the main study's, but for folds "
    "by fault, and their number differs: the tables generalization, lead_time and "
    "architectures_left_out have the main study at equal repeats beside their own."
)


def _accuracy(row: PrintedAccuracy) -> str:
    if row.ci_low is None or row.ci_high is None:
        return percent(row.value)
    return with_interval(row.value, row.ci_low, row.ci_high)


COLUMNS: Final = (
    Column("Method", align="left", cell=lambda row: method_label(row.method)),
    Column("Study", align="left", cell=lambda row: row.condition.study),
    Column("Features", align="left", cell=lambda row: row.condition.features),
    Column("Folds", align="left", cell=lambda row: f"{row.folds} {row.condition.folds}"),
    Column("Repeats", cell=lambda row: str(row.repeats)),
    Column("Seeds", cell=lambda row: str(row.seeds)),
    Column("Runs", cell=lambda row: str(row.runs)),
    Column("Search", cell=lambda row: "–" if row.method == RULES else row.condition.search),
    Column("Accuracy", cell=_accuracy),
    Column("n", cell=lambda row: str(row.n)),
)
REASON: Final = Column("What differs", align="left", cell=lambda row: row.condition.reason)


def crosswalk_table(accuracies: Sequence[PrintedAccuracy]) -> Table:
    """A row per method and condition; the first of a method is that of the main study."""
    main: dict[str, float] = {}
    for row in accuracies:
        main.setdefault(row.method, row.value)

    def less_main(row: PrintedAccuracy) -> str:
        return signed(100 * (row.value - main[row.method]))

    return Table.of(
        "crosswalk",
        (*COLUMNS, Column("Less main", cell=less_main), REASON),
        accuracies,
        "Every accuracy that is printed of the improved rules and the random forest, and why they "
        "differ.",
        (NOTE,),
    )
