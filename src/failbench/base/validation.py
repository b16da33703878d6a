"""Validation: turns parsed files into typed records, or raises an error with the location."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from failbench.base.errors import BadInputError

Model = TypeVar("Model", bound=BaseModel)


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
