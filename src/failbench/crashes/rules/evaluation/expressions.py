"""Evaluation of expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import Any, Final

from failbench.crashes.rules.evaluation import attributes, calls, iteration, operators, subscripts
from failbench.crashes.rules.knowledge.folding import (
    NotConcreteError,
    concrete,
    is_plain,
    key_of,
    lift,
)
from failbench.crashes.rules.knowledge.state import State, joined, truth
from failbench.crashes.rules.knowledge.syntax import bound_names, global_names
from failbench.crashes.rules.knowledge.values import (
    Array,
    Function,
    Known,
    Mapping,
    Sequence,
    Symbol,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError

GIVEN: Final = frozenset({"display", "get_ipython", "In", "Out", "exit", "quit", "__name__",
    "__file__", "__doc__", "__builtins__", "__builtin__", "__spec__", "__loader__",
    "__package__", "__debug__"})  # fmt: skip
"""Names that a kernel of IPython has besides those of Python."""


def evaluate(node: ast.expr, state: State) -> Value:
    """The value of an expression.

    Raises
    ------
    ViolationError
        If it is certain to raise.
    ExhaustedError
        If there is too much to follow.
    """
    state.step()
    if state.depth == 0:
        state.line = node.lineno
    handler = HANDLERS.get(type(node))
    return Unknown() if handler is None else handler(node, state)


def at(node: ast.expr, state: State) -> None:
    """Come back to the line of an expression after its parts were evaluated."""
    if state.depth == 0:
        state.line = node.lineno


def _constant(node: ast.Constant, _state: State) -> Value:
    return Known(node.value)


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


def _tuple(node: ast.Tuple, state: State) -> Value:
    return _sequence("tuple", node.elts, state)


def _list(node: ast.List, state: State) -> Value:
    return _sequence("list", node.elts, state)


def _set(node: ast.Set, state: State) -> Value:
    return _sequence("set", node.elts, state)


def _sequence(kind: str, nodes: list[ast.expr], state: State) -> Value:
    items: list[Value] | None = []
    for each in nodes:
        if isinstance(each, ast.Starred):
            inner = iteration.elements(evaluate(each.value, state))
            items = None if items is None or inner is None else [*items, *inner]
        else:
            value = evaluate(each, state)
            if items is not None:
                items.append(value)
    if kind == "set" and items is not None:
        try:
            return lift({key_of(item) for item in items})
        except NotConcreteError:
            return Sequence("set")
    return Sequence(kind, items)


def _dict(node: ast.Dict, state: State) -> Value:
    mapping = Mapping()
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = evaluate(value, state)
            if isinstance(inner, Mapping):
                mapping.items |= inner.items
                mapping.is_complete &= inner.is_complete
            else:
                mapping.is_complete = False
            continue
        known = evaluate(key, state)
        if isinstance(known, (Mapping,)) or (
            isinstance(known, Sequence) and known.kind in ("list", "set")
        ):
            name = known.kind
            raise ViolationError("TypeError", f"a key must be hashable, and a {name} is not")
        stored = evaluate(value, state)
        try:
            mapping.items[key_of(known)] = stored
        except NotConcreteError:
            mapping.is_complete = False
    return mapping


def _joined_text(node: ast.JoinedStr, state: State) -> Value:
    parts: list[str] | None = []
    for each in node.values:
        value = evaluate(each.value if isinstance(each, ast.FormattedValue) else each, state)
        layout = ""
        if isinstance(each, ast.FormattedValue) and each.format_spec is not None:
            spec = evaluate(each.format_spec, state)
            layout = str(spec.data) if isinstance(spec, Known) else "?"
        if isinstance(each, ast.FormattedValue):
            operators.check_format(value, layout)
        if isinstance(value, Known) and parts is not None and layout != "?":
            conversion = each.conversion if isinstance(each, ast.FormattedValue) else -1
            data = repr(value.data) if conversion == ord("r") else value.data
            try:
                parts.append(format(data, layout))
            except (TypeError, ValueError) as error:
                raise ViolationError(type(error).__name__, str(error)) from error
        else:
            parts = None
    if parts is None or sum(map(len, parts)) > 10_000:
        return Array("python", (), "str")
    return Known("".join(parts))


def _attribute(node: ast.Attribute, state: State) -> Value:
    value = evaluate(node.value, state)
    at(node, state)
    return attributes.attribute(value, node.attr, state)


def _subscript(node: ast.Subscript, state: State) -> Value:
    value = evaluate(node.value, state)
    index = evaluate(node.slice, state)
    at(node, state)
    return subscripts.item(value, index, state)


def _slice(node: ast.Slice, state: State) -> Value:
    ends = [None if e is None else evaluate(e, state) for e in (node.lower, node.upper, node.step)]
    try:
        known = [None if end is None else concrete(end) for end in ends]
    except NotConcreteError:
        return subscripts.UncertainSlice()
    return Known(slice(*known))


def _call(node: ast.Call, state: State) -> Value:
    function = evaluate(node.func, state)
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    is_complete = True
    for each in node.args:
        if isinstance(each, ast.Starred):
            inner = iteration.elements(evaluate(each.value, state))
            if inner is None:
                is_complete = False
                # what follows has no known position
                for rest in node.args[node.args.index(each) + 1 :]:
                    evaluate(rest.value if isinstance(rest, ast.Starred) else rest, state)
                break
            args.extend(inner)
        else:
            args.append(evaluate(each, state))
    for keyword in node.keywords:
        value = evaluate(keyword.value, state)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Mapping) and all(isinstance(key, str) for key in value.items):
            kwargs |= {str(key): item for key, item in value.items.items()}
            is_complete &= value.is_complete
        else:
            is_complete = False
    at(node, state)
    if isinstance(function, Symbol) and function.path == "builtins.super" and not args:
        return calls.parent(state)
    return calls.call(state, function, args, kwargs, is_complete)


def _binary(node: ast.BinOp, state: State) -> Value:
    left, right = evaluate(node.left, state), evaluate(node.right, state)
    at(node, state)
    return operators.binary(type(node.op).__name__, left, right, state)


def _unary(node: ast.UnaryOp, state: State) -> Value:
    value = evaluate(node.operand, state)
    at(node, state)
    return operators.unary(type(node.op).__name__, value, state)


def _compare(node: ast.Compare, state: State) -> Value:
    left = evaluate(node.left, state)
    result: Value = Unknown()
    for place, (operator, each) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(each, state)
        at(node, state)
        compared = operators.compare(type(operator).__name__, left, right, state)
        result = compared if place == 0 else _both(result, compared)
        is_true = operators.certain_truth(compared) if len(node.ops) > 1 else None
        if is_true is False:
            return Known(False)
        if is_true is None and place < len(node.ops) - 1:
            return Unknown()
        left = right
    return result


def _both(left: Value, right: Value) -> Value:
    first, second = truth(left), truth(right)
    if first is False or second is False:
        return Known(False)
    return Known(True) if first and second else Unknown()


def _boolean(node: ast.BoolOp, state: State) -> Value:
    ends_with = isinstance(node.op, ast.Or)
    value: Value = Unknown()
    for place, each in enumerate(node.values):
        value = evaluate(each, state)
        if place == len(node.values) - 1:
            break
        is_true = operators.certain_truth(value)
        if is_true is None:
            for rest in node.values[place + 1 :]:
                attempt(rest, state)
            return Unknown()
        if is_true is ends_with:
            return value
    return value


def attempt(node: ast.expr, state: State) -> Value:
    """Evaluate what may not be evaluated at all: a violation is not certain."""
    try:
        return evaluate(node, state)
    except ViolationError:
        return Unknown()


def _choice(node: ast.IfExp, state: State) -> Value:
    is_true = operators.certain_truth(evaluate(node.test, state))
    if is_true is None:
        return joined(attempt(node.body, state), attempt(node.orelse, state))
    return evaluate(node.body if is_true else node.orelse, state)


def _lambda(node: ast.Lambda, state: State) -> Value:
    return function_of(node, state)


def function_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, state: State
) -> Function:
    """A function as it is defined, with its defaults and what it sees."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    defaults = {
        each.arg: evaluate(value, state)
        for each, value in zip(with_default, arguments.defaults, strict=True)
    }
    for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            defaults[each.arg] = evaluate(value, state)
    closure: list[dict[str, Value]] = []
    if state.scopes:
        outer = state.scopes[-1].get("<outer>")
        closure = [*(outer.data if isinstance(outer, Known) else []), state.scopes[-1]]
    return Function(node, defaults, closure)


def scope_of(node: ast.AST, closure: list[dict[str, Value]]) -> dict[str, Value]:
    """A new scope for the body of a function."""
    return {
        "<local>": Known(bound_names(node) - global_names(node)),
        "<global>": Known(global_names(node)),
        "<outer>": Known(closure),
    }


def _comprehension(node: Any, state: State) -> Value:
    items: list[tuple[Value, Value]] = []
    outer = state.scopes[-1] if state.scopes else None
    closure: list[dict[str, Value]] = []
    if outer is not None:
        further = outer.get("<outer>")
        closure = [*(further.data if isinstance(further, Known) else []), outer]
    first = evaluate(node.generators[0].iter, state)
    local = frozenset(
        each.id
        for generator in node.generators
        for each in ast.walk(generator.target)
        if isinstance(each, ast.Name)
    )
    scope: dict[str, Value] = {
        "<local>": Known(local),
        "<global>": Known(frozenset()),
        "<outer>": Known(closure),
    }
    is_complete = True

    def produce(level: int, iterable: Value) -> bool:
        generator = node.generators[level]
        run = iteration.rounds(iterable, state)
        exact = run.is_exact
        for element in run.elements:
            assign(generator.target, element, state)
            keep: bool | None = True
            for test in generator.ifs:
                is_true = operators.certain_truth(evaluate(test, state))
                keep = False if is_true is False else None if is_true is None else keep
                if keep is False:
                    break
            if keep is False:
                continue
            if keep is None:
                exact = False
                with_doubt(level)
                continue
            if level + 1 < len(node.generators):
                exact &= produce(level + 1, evaluate(node.generators[level + 1].iter, state))
            else:
                items.append(_produced(node, state))
        return exact

    def with_doubt(level: int) -> None:
        try:
            if level + 1 < len(node.generators):
                produce(level + 1, evaluate(node.generators[level + 1].iter, state))
            else:
                items.append(_produced(node, state))
        except ViolationError:
            return

    line = state.line
    state.scopes.append(scope)
    try:
        is_complete = produce(0, first)
    finally:
        state.scopes.pop()
    if state.depth == 0:
        state.line = line
    return _collected(node, items, is_complete)


def _produced(node: Any, state: State) -> tuple[Value, Value]:
    if isinstance(node, ast.DictComp):
        return evaluate(node.key, state), evaluate(node.value, state)
    return evaluate(node.elt, state), Unknown()


def _collected(node: Any, items: list[tuple[Value, Value]], is_complete: bool) -> Value:
    if isinstance(node, ast.DictComp):
        mapping = Mapping({}, is_complete)
        for key, value in items if is_complete else []:
            try:
                mapping.items[key_of(key)] = value
            except NotConcreteError:
                mapping.is_complete = False
        return mapping
    kinds = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "iterator"}
    kind = kinds[type(node)]
    if not is_complete:
        element = items[0][0] if items else Unknown()
        for value, _ in items[1:5]:
            element = joined(element, value)
        return Sequence(kind, None, None, element)
    values = [value for value, _ in items]
    if kind == "set":
        try:
            return lift({key_of(value) for value in values})
        except NotConcreteError:
            return Sequence("set")
    return Sequence(kind, values)


def _named(node: ast.NamedExpr, state: State) -> Value:
    value = evaluate(node.value, state)
    assign(node.target, value, state)
    return value


def _starred(node: ast.Starred, state: State) -> Value:
    evaluate(node.value, state)
    return Unknown()


def _other(node: ast.expr, state: State) -> Value:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            evaluate(child, state)
    return Unknown()


def assign(target: ast.expr, value: Value, state: State) -> None:
    """Bind a value to a name, an attribute, an item, or its elements to several of them."""
    state.step()
    if isinstance(target, ast.Name):
        bind(target.id, value, state)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(target.elts, value, state)
    elif isinstance(target, ast.Starred):
        assign(target.value, value, state)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(target.value, state)
        at(target, state)
        attributes.set_attribute(owner, target.attr, value, state)
    elif isinstance(target, ast.Subscript):
        owner = evaluate(target.value, state)
        index = evaluate(target.slice, state)
        at(target, state)
        subscripts.set_item(owner, index, value, state)


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


def _unpack(targets: list[ast.expr], value: Value, state: State) -> None:
    iteration.check_iterable(value)
    items = iteration.elements(value)
    size = len(items) if items is not None else iteration.length(value)
    starred = [place for place, each in enumerate(targets) if isinstance(each, ast.Starred)]
    if size is not None:
        fewest = len(targets) - len(starred)
        if size < fewest:
            reason = f"{size} values are unpacked into {fewest} names"
            raise ViolationError("ValueError", f"not enough values to unpack: {reason}")
        if size > fewest and not starred:
            reason = f"{size} values are unpacked into {fewest} names"
            raise ViolationError("ValueError", f"too many values to unpack: {reason}")
    if items is None:
        element = iteration.element(value, state)
        for each in targets:
            assign(each, Unknown() if isinstance(each, ast.Starred) else element, state)
        return
    if starred:
        place = starred[0]
        after = len(targets) - place - 1
        middle = items[place : len(items) - after]
        items = [*items[:place], Sequence("list", list(middle)), *items[len(items) - after :]]
    for each, item in zip(targets, items, strict=False):
        assign(each, item, state)


def targets_of(nodes: list[ast.expr]) -> Iterator[str]:
    """Names that are bound by targets."""
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name):
                yield each.id


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined_text,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.IfExp: _choice,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Await: _other,
    ast.Yield: _other,
    ast.YieldFrom: _other,
}
