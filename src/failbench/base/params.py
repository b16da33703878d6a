"""Sections of ``params.yaml`` as typed records; the only module that reads the file."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from failbench.base.errors import BadInputError
from failbench.base.records import Model, validated

PARAMS = Path("params.yaml")


def read_section(
    section: str,
    model: type[Model],
    path: Path = PARAMS,
    shared: Mapping[str, object] = MappingProxyType({}),
) -> Model:
    """Read one section of ``params.yaml`` into a typed record."""
    raw = _sections(path).get(section)
    if not isinstance(raw, dict):
        remedy = f"Give it the keys {', '.join(model.model_fields)}."
        raise BadInputError(path, section, "the section is missing or empty.", remedy)
    remedy = "The comment beside the key says which values it takes."
    return validated(model, {**shared, **raw}, path, remedy, (section,))


def read_names(section: str) -> tuple[str, ...]:
    """Read a section of ``params.yaml`` that is a list of names."""
    raw = _sections(PARAMS).get(section)
    if (
        not isinstance(raw, list)
        or not raw
        or not all(isinstance(name, str) for name in raw)
        or len(set(raw)) < len(raw)
    ):
        problem = "is no list of different names."
        raise BadInputError(PARAMS, section, problem, "Give it one name per line.")
    return tuple(raw)


def _sections(path: Path) -> dict[str, Any]:
    try:
        raw = _parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        remedy = "Run the stage from the repository's root."
        raise BadInputError(path, "(file)", "cannot be read.", remedy) from error
    except (ValueError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        remedy = "Correct the syntax."
        raise BadInputError(path, "(file)", f"is not YAML: {problem}.", remedy) from error
    return raw if isinstance(raw, dict) else {}


@lru_cache(maxsize=1)  # a stage reads up to ten sections of it, and parsing takes longest
def _parsed(text: str) -> Any:
    return yaml.safe_load(text)
