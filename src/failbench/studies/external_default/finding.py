"""The finding: what the authors' .97 is, and what is left of it, in a sentence."""

from __future__ import annotations

import polars as pl

from failbench.external.tables import DETECTION, ReleasedTables
from failbench.reporting.cells import percent
from failbench.studies.external_default.results import ACCURACY, MAJORITY, NO_COLUMNS, cell
from failbench.studies.external_default.settings import (
    ALL_COLUMNS,
    BLOCKS,
    CLUSTERS,
    GROUPINGS,
    HOST_COLUMNS,
    PRINTED,
    THEIR_FOREST,
    TRAINING_COLUMNS,
    ExternalDefaultSettings,
    grouped_by,
)
from failbench.studies.external_default.tables import interval


def finding(
    table: pl.DataFrame, released: ReleasedTables, settings: ExternalDefaultSettings
) -> str:
    """The printed figure, ours by the same protocol, what rests on the host, what is left."""

    def right(protocol: str, columns: str) -> str:
        key = {"protocol": protocol, "columns": columns, "method": THEIR_FOREST}
        return interval(cell(table, task=DETECTION, metric=ACCURACY, **key))

    blocks, clusters = (grouped_by(way, settings.groups) for way in (BLOCKS, CLUSTERS))
    most = cell(
        table,
        task=DETECTION,
        protocol=blocks,
        columns=NO_COLUMNS,
        method=MAJORITY,
        metric=ACCURACY,
    )
    others = table.filter(
        pl.col("protocol").is_in(
            [grouped_by(way, number) for way in GROUPINGS for number in settings.other_groups]
        ),
        task=DETECTION,
        metric=ACCURACY,
        method=THEIR_FOREST,
    )["value"].to_list()
    numbers = " or ".join(map(str, sorted(settings.other_groups)))
    spread = (
        f" (from {percent(min(others))} to {percent(max(others))} % with {numbers} groups)"
        if others
        else ""
    )
    return (
        f"On an outside data set, DEFault's {released.detection.height:,} Keras runs (ICSE 2025), "
        f"the authors' protocol tells faulty runs from correct ones with an accuracy of "
        f"{right(PRINTED, ALL_COLUMNS)} %, where they print "
        f"{percent(released.printed_figure(DETECTION))} %, but three columns of the host's load, "
        f"which hold nothing of the training, reach {right(PRINTED, HOST_COLUMNS)} % by "
        f"themselves; where folds keep blocks of the file, or clusters of like hosts, "
        f"together, all columns reach {right(blocks, ALL_COLUMNS)} % or "
        f"{right(clusters, ALL_COLUMNS)} %{spread}, those of the training alone "
        f"{right(blocks, TRAINING_COLUMNS)} % or {right(clusters, TRAINING_COLUMNS)} %, and "
        f"naming the majority {percent(most['value'])} % ({100 * settings.confidence:g} % "
        f"intervals by resampling about {settings.groups} such groups, which are ours: the data do "
        f"not name programs).\n"
    )
