"""Nested files: metrics, the lock of the pipeline, and the description of the data."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from failbench.publish.reproduction.difference import CHANGED, Difference, share_of
from failbench.publish.reproduction.tolerances import FileRule, Tolerance

MISSING_KEY = "(absent)"


def metrics_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two files of metrics, by key; fractions have a tolerance."""
    return _differences(json.loads(committed), json.loads(regenerated), rule.tolerance)


def lock_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two locks: stages, commands, paths and parameters.

    Hashes and sizes are ignored: the files themselves are compared.
    """
    before, after = (_declared(yaml.safe_load(text)) for text in (committed, regenerated))
    return _differences(before, after, rule.tolerance)


def described_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two descriptions of data, in Croissant's JSON-LD.

    Hashes and sizes are ignored: the files themselves are compared.
    """
    before, after = (_without_hashes(json.loads(text)) for text in (committed, regenerated))
    return _differences(before, after, rule.tolerance)


def _without_hashes(description: object) -> object:
    """A description without what identifies the content of files, lists keyed by position."""
    if isinstance(description, dict):
        kept = description.keys() - {"sha256", "contentSize"}
        return {key: _without_hashes(value) for key, value in description.items() if key in kept}
    if isinstance(description, list):
        return {str(place): _without_hashes(item) for place, item in enumerate(description)}
    return description


def _declared(lock: dict[str, object]) -> object:
    """A lock without hashes and sizes, with dependencies keyed by path."""
    if isinstance(lock, dict):
        return {key: _declared(value) for key, value in lock.items()}  # type: ignore[arg-type]
    if isinstance(lock, list) and all(isinstance(item, dict) and "path" in item for item in lock):
        return {str(item["path"]): True for item in lock}
    return lock


def _differences(committed: object, regenerated: object, limit: Tolerance) -> list[Difference]:
    before, after = dict(_leaves(committed)), dict(_leaves(regenerated))
    differences = []
    for key in [*before, *(key for key in after if key not in before)]:
        value, other = before.get(key, MISSING_KEY), after.get(key, MISSING_KEY)
        share = _share(value, other, limit)
        if share:
            differences.append(Difference("", key, str(value), str(other), share))
    return differences


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _share(value: object, other: object, tolerance: Tolerance) -> float:
    if type(value) is not type(other):
        return CHANGED
    if isinstance(value, float) and isinstance(other, float):
        return share_of(value, other, tolerance)
    return 0.0 if value == other else CHANGED
