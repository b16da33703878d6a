"""All rules of functions, methods and properties, by the paths of their documentation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Final

from failbench.crashes.rules.state import Call, State
from failbench.crashes.rules.values import Value

Handler = Callable[[Call], Value]
Property = Callable[[Value, str, State], Value]
Writer = Callable[[Value, Value, State], None]

MODULES: Final = (
    "builtin", "containers", "numpy_creation", "numpy_functions", "array_methods", "random",
    "linear_algebra", "series_methods", "frame_methods", "pandas_functions", "grouped",
    "estimators", "metrics", "selection", "data_sets", "drawing", "pictures", "boosting",
    "tensors", "tensor_methods", "losses", "layers", "training",
)  # fmt: skip
"""Modules of rules; each may have FUNCTIONS, PROPERTIES and WRITERS."""


@cache
def functions() -> dict[str, Handler]:
    """Rules of functions, classes and methods."""
    return _collected("FUNCTIONS")


@cache
def properties() -> dict[str, Property]:
    """Rules of attributes that are read."""
    return _collected("PROPERTIES")


@cache
def writers() -> dict[str, Writer]:
    """Rules of attributes that are set."""
    return _collected("WRITERS")


def _collected(name: str) -> dict:  # type: ignore[type-arg]
    collected = {}
    for module in MODULES:
        collected.update(getattr(import_module(f"failbench.crashes.rules.{module}"), name, {}))
    return collected
