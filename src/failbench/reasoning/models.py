"""Models: what is known of each trained model as a whole, a row of ``models.csv``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.files import write_atomically
from failbench.errors import BadInputError

MODELS: Final = "models.csv"
"""The file of the models in its folder."""

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

REMEDY: Final = "Restore it with git, or record again with `make record-reasoning`."


def read_models(path: Path) -> pl.DataFrame:
    """Read the models."""
    try:
        frame = pl.read_csv(path, schema=MODEL_SCHEMA)
    except (OSError, pl.exceptions.PolarsError) as error:
        problem = f"is missing or is no table of models ({str(error).splitlines()[0]})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
    repeated = frame.filter(pl.col("model").is_duplicated())
    if repeated.height:
        problem = f"{repeated['model'][0]!r} is there twice."
        raise BadInputError(path, "model", problem, REMEDY)
    return frame


def write_models(frame: pl.DataFrame, path: Path) -> None:
    """Write the models, replacing a file that is there."""
    write_atomically(path, frame.write_csv().encode(), "Make room, or name another folder.")
