"""Everything that code names: modules, functions, classes; and objects of other classes."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from failbench.crashes.dry_run.needs import NotRebuiltError, check_module

Entry = dict[str, Any]


def library(entry: Entry) -> Any:
    """A module of a library.

    Raises
    ------
    NotRebuiltError
        If it is not on the list of modules, or not installed.
    """
    name = entry["type"]["module"]
    check_module(name)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotRebuiltError(f"the module {name} is not installed") from error


def member(module: str, name: str) -> Any:
    """What a module of a library defines under a qualified name.

    Raises
    ------
    NotRebuiltError
        If it does not.
    """
    value = library({"type": {"module": module}})
    try:
        for part in name.split("."):
            value = getattr(value, part)
    except AttributeError as error:
        raise NotRebuiltError(f"{module} has no {name}") from error
    return value


def class_named(path: str, defined: Callable[[str], Any]) -> Any:
    """A class from its module and name.

    Parameters
    ----------
    defined
        Gives what the notebook defines under a name.

    Raises
    ------
    NotRebuiltError
        If it is neither of a library nor of the notebook.
    """
    module, _, name = path.rpartition(".")
    if module == "__main__":
        value = defined(name)
    else:
        value = member(module or "builtins", name) if module else getattr(builtins, name, None)
    if not isinstance(value, type):
        raise NotRebuiltError(f"{path} is no class that is known")
    return value


def function(entry: Entry, defined: Callable[[str], Any]) -> Any:
    """A function of a library or of the notebook.

    Raises
    ------
    NotRebuiltError
        If it is a method of an object, or it is not known where it is from.
    """
    known = entry["type"]
    if known["class"] != "function" or "module" not in known:
        raise NotRebuiltError("the object that it belongs to is not told")
    if known["module"] == "__main__":
        return defined(known["name"])
    return member(known["module"], known["name"])


def random_generator(entry: Entry, seed: int) -> Any:
    """A generator of random numbers, with a seed of the dry run."""
    if entry["type"]["class"].endswith("RandomState"):
        return np.random.RandomState(seed % 2**32)
    return np.random.default_rng(seed)


def notebook_object(
    entry: Entry,
    cls: Any,
    rebuild: Callable[[Entry], Any],
    asked: frozenset[str],
    unknown: Callable[[], Any],
) -> Any:
    """An object of a class of the notebook, with what it stores and without its constructor."""
    items = entry.get("items", {})
    made = object.__new__(cls)
    for name in entry.get("structural", {}).get("stored", ()):
        object.__setattr__(made, name, rebuild(items[name]) if name in items else unknown())
    for name in asked:
        if name.startswith("_") and not name.startswith("__") and not hasattr(cls, name):
            object.__setattr__(made, name, unknown())
    return made
