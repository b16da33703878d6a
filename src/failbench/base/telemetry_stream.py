"""Streamed telemetry: batches of whole runs, for folders that are larger than memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from failbench.base import telemetry
from failbench.base.errors import BadInputError

ROWS = 2**18  # of a batch, in 50 MB: a larger one saves little time
RUNS_AT_ONCE, STEPS_AT_ONCE = 2**12, 2**16  # of a file, independent of its row groups
BUFFER = 2**20  # bytes to read of a column at a time; without a buffer, a whole row group

RESTORE: Final = "Restore the folder as it was recorded, or record it again."
NAME_A_FOLDER: Final = (
    "Name a folder with runs.parquet and steps/, as `failbench record --output` writes it."
)


def telemetry_batches(folder: Path, rows: int) -> Iterator[telemetry.Telemetry]:
    """Telemetry by ``run_id`` in batches of whole runs; memory does not grow with the folder."""
    if rows < 1:
        raise BadInputError("batch", "rows", f"{rows} is below one.", "Give a positive number.")
    files = [_StepsFile(path) for path in sorted((folder / "steps").glob("*.parquet"))]
    for runs in _batches_of_runs(folder / "runs.parquet", rows):
        parts = [telemetry.STEP_SCHEMA.to_frame()]
        for file in files:
            part = file.up_to(runs["run_id"][-1])
            with remedied_anywhere():
                telemetry.refuse_orphans(file.path, part, runs)
            parts.append(part)
        steps = pl.concat(parts).sort("run_id", "step")
        with remedied_anywhere():
            telemetry.refuse_miscounted(folder, runs, steps)
        yield telemetry.Telemetry(runs, steps)
    for file in files:
        with remedied_anywhere():
            telemetry.refuse_orphans(file.path, file.following(), telemetry.RUN_SCHEMA.to_frame())


@contextmanager
def remedied_anywhere() -> Iterator[None]:
    """Errors of reading telemetry, with a remedy for any folder, which git may not restore."""
    try:
        yield
    except BadInputError as error:
        raise BadInputError(error.place, error.field, error.problem, RESTORE) from error


def number_of_runs(folder: Path) -> int:
    """Number of runs in a folder of telemetry, from the file's metadata."""
    path = folder / "runs.parquet"
    if not folder.is_dir():
        problem = "is a file." if folder.exists() else "is not there."
        raise BadInputError(folder, "(folder)", problem, NAME_A_FOLDER)
    if not path.exists():
        raise BadInputError(path, "(file)", "is not there.", NAME_A_FOLDER)
    return int(_metadata(path).num_rows)


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder whose files cannot be read or have other columns, before any row is read."""
    schemas = {folder / "runs.parquet": telemetry.RUN_SCHEMA}
    schemas |= dict.fromkeys(sorted((folder / "steps").glob("*.parquet")), telemetry.STEP_SCHEMA)
    for path, schema in schemas.items():
        columns = _metadata(path).schema.to_arrow_schema()
        telemetry.refuse_other_columns(path, _from_arrow(columns.empty_table()).schema, schema)


def _metadata(path: Path) -> pq.FileMetaData:
    with _readable(path):
        return pq.read_metadata(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        with remedied_anywhere():
            raise telemetry.unreadable(path, error) from error


class _StepsFile:
    """A file of steps that is read forwards, on demand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._chunks = _chunks(path, telemetry.STEP_SCHEMA, ("run_id", "step"), STEPS_AT_ONCE)
        self._pending = telemetry.STEP_SCHEMA.to_frame()

    def up_to(self, run_id: str) -> pl.DataFrame:
        parts = []
        while self.following().height:
            end = int(self._pending["run_id"].search_sorted(run_id, side="right"))
            if end == 0:
                break
            parts.append(self._pending[:end])
            self._pending = self._pending[end:]
        return pl.concat([telemetry.STEP_SCHEMA.to_frame(), *parts])

    def following(self) -> pl.DataFrame:
        """Some of the next rows; none at the end of the file."""
        while not self._pending.height:
            following = next(self._chunks, None)
            if following is None:
                break
            self._pending = following
        return self._pending


def _batches_of_runs(path: Path, rows: int) -> Iterator[pl.DataFrame]:
    pending, size = telemetry.RUN_SCHEMA.to_frame(), 0
    for chunk in _chunks(path, telemetry.RUN_SCHEMA, ("run_id",), RUNS_AT_ONCE):
        start = 0
        for position, run_rows in enumerate((chunk["steps"].fill_null(0) + 1).to_list()):
            if size and size + run_rows > rows:
                yield pl.concat([pending, chunk[start:position]])
                pending, size, start = telemetry.RUN_SCHEMA.to_frame(), 0, position
            size += run_rows
        pending = pl.concat([pending, chunk[start:]])
    if size:
        yield pending


def _chunks(
    path: Path, schema: pl.Schema, key: tuple[str, ...], rows: int
) -> Iterator[pl.DataFrame]:
    """The rows of a file in chunks; they must ascend by the key."""
    before = schema.to_frame().select(key)
    with _readable(path), pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
        telemetry.refuse_other_columns(
            path, _from_arrow(file.schema_arrow.empty_table()).schema, schema
        )
        for batch in file.iter_batches(rows):
            chunk = _from_arrow(pa.Table.from_batches([batch])).select(schema.names())
            _refuse_disorder(path, pl.concat([before, chunk.select(key)]))
            before = chunk.select(key)[-1:]
            yield chunk


def _from_arrow(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _refuse_disorder(path: Path, keys: pl.DataFrame) -> None:
    descends = pl.lit(value=True)  # if all parts are equal, the key is repeated
    for name in reversed(keys.columns):
        current, before = pl.col(name), pl.col(name).shift(1)
        descends = (before > current) | ((before == current) & descends)
    wrong = keys.with_columns(before=pl.col("run_id").shift(1)).filter(descends)
    if wrong.height:
        problem = (
            f"{wrong['run_id'][0]!r} follows {wrong['before'][0]!r}, and rows must ascend by "
            f"{' and '.join(keys.columns)} to be read in batches."
        )
        remedy = "Sort the file and remove repeated keys, or record it again."
        raise BadInputError(path, "run_id", problem, remedy)
