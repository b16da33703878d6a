"""Records: the frozen base of every declaration that people write, and files turned into them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from failbench.base.errors import BadInputError

Model = TypeVar("Model", bound=BaseModel)


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def validated(
    model: type[Model], raw: object, place: object, remedy: str, prefix: tuple[str, ...] = ()
) -> Model:
    """Turn the content of a file, or of a part of it, into a record."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join([*prefix, *(str(part) for part in first["loc"])]) or "(file)"
        if first["type"] == "extra_forbidden":
            # only the keys of the record itself are listed, not those of nested records
            known = f"Known keys are {', '.join(model.model_fields)}."
            remedy = known if len(first["loc"]) == 1 else remedy
            raise BadInputError(place, field, "the key is unknown.", remedy) from error
        is_scalar = isinstance(first["input"], int | float | str)
        actual = f" (found {first['input']!r})" if is_scalar else ""
        raise BadInputError(place, field, f"{first['msg']}{actual}.", remedy) from error


def kept_by_hand(model: type[Model], raw: object, place: object) -> Model:
    """Turn the content of a file of facts that people keep into its record."""
    return validated(model, raw, place, f"Correct it after the records in {model.__module__}.")


def read_json(path: Path, remedy: str) -> Any:
    """The content of a JSON file."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        problem = f"is missing or is not JSON ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, remedy) from error


def read_rows(path: Path, model: type[Model], remedy: str) -> list[Model]:
    """The lines of a CSV file with headings, as records."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, remedy) from error
    return [
        validated(model, row, f"{path}, line {line}", remedy)
        for line, row in enumerate(rows, start=2)
    ]
