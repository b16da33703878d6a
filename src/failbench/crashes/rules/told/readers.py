"""What reads a summary, by the kind of value that it tells of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

from failbench.crashes.rules.knowledge.values import Value

MODULES: Final = (
    "scalars", "arrays", "frames", "containers", "estimators", "networks", "objects",
)  # fmt: skip
"""Modules with READERS; they are imported when first asked, as they read what values hold."""


@cache
def readers() -> dict[str, Callable[[Value, dict[str, Any]], Value]]:
    """Functions from what the code says of a value, and its entry in the summary, to the value."""
    collected: dict[str, Callable[[Value, dict[str, Any]], Value]] = {}
    for module in MODULES:
        collected.update(import_module(f"failbench.crashes.rules.told.{module}").READERS)
    return collected
