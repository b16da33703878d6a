"""YAML of strangers: plain values alone, of bounded size once its aliases are written out."""

from __future__ import annotations

import re
from typing import Final

import yaml

DEEPEST: Final = 32
"""Levels of nesting; configurations of trainings have up to six."""

MOST_VALUES: Final = 20_000
"""Values, each counted where it is repeated by an alias; model configurations have hundreds."""


class TooLargeError(ValueError):
    """More values, or deeper ones, than a configuration has."""


def yaml_value(text: str) -> object:
    """The value of a document; of values with a tag of their own nothing is made."""
    _refuse_depth(text)
    try:
        _measure(text)
        value: object = yaml.load(text, Loader=_PlainLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except (RecursionError, TypeError) as error:
        raise ValueError("it is no plain YAML") from error
    return value


def _refuse_depth(text: str) -> None:
    """Refuse deep nesting in one line, over which the scanner takes a time of its square."""
    if re.search(r"(?:[-?][ \t]+){33}", text):
        raise TooLargeError(f"nests deeper than {DEEPEST} levels.")
    depth = 0
    for found in re.finditer(r"[\[{\]}]", text):
        depth = depth + 1 if found[0] in "[{" else max(0, depth - 1)
        if depth > 10 * DEEPEST:
            raise TooLargeError(f"nests deeper than {DEEPEST} levels.")


def _measure(text: str) -> None:
    """Count values with each alias written out, before any is built: merging repeats them."""
    open_sizes = [0]
    names: list[str | None] = []
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        size = 0
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.CollectionStartEvent):
            open_sizes.append(1)
            names.append(anchor)
            continue
        if isinstance(event, yaml.AliasEvent):
            if anchor in names:
                raise TooLargeError("contains itself.")
            size = sizes.get(str(anchor), 0)
        elif isinstance(event, yaml.ScalarEvent):
            size = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = open_sizes.pop(), names.pop()
        if anchor is not None:
            sizes[anchor] = size
        open_sizes[-1] += size
        if open_sizes[-1] > MOST_VALUES or len(open_sizes) > DEEPEST:
            raise TooLargeError(
                f"has more than {MOST_VALUES:,} settings, or nests deeper than {DEEPEST} levels."
            )


class _PlainLoader(yaml.SafeLoader):
    """Builds numbers, words, lists and mappings; Lightning tags the objects it was handed."""


_PlainLoader.add_multi_constructor("", lambda *_: None)
