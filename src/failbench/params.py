"""Sections of ``params.yaml`` as typed records; the one place that reads the file."""

from __future__ import annotations

from pathlib import Path

import yaml

from failbench.errors import BadInputError
from failbench.validation import Model, validated

PARAMS = Path("params.yaml")


def read_section(section: str, model: type[Model], path: Path = PARAMS) -> Model:
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
    remedy = "The comment beside the key says what it takes."
    return validated(model, raw[section], path, remedy, (section,))
