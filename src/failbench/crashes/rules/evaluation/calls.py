"""Calls: arguments are held against the interface, then the rule of the function is applied."""

from __future__ import annotations

import ast
from typing import Final

from failbench.crashes.rules.evaluation import registry, statements
from failbench.crashes.rules.evaluation.attributes import class_path
from failbench.crashes.rules.evaluation.classes import is_network, library_bases, parents
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.evaluation.functions import scope_of
from failbench.crashes.rules.knowledge.interfaces import (
    class_of,
    documented_path,
    parameters,
    removed,
)
from failbench.crashes.rules.knowledge.state import DEEPEST, Call, State, joined
from failbench.crashes.rules.knowledge.values import (
    Array,
    Bound,
    Class,
    Estimator,
    Frame,
    Function,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Symbol,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings

ALIASES: Final = {
    "mpl_toolkits.mplot3d.Axes3D": "matplotlib.axes.Axes",
    "matplotlib.projections.polar.PolarAxes": "matplotlib.axes.Axes",
    "pandas.DatetimeIndex": "pandas.Index",
    "pandas.RangeIndex": "pandas.Index",
    "pandas.MultiIndex": "pandas.Index",
}
"""Classes whose methods have the rules of another."""


def call(
    state: State, function: Value, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> Value:
    """The value of a call.

    Raises
    ------
    ViolationError
        If the arguments do not fit, or the function refuses what it is given.
    """
    state.step()
    if isinstance(function, Function):
        return run(state, function, args, kwargs, is_complete)
    if isinstance(function, Bound):
        return _method(state, function, args, kwargs, is_complete)
    if isinstance(function, Symbol):
        return _library(state, function.path, args, kwargs, is_complete)
    if isinstance(function, Class):
        return _instance(state, function, args, kwargs, is_complete)
    if isinstance(function, Network):
        rule = registry.functions()["forward"]
        return rule(Call(state, function.path, args, kwargs, is_complete, function))
    if isinstance(function, Instance):
        return _called(state, function, args, kwargs, is_complete)
    if isinstance(function, Thing):
        return Unknown()
    plain = isinstance(function, (Known, Sequence, Mapping, Array, Frame, Estimator))
    if plain and not (
        isinstance(function, Array) and function.home == "python" and function.dtype is None
    ):
        kind = class_path(function) or type(getattr(function, "data", function)).__name__
        raise ViolationError("TypeError", f"a {kind} cannot be called")
    return Unknown()


def _library(
    state: State, path: str, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> Value:
    known = documented_path(path)
    check_arguments(known, args, kwargs, is_complete)
    made = Call(state, known, args, kwargs, is_complete)
    rules = registry.functions()
    rule = rules.get(known) or rules.get(path)
    if rule is None and known.startswith("matplotlib.pyplot."):
        rule = rules.get("pyplot")
    described = class_of(known)
    if described is not None:
        if rule is not None:
            return rule(made)
        if known.startswith(("sklearn.", "lightgbm.")) and "BaseEstimator" in described["bases"]:
            return rules["estimator"](made)
        if "Module" in described["bases"] and known.startswith("torch.nn"):
            return rules["layer"](made)
        if "Optimizer" in described["bases"]:
            return rules["optimizer"](made)
        return Thing(known, {"arguments": args, **kwargs})
    settings.check_call(made)
    if rule is not None:
        return rule(made)
    if known.startswith(("contextlib.", "torch.no_grad", "torch.inference_mode")):
        return Thing(known, {"arguments": args})
    return Unknown()


def _method(
    state: State, bound: Bound, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> Value:
    receiver = bound.receiver
    if bound.function is not None:
        return run(state, bound.function, [receiver, *args], kwargs, is_complete)
    path = class_path(receiver)
    rules = registry.functions()
    if isinstance(receiver, Symbol):
        path = receiver.path
    if path is None:
        kind = _container(receiver)
        rule = rules.get(f"{kind}.{bound.name}") or rules.get(f"{kind}.*")
        if rule is None:
            return Unknown()
        return rule(Call(state, f"{kind}.{bound.name}", args, kwargs, is_complete, receiver))
    checked = documented_path(path)
    is_inherited = isinstance(receiver, Network) and parameters(f"{checked}.{bound.name}") is None
    owner = "torch.nn.Module" if is_inherited else checked
    check_arguments(f"{owner}.{bound.name}", args, kwargs, is_complete)
    made = Call(state, f"{checked}.{bound.name}", args, kwargs, is_complete, receiver)
    rule = rules.get(made.path)
    if rule is None and checked in ALIASES:
        rule = rules.get(f"{ALIASES[checked]}.{bound.name}")
    if rule is None and isinstance(receiver, Estimator):
        rule = rules["estimator method"]
    if rule is None and isinstance(receiver, Network):
        rule = rules.get(f"torch.nn.Module.{bound.name}")
    if rule is None and ALIASES.get(checked, checked) == "matplotlib.axes.Axes":
        rule = rules["axes method"]
    return Unknown() if rule is None else rule(made)


def _container(value: Value) -> str:
    if isinstance(value, Sequence):
        return value.kind
    if isinstance(value, Mapping):
        return "dict"
    if isinstance(value, Known):
        return type(value.data).__name__
    if is_network(value):
        return "torch.nn.Module"
    return "?"


def check_arguments(
    path: str, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> None:
    """Refuse arguments that a function does not have, and a call without those it must have.

    Raises
    ------
    ViolationError
        ``TypeError``, or what a table says of an argument that was removed.
    """
    for name in kwargs:
        row = removed().get((path, name, "argument"))
        if row is not None:
            reason = f"{path} has no argument {name} since {row.version}: {row.remedy}"
            raise ViolationError(row.exception, reason)
    known = parameters(path)
    if known is None:
        return
    name = path.rpartition(".")[2]
    for given in kwargs:
        if given not in known.named and not known.takes_any:
            raise ViolationError("TypeError", f"{name} has no argument {given}")
    if len(args) > len(known.positional) and not known.takes_more:
        reason = f"{name} takes {len(known.positional)} arguments by position, not {len(args)}"
        raise ViolationError("TypeError", reason)
    twice = [
        each for each in known.positional[: len(args)] if each in kwargs and each in known.named
    ]
    if twice and not known.takes_more:
        raise ViolationError("TypeError", f"{name} is given {twice[0]} twice")
    if is_complete:
        given_by_place = set(known.positional[: len(args)])
        for each in known.required:
            if each not in given_by_place and each not in kwargs:
                raise ViolationError("TypeError", f"{name} is called without {each}")


def run(
    state: State, function: Function, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> Value:
    """Evaluate the body of a function of the notebook."""
    scope = scope_of(function.node, function.closure)
    _bind_arguments(function, scope, args, kwargs, is_complete)
    if state.depth >= DEEPEST:
        return Unknown()
    stored = state.scopes
    state.scopes = [*stored, scope]
    state.depth += 1
    try:
        if isinstance(function.node, ast.Lambda):
            return evaluate(function.node.body, state)
        if _is_generator(function):
            return Unknown()
        outcome = statements.execute(function.node.body, state)
    finally:
        state.depth -= 1
        state.scopes = state.scopes[:-1] if state.scopes[:-1] else stored
    value = outcome.value if outcome.end == "return" else Known(None)
    for each in outcome.maybe:
        value = joined(value, each)
    return Unknown() if outcome.is_doubtful and not outcome.maybe else value


def _is_generator(function: Function) -> bool:
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(function.node))


def _bind_arguments(
    function: Function,
    scope: dict[str, Value],
    args: list[Value],
    kwargs: dict[str, Value],
    is_complete: bool,
) -> None:
    arguments = function.node.args
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    named = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)]
    if len(args) > len(positional) and arguments.vararg is None:
        reason = f"{function.name} takes {len(positional)} arguments by position, not {len(args)}"
        raise ViolationError("TypeError", reason)
    scope |= dict(zip(positional, args, strict=False))
    if arguments.vararg is not None:
        rest = list(args[len(positional) :])
        scope[arguments.vararg.arg] = Sequence("tuple", rest if is_complete else None)
    others: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in named:
            if name in positional[: len(args)]:
                raise ViolationError("TypeError", f"{function.name} is given {name} twice")
            scope[name] = value
        elif arguments.kwarg is None:
            raise ViolationError("TypeError", f"{function.name} has no argument {name}")
        else:
            others[name] = value
    if arguments.kwarg is not None:
        scope[arguments.kwarg.arg] = Mapping(dict(others), is_complete)
    for name in (*positional, *(each.arg for each in arguments.kwonlyargs)):
        if name in scope:
            continue
        if not is_complete:
            scope[name] = Unknown()
        elif name in function.defaults:
            scope[name] = function.defaults[name]
        else:
            raise ViolationError("TypeError", f"{function.name} is called without {name}")


def _instance(
    state: State, cls: Class, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> Value:
    bases = library_bases(cls)
    made = Instance(cls, {}, bases is not None)
    for each in parents(cls):
        maker = each.members.get("__init__")
        if isinstance(maker, Function):
            run(state, maker, [made, *args], kwargs, is_complete)
            return made
        fields = each.members.get("<fields>")
        if isinstance(fields, Known):
            made.attributes |= dict(zip(fields.data, args, strict=False)) | kwargs
            made.is_complete = False
            return made
    if is_network(made):
        made.attributes["<started>"] = Known(True)
    elif not bases and bases is not None and (args or kwargs):
        raise ViolationError("TypeError", f"{cls.name} takes no arguments")
    elif bases and any(not path.startswith("torch.utils.data") for path in bases):
        made.is_complete = False
    return made


def _called(
    state: State, value: Instance, args: list[Value], kwargs: dict[str, Value], is_complete: bool
) -> Value:
    names = ("forward",) if is_network(value) else ("__call__",)
    for cls in parents(value.cls):
        for name in names:
            method = cls.members.get(name)
            if isinstance(method, Function):
                return run(state, method, [value, *args], kwargs, is_complete)
    bases = library_bases(value.cls)
    if is_network(value) and bases == ["torch.nn.Module"]:
        raise ViolationError("NotImplementedError", f"{value.cls.name} has no forward")
    if bases == [] and value.cls.is_complete:
        raise ViolationError("TypeError", f"a {value.cls.name} cannot be called")
    return Unknown()


def parent(state: State) -> Value:
    """The value of ``super()`` in a method."""
    scope = state.scopes[-1] if state.scopes else {}
    first = next((value for name, value in scope.items() if not name.startswith("<")), Unknown())
    return Thing("super", {"self": first})
