"""What scripts share whose methods may read what the monitor knows: the one way to read it."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from failbench.base.known_columns import COURSE_KEYS, KNOWN_OF_RUN, flags_in
from failbench.base.methods import reads_known
from failbench.base.stage import read_output, unreadable
from failbench.prediction.known import Known


def read_known(path: Path, methods: Iterable[str]) -> Known | None:
    """What the monitor knew of runs; None where no method reads it, and the file is not opened.

    Raises
    ------
    BadInputError
        If the file is missing or not parquet, or a column is missing or of another type.
    """
    if not reads_known(methods):
        return None
    try:
        flags = flags_in(pl.read_parquet_schema(path))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise unreadable(path, "parquet") from error
    columns = {**COURSE_KEYS, **KNOWN_OF_RUN, **dict.fromkeys(flags, pl.Float64())}
    return Known(read_output(path, pl.Schema(columns)))
