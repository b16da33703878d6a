"""What an assignment of the notebook makes, where it does nothing but construct."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any, Final

from failbench.crashes.dry_run.known import Meaning, is_place
from failbench.crashes.dry_run.namespace import UnknownNameError
from failbench.crashes.dry_run.needs import NotRebuiltError

Named = Callable[[str, Meaning], Any]
"""Gives what a name meant, or raises NotRebuiltError."""

SAME: Final = frozenset(
    {"cpu", "double", "eval", "fit", "float", "requires_grad_", "set_output", "to", "train"}
)
"""Methods that return the object that they change; what they change is told by the summary."""

FORBIDDEN: Final = (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)


@cache
def makers() -> frozenset[str]:
    """Functions that make an object of their arguments alone, and methods that change nothing."""
    text = files(__package__).joinpath("data/makers.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def construct(meaning: Meaning, named: Named) -> Any:
    """The value of an assignment, of which every call is one of a class or of a maker."""
    if meaning.value is None:
        raise NotRebuiltError("the code does not say how it was made")
    value = _without_changes(meaning.value)
    nodes = list(ast.walk(value))
    names_in = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names_in if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names: dict[str, Any] = {"__builtins__": {}}
    for node in names_in:
        if node.id not in (*bound, *names):
            names[node.id] = _meant(node.id, meaning, named)
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    if any(isinstance(node, FORBIDDEN) for node in nodes) or not all(
        _is_constructor(function, names) for function in calls
    ):
        raise NotRebuiltError("the code does more than to construct it")
    try:
        return _value(value, names)
    except (Exception, UnknownNameError) as error:
        raise NotRebuiltError(f"to construct it raised {type(error).__name__}") from error


def _without_changes(value: ast.expr) -> ast.expr:
    """An expression without the methods at its end that return what they change."""
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in SAME
    ):
        value = value.func.value
    return value


def _meant(name: str, meaning: Meaning, named: Named) -> Any:
    before = meaning.before.get(name)
    if before is not None:
        return named(name, before)
    if not hasattr(builtins, name):
        raise NotRebuiltError(f"{name} is not known")
    return getattr(builtins, name)


def _is_constructor(function: ast.expr, names: dict[str, Any]) -> bool:
    if isinstance(function, ast.Attribute) and f".{function.attr}" in makers():
        return True
    if not is_place(function):
        return False
    try:
        value = _value(function, names)
    except Exception:
        return False
    if isinstance(value, type):
        return True
    holder = names.get(ast.unparse(function).partition(".")[0])
    home = holder.__name__ if isinstance(holder, ModuleType) else getattr(value, "__module__", "")
    own = getattr(value, "__name__", "")
    name = function.attr if isinstance(function, ast.Attribute) else own
    return f"{str(home).partition('.')[0]}.{name}" in makers()


def _value(expression: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(expression), "<code>", "eval"), dict(names))  # noqa: S307
