"""Records: the frozen base of every declaration that people write, and files turned into them."""

import csv
import io
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from failbench.base.errors import BadInputError

Model = TypeVar("Model", bound=BaseModel)


class Record(BaseModel):
    """A frozen record that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


InCell = BeforeValidator(lambda cell: tuple(filter(None, cell.split(";"))))
"""Of the words of a cell, which semicolons part."""

OrNone = BeforeValidator(lambda cell: cell or None)  # of a cell that may be empty


def packaged_rows(package: str, name: str, model: type[Model]) -> tuple[Model, ...]:
    """The lines of a CSV file with headings in ``data`` of a package, as records."""
    text = files(package).joinpath("data", name).read_text(encoding="utf-8")
    return tuple(model.model_validate(row) for row in csv.DictReader(text.splitlines()))


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


def read_rows(path: Path, model: type[Model], remedy: str, key: Sequence[str] = ()) -> list[Model]:
    """The lines of a CSV file with headings, as records; no two are alike in a key."""
    try:
        text = io.StringIO(path.read_text(encoding="utf-8"))
        rows = list(csv.DictReader(text, restkey="(more)"))
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, remedy) from error
    if not rows:
        raise BadInputError(path, "(rows)", "there are none.", remedy)
    records: dict[object, Model] = {}
    for line, row in enumerate(rows, start=2):
        place = f"{path}, line {line}"
        record = validated(model, row, place, remedy)
        unit = tuple(getattr(record, name) for name in key) or line
        if unit in records:
            named = ", ".join(repr(getattr(record, name)) for name in key)
            raise BadInputError(place, key[0], f"{named} is there twice.", remedy)
        records[unit] = record
    return [*records.values()]
