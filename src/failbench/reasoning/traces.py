"""Traces: sampled answers as a table, and the models that gave them; see ``docs/traces.md``."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

import polars as pl
import pyarrow.parquet as pq

from failbench.base.files import replaced_when_whole
from failbench.errors import BadInputError

Outcome = Literal["correct", "wrong", "truncated"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

TRACE_SCHEMA: Final = pl.Schema(
    {
        "model": pl.String(),
        "condition": pl.String(),  # null where it is not known
        "seed": pl.Int32(),  # null likewise
        "tokenizer": pl.String(),
        "task": pl.String(),
        "length": pl.Int32(),
        "depth": pl.Int32(),
        "item": pl.Int32(),
        "prompt_ids": pl.List(pl.Int32()),
        "text": pl.String(),
        "tokens": pl.Int32(),
        "outcome": pl.String(),
        "guess": pl.Float64(),
    }
)

KEY: Final = ("model", "task", "length", "depth", "item")
NULLABLE: Final = ("condition", "seed")
TRACES: Final = "traces.parquet"  # the file of the traces in its folder
MODELS: Final = "models.csv"  # the file of the models in its folder

MODEL_SCHEMA: Final = pl.Schema(
    {
        "model": pl.String,
        "condition": pl.String,
        "tokenizer": pl.String,
        "prompt_tokenizer": pl.String,  # which the prompts of the test were encoded with
        "seed": pl.Int32,
        "parameters": pl.Int32,
        "steps": pl.Int32,
        "loss": pl.Float64,  # mean of the last steps of training, in nats per token
        "torch": pl.String,  # version
        "fingerprint": pl.String,
    }
)

# of each column, whether its value may be, and what it may be
DOMAINS: Final = {
    **{name: (pl.col(name) >= 0, "0 or more") for name in ("length", "depth", "item", "tokens")},
    "outcome": (pl.col("outcome").is_in(OUTCOMES), f"one of {', '.join(OUTCOMES)}"),
    "guess": (pl.col("guess").is_between(0, 1), "between 0 and 1"),
}

REMEDY: Final = "docs/traces.md describes a file of traces."
WRITING_REMEDY: Final = "Make room, or name a folder that can be written."
RESTORE: Final = "Restore it with git, or record again with `make record-reasoning`."
LEVEL: Final = 19  # of zstd: a recording is written once and read often
# bytes. The prompts of a model are those of the next, and are found again within a page alone.
PAGE: Final = 1 << 25


def read_traces(path: Path) -> pl.DataFrame:
    """Read traces, sorted by key, of Parquet or text, where ``prompt_ids`` is a list in JSON."""
    reader = READERS.get(path.suffix)
    if reader is None:
        problem = f"{path.suffix or 'no suffix'} is no format of traces."
        raise BadInputError(path, "(file)", problem, "Use .parquet, .jsonl or .csv.")
    try:
        frame = reader(path)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        problem = f"is missing or unreadable ({(str(error).splitlines() or ['no reason'])[0]})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
    return checked(frame, path)


def checked(frame: pl.DataFrame, place: object) -> pl.DataFrame:
    """Traces in the columns, types and order of the format; integers of other widths are taken."""
    for name in frame.columns:
        if name not in TRACE_SCHEMA:
            known = f"Known columns are {', '.join(TRACE_SCHEMA)}."
            raise BadInputError(place, name, "the column is unknown.", known)
    for name, dtype in TRACE_SCHEMA.items():
        if name not in frame.columns:
            raise BadInputError(place, name, "the column is missing.", REMEDY)
        try:
            frame = frame.with_columns(pl.col(name).cast(dtype, strict=True))
        except pl.exceptions.PolarsError as error:
            problem = f"is {frame.schema[name]} and must be {dtype}."
            raise BadInputError(place, name, problem, REMEDY) from error
        if name not in NULLABLE and frame[name].null_count():
            raise BadInputError(place, name, "a value is missing.", REMEDY)
    for name, (is_allowed, domain) in DOMAINS.items():
        wrong = frame.filter(~is_allowed)
        if wrong.height:
            raise BadInputError(place, name, f"{wrong[name][0]!r} must be {domain}.", REMEDY)
    repeated = frame.filter(pl.struct(KEY).is_duplicated())
    if repeated.height:
        key = ", ".join(str(value) for value in repeated.select(KEY).row(0))
        raise BadInputError(place, "(key)", f"the trace ({key}) is there twice.", REMEDY)
    return frame.select(TRACE_SCHEMA.names()).sort(KEY)


def write_traces(frame: pl.DataFrame, path: Path) -> None:
    """Write traces as parquet, replacing a file that is there."""
    table = checked(frame, path).to_arrow(compat_level=pl.CompatLevel.oldest())
    repeating = [name for name in TRACE_SCHEMA if name not in ("prompt_ids", "text")]
    sizes = {"data_page_size": PAGE, "row_group_size": table.num_rows, "compression_level": LEVEL}
    with replaced_when_whole(path, WRITING_REMEDY) as partial:
        pq.write_table(table, partial, compression="zstd", use_dictionary=repeating, **sizes)


def _from_lines(path: Path) -> pl.DataFrame:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError("a line is no JSON object")
    return pl.DataFrame(rows, infer_schema_length=None)


def _from_csv(path: Path) -> pl.DataFrame:
    frame = pl.read_csv(io.BytesIO(path.read_bytes()), infer_schema=False)
    if "prompt_ids" not in frame.columns:
        return frame
    return frame.with_columns(pl.col("prompt_ids").str.json_decode(pl.List(pl.Int64)))


READERS: Final[dict[str, Callable[[Path], pl.DataFrame]]] = {
    ".parquet": pl.read_parquet,
    ".jsonl": _from_lines,
    ".csv": _from_csv,
}


def read_models(path: Path) -> pl.DataFrame:
    """Read the models."""
    try:
        frame = pl.read_csv(path, schema=MODEL_SCHEMA)
    except (OSError, pl.exceptions.PolarsError) as error:
        problem = f"is missing or is no table of models ({str(error).splitlines()[0]})."
        raise BadInputError(path, "(file)", problem, RESTORE) from error
    repeated = frame.filter(pl.col("model").is_duplicated())
    if repeated.height:
        problem = f"{repeated['model'][0]!r} is there twice."
        raise BadInputError(path, "model", problem, RESTORE)
    return frame
