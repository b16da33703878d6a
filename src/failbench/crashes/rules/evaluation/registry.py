"""All rules of functions, methods and properties, by the paths of their documentation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import Value

Handler = Callable[[Call], Value]
Property = Callable[[Value, str, State], Value]
Writer = Callable[[Value, Value, State], None]

MODULES: Final = (
    "evaluation.builtin", "evaluation.containers", "arrays.creation", "arrays.functions",
    "arrays.methods", "arrays.array_attributes", "arrays.draws", "arrays.linear_algebra",
    "frames.series_methods", "frames.accessors", "frames.frame_methods",
    "frames.frame_attributes", "frames.making", "frames.grouped", "learning.estimators",
    "learning.learnt", "learning.metrics", "learning.selection", "learning.data_sets",
    "learning.boosting", "figures.drawing", "figures.panels", "figures.pictures",
    "networks.tensors", "networks.tensor_methods", "networks.gradients", "networks.losses",
    "networks.layers", "networks.training",
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


def _collected(name: str) -> dict[str, Any]:
    """The rules of all modules, in one dictionary."""
    collected: dict[str, Any] = {}
    for module in MODULES:
        collected.update(getattr(import_module(f"failbench.crashes.rules.{module}"), name, {}))
    return collected
