"""What every stage script shares: its parameters, its metrics file, its one line of error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl
import yaml
from pydantic import BaseModel, ValidationError

from failbench.errors import BadInputError

PARAMS = Path("params.yaml")
DECIMALS = 6

Parameters = TypeVar("Parameters", bound=BaseModel)


def read_section(section: str, model: type[Parameters], path: Path = PARAMS) -> Parameters:
    """Read one section of ``params.yaml`` into a typed record.

    Raises
    ------
    BadInputError
        If the file is not YAML, the section is missing, a key is unknown or missing, or a value is
        out of its domain; it names the file, ``section.key`` and what to do.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(
            path, "(file)", "cannot be read.", "Run the stage from the repository's root."
        ) from error
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise BadInputError(path, "(file)", f"is not YAML: {problem}.", "Mend it.") from error
    if not isinstance(raw, dict) or not isinstance(raw.get(section), dict):
        raise BadInputError(
            path,
            section,
            "the section is missing or empty.",
            f"Give it the keys {', '.join(model.model_fields)}.",
        )
    try:
        return model.model_validate(raw[section])
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join([section, *(str(part) for part in first["loc"])])
        if first["type"] == "extra_forbidden":
            known = ", ".join(model.model_fields)
            raise BadInputError(
                path, field, "the key is unknown.", f"Known keys are {known}."
            ) from error
        found = "" if first["type"] == "missing" else f" (found {first['input']!r})"
        raise BadInputError(
            path,
            field,
            f"{first['msg']}{found}.",
            "The comment beside the key says what it takes.",
        ) from error


def read_output(path: Path) -> pl.DataFrame:
    """Read the parquet that an earlier stage wrote.

    Raises
    ------
    BadInputError
        If it is not there or not parquet.
    """
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInputError(
            path,
            "(file)",
            "is missing or is not a parquet file.",
            "Run `dvc repro` for the stage that writes it.",
        ) from error


def workers() -> int:
    """How many processes a stage may use: ``FAILBENCH_WORKERS``, else one a processor.

    An environment variable and not a parameter, because results do not depend on it.
    """
    value = os.environ.get("FAILBENCH_WORKERS")
    if value is None:
        return os.cpu_count() or 1
    if not value.isdecimal() or int(value) < 1:
        raise BadInputError(
            "environment",
            "FAILBENCH_WORKERS",
            f"{value!r} is not a positive whole number.",
            "Unset it to use every processor.",
        )
    return int(value)


def write_metrics(path: Path, metrics: Mapping[str, object]) -> None:
    """Write nested scalar metrics as JSON: sorted keys, numbers rounded to 6 decimals."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_rounded(metrics), indent=2, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _rounded(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _rounded(one) for key, one in value.items()}
    if isinstance(value, float):
        return round(float(value), DECIMALS)
    if isinstance(value, bool | int | str):
        return value
    raise TypeError(f"A metric must be a scalar, not {type(value).__name__}.")


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a short summary with aligned columns; numbers get three decimals."""
    cells = [list(header)] + [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip())


def run(main: Callable[[], None]) -> None:
    """Run a stage; bad input ends it with one line on stderr and exit status 2."""
    try:
        main()
    except BadInputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
