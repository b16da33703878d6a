"""Names that are read and bound."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.knowledge.folding import is_plain
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Known, Symbol, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

GIVEN: Final = frozenset({"display", "get_ipython", "In", "Out", "exit", "quit", "__name__",
    "__file__", "__doc__", "__builtins__", "__builtin__", "__spec__", "__loader__",
    "__package__", "__debug__"})  # fmt: skip
"""Names that a kernel of IPython has besides those of Python."""


def _name(node: ast.Name, state: State) -> Value:
    return look_up(node.id, state)


def look_up(name: str, state: State) -> Value:
    """The value of a name."""
    if state.scopes:
        scope = state.scopes[-1]
        if name in scope:
            return scope[name]
        local = scope.get("<local>")
        if isinstance(local, Known) and name in local.data:
            reason = f"the local variable '{name}' is read before it is bound"
            raise ViolationError("UnboundLocalError", reason)
        outer = scope.get("<outer>")
        for closure in reversed(outer.data if isinstance(outer, Known) else []):
            if name in closure:
                found: Value = closure[name]
                return found
    if name in state.names:
        return state.names[name]
    if hasattr(builtins, name):
        constant = getattr(builtins, name)
        return Known(constant) if is_plain(constant) else Symbol(f"builtins.{name}")
    if name in GIVEN or name.strip("_i0123456789") == "" or not state.is_complete:
        return Unknown()
    raise ViolationError("NameError", f"name '{name}' is not defined")


def bind(name: str, value: Value, state: State) -> None:
    """Bind a name where the code that is being evaluated binds its names."""
    if not state.scopes:
        state.names[name] = value
        return
    scope = state.scopes[-1]
    declared = scope.get("<global>")
    local = scope.get("<local>")
    if isinstance(declared, Known) and name in declared.data:
        state.names[name] = value
    elif isinstance(local, Known) and name not in local.data:
        outer = scope.get("<outer>")
        for closure in reversed(outer.data if isinstance(outer, Known) else []):
            if name in closure:
                closure[name] = value
                return
        if not isinstance(outer, Known):
            return
        (state.names if not outer.data else outer.data[-1])[name] = value
    else:
        scope[name] = value


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.Name: _name,
}
