"""Sections of ``params.yaml`` as typed records; the one place that reads the file."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from failbench.errors import BadInputError

PARAMS = Path("params.yaml")

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
