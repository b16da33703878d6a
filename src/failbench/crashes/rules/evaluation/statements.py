"""Evaluation of statements."""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as Statements
from dataclasses import dataclass, field
from typing import Any, Final

from failbench.crashes.rules.evaluation import attributes, imports, iteration, operators, subscripts
from failbench.crashes.rules.evaluation.expressions import (
    assign,
    bind,
    evaluate,
    function_of,
    look_up,
)
from failbench.crashes.rules.knowledge.state import State, joined
from failbench.crashes.rules.knowledge.syntax import touched_names
from failbench.crashes.rules.knowledge.values import (
    Array,
    Class,
    Instance,
    Known,
    Mapping,
    Sequence,
    Symbol,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError, is_caught


@dataclass
class Outcome:
    """How a run of statements ended.

    Parameters
    ----------
    end
        ``next``, or ``return``, ``break``, ``continue``.
    value
        That was returned.
    maybe
        Values that may have been returned before; what follows them is not certain to be executed.
    """

    end: str = "next"
    value: Value = field(default_factory=lambda: Known(None))
    maybe: list[Value] = field(default_factory=list)
    is_doubtful: bool = False


def execute(body: Statements[ast.stmt], state: State) -> Outcome:
    """Evaluate statements in order."""
    maybe: list[Value] = []
    is_doubtful = False
    for node in body:
        state.step()
        if state.depth == 0:
            state.line = node.lineno
        handler = HANDLERS.get(type(node))
        if handler is None:
            continue
        try:
            outcome = handler(node, state)
        except ViolationError:
            if maybe or is_doubtful:
                return Outcome("return", Unknown(), maybe, True)
            raise
        if outcome is None:
            continue
        maybe += outcome.maybe
        is_doubtful |= outcome.is_doubtful
        if outcome.end != "next":
            return Outcome(outcome.end, outcome.value, maybe, is_doubtful)
    return Outcome("next", Known(None), maybe, is_doubtful)


def _expression(node: ast.Expr, state: State) -> None:
    evaluate(node.value, state)


def _assign(node: ast.Assign, state: State) -> None:
    value = evaluate(node.value, state)
    for target in node.targets:
        assign(target, value, state)


def _annotated(node: ast.AnnAssign, state: State) -> None:
    if node.value is not None:
        assign(node.target, evaluate(node.value, state), state)


def _augmented(node: ast.AugAssign, state: State) -> None:
    target = node.target
    operator = type(node.op).__name__
    if isinstance(target, ast.Name):
        old = look_up(target.id, state)
        new = operators.in_place(operator, old, evaluate(node.value, state), state)
        bind(target.id, new, state)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(target.value, state)
        old = attributes.attribute(owner, target.attr, state)
        new = operators.in_place(operator, old, evaluate(node.value, state), state)
        attributes.set_attribute(owner, target.attr, new, state)
    elif isinstance(target, ast.Subscript):
        owner, index = evaluate(target.value, state), evaluate(target.slice, state)
        old = subscripts.item(owner, index, state)
        new = operators.in_place(operator, old, evaluate(node.value, state), state)
        subscripts.set_item(owner, index, new, state)


def _delete(node: ast.Delete, state: State) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            look_up(target.id, state)
            scope = state.scopes[-1] if state.scopes else state.names
            scope.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            owner, index = evaluate(target.value, state), evaluate(target.slice, state)
            subscripts.delete_item(owner, index, state)
        elif isinstance(target, ast.Attribute):
            owner = evaluate(target.value, state)
            if isinstance(owner, Instance):
                owner.attributes.pop(target.attr, None)


def _define(node: ast.FunctionDef | ast.AsyncFunctionDef, state: State) -> None:
    value: Value = function_of(node, state)
    if isinstance(node, ast.AsyncFunctionDef):
        value = Unknown()
    for decorator in reversed(node.decorator_list):
        made = evaluate(decorator, state)
        path = made.path if isinstance(made, Symbol) else ""
        if path in ("torch.no_grad", "torch.inference_mode", "functools.cache") or path.startswith(
            "functools."
        ):
            continue
        if path in ("builtins.property", "builtins.staticmethod", "builtins.classmethod"):
            value = attributes.marked(value, path)
        else:
            value = Unknown()
    bind(node.name, value, state)


def _define_class(node: ast.ClassDef, state: State) -> None:
    bases = [evaluate(base, state) for base in node.bases]
    is_complete = not node.keywords
    members: dict[str, Value] = {}
    outer = state.scopes
    inner: dict[str, Value] = {"<outer>": Known([]), "<global>": Known(frozenset())}
    state.scopes = [*outer, inner]
    state.depth += 1
    try:
        execute(node.body, state)
    finally:
        state.scopes = outer
        state.depth -= 1
    members = {key: value for key, value in inner.items() if not key.startswith("<")}
    made: Value = Class(node.name, bases, members, is_complete)
    for decorator in node.decorator_list:
        evaluated = evaluate(decorator, state)
        path = getattr(evaluated, "path", "")
        made = attributes.data_class(made, node) if path.startswith("dataclasses.") else Unknown()
    bind(node.name, made, state)


def _return(node: ast.Return, state: State) -> Outcome:
    value = Known(None) if node.value is None else evaluate(node.value, state)
    return Outcome("return", value)


def _if(node: ast.If, state: State) -> Outcome:
    is_true = operators.certain_truth(evaluate(node.test, state))
    if is_true is not None:
        return execute(node.body if is_true else node.orelse, state)
    return fork(node.body, node.orelse, state)


def fork(body: list[ast.stmt], other: list[ast.stmt], state: State) -> Outcome:
    """Evaluate two branches of which one is taken, and join what is known after each."""
    stored = state.copied()
    first = _attempted(body, state)
    after = {"names": state.names, "scopes": state.scopes}
    state.restore(stored)
    second = _attempted(other, state)
    alternative = {"names": state.names, "scopes": state.scopes}
    if isinstance(first, ViolationError) and isinstance(second, ViolationError):
        state.restore(after)
        raise first
    if isinstance(first, ViolationError):
        assert isinstance(second, Outcome)
        _replace(after, alternative, state)
        return second
    if isinstance(second, ViolationError):
        state.restore(after)
        return first
    ended = [each for each in (first, second) if each.end != "next"]
    maybe = [*first.maybe, *second.maybe]
    doubt = first.is_doubtful or second.is_doubtful
    if len(ended) == 2 and first.end == second.end:
        _merge(after, alternative, state)
        return Outcome(first.end, joined(first.value, second.value), maybe, doubt)
    if not ended:
        _merge(after, alternative, state)
        return Outcome("next", Known(None), maybe, doubt)
    if len(ended) == 2:
        _merge(after, alternative, state)
        return Outcome("return", Unknown(), maybe, True)
    if first.end == "next":
        state.restore(after)
    else:
        _replace(after, alternative, state)
    if ended[0].end == "return":
        maybe.append(ended[0].value)
    return Outcome("next", Known(None), maybe, True)


def _attempted(body: list[ast.stmt], state: State) -> Outcome | ViolationError:
    try:
        return execute(body, state)
    except ViolationError as violation:
        return violation


def _replace(after: dict[str, Any], alternative: dict[str, Any], state: State) -> None:
    """Take the names of the alternative into the dictionaries that closures hold."""
    for mine, theirs in _scopes(after, alternative):
        mine.clear()
        mine.update(theirs)
    state.restore(after)


def _merge(after: dict[str, Any], alternative: dict[str, Any], state: State) -> None:
    for mine, theirs in _scopes(after, alternative):
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if name.startswith("<"):
                continue
            if name in mine and name in theirs:
                mine[name] = joined(mine[name], theirs[name])
            else:
                mine[name] = Unknown()
    state.restore(after)


def _scopes(
    after: dict[str, Any], alternative: dict[str, Any]
) -> list[tuple[dict[str, Value], dict[str, Value]]]:
    pairs = [(after["names"], alternative["names"])]
    return [*pairs, *zip(after["scopes"], alternative["scopes"], strict=False)]


def _for(node: ast.For, state: State) -> Outcome:
    iterable = evaluate(node.iter, state)
    iteration.check_iterable(iterable)
    run = iteration.rounds(iterable, state)
    maybe: list[Value] = []
    doubt = False
    for element in run.elements:
        if state.depth == 0:
            state.line = node.lineno
        assign(node.target, element, state)
        outcome = execute(node.body, state)
        maybe += outcome.maybe
        doubt |= outcome.is_doubtful
        if outcome.end == "break":
            return Outcome("next", Known(None), maybe, doubt and bool(maybe))
        if outcome.end == "return":
            if not run.is_exact:
                return Outcome("next", Known(None), [*maybe, outcome.value], True)
            return Outcome("return", outcome.value, maybe, doubt)
        if outcome.is_doubtful:
            _weaken(node.body, state)
            break
    if not run.is_exact:
        _weaken(node.body, state)
        for each in targets(node.target):
            bind(each, Unknown(), state)
    if node.orelse:
        ended = execute(node.orelse, state)
        return Outcome(ended.end, ended.value, [*maybe, *ended.maybe], doubt and bool(maybe))
    return Outcome("next", Known(None), maybe, doubt and bool(maybe))


def targets(node: ast.expr) -> list[str]:
    """Names that a target binds."""
    return [
        e.id for e in ast.walk(node) if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store)
    ]


def _while(node: ast.While, state: State) -> Outcome:
    maybe: list[Value] = []
    for _ in range(iteration.ROUNDS):
        is_true = operators.certain_truth(evaluate(node.test, state))
        if is_true is False:
            return Outcome("next", Known(None), maybe)
        if is_true is None:
            try:
                outcome = execute(node.body, state)
                maybe += [*outcome.maybe, *([outcome.value] if outcome.end == "return" else [])]
            except ViolationError:
                pass
            _weaken(node.body, state)
            return Outcome("next", Known(None), maybe, bool(maybe))
        outcome = execute(node.body, state)
        maybe += outcome.maybe
        if outcome.end == "break":
            return Outcome("next", Known(None), maybe, bool(maybe))
        if outcome.end == "return":
            return Outcome("return", outcome.value, maybe)
        if outcome.is_doubtful:
            break
    _weaken(node.body, state)
    return Outcome("next", Known(None), maybe, True)


def _weaken(body: list[ast.stmt], state: State) -> None:
    """Forget what further rounds of a loop may change."""
    stored = {
        n.id
        for s in body
        for n in ast.walk(s)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for name in touched_names(body):
        for scope in (state.names, *state.scopes):
            if name not in scope:
                continue
            value = scope[name]
            if isinstance(value, Sequence) and value.kind == "list":
                value.items, value.length, value.element = None, None, Unknown()
            elif isinstance(value, Mapping):
                value.is_complete = False
            elif name in stored:
                scope[name] = Unknown()
            elif isinstance(value, Array):
                value.data, value.is_attained, value.uniques = None, False, None
                value.low = value.high = value.nan = None


def _with(node: ast.With, state: State) -> Outcome:
    suppressed: list[str] = []
    paths: list[str] = []
    for item in node.items:
        value = evaluate(item.context_expr, state)
        path = getattr(value, "path", "")
        paths.append(path)
        if path in ("contextlib.suppress", "pytest.raises"):
            known = getattr(value, "facts", {}).get("arguments", [])
            suppressed += [str(getattr(each, "path", "")).rpartition(".")[2] for each in known]
            suppressed = suppressed or ["?"]
        if item.optional_vars is not None:
            assign(item.optional_vars, attributes.entered(value), state)
    without = sum(path in NO_GRAD for path in paths)
    state.without_grad += without
    try:
        return execute(node.body, state)
    except ViolationError as violation:
        if any(name == "?" or is_caught(violation.exception, name) for name in suppressed):
            return Outcome("next")
        raise
    finally:
        state.without_grad -= without


def _try(node: ast.Try, state: State) -> Outcome:
    try:
        outcome = execute(node.body, state)
        if outcome.end == "next" and node.orelse:
            outcome = execute(node.orelse, state)
    except ViolationError as violation:
        outcome = _handled(node, violation, state)
    if node.finalbody:
        ended = execute(node.finalbody, state)
        if ended.end != "next":
            return ended
    return outcome


def _handled(node: ast.Try, violation: ViolationError, state: State) -> Outcome:
    for handler in node.handlers:
        kinds: list[ast.expr] = []
        if isinstance(handler.type, ast.Tuple):
            kinds = handler.type.elts
        elif handler.type is not None:
            kinds = [handler.type]
        names = [ast.unparse(kind).rpartition(".")[2] for kind in kinds]
        if not kinds or any(is_caught(violation.exception, name) for name in names):
            if handler.name:
                bind(handler.name, Unknown(), state)
            return execute(handler.body, state)
    raise violation


def _raise(node: ast.Raise, state: State) -> None:
    if node.exc is None:
        raise ViolationError("RuntimeError", "an exception is raised again")
    evaluate(node.exc, state)
    called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    raise ViolationError(ast.unparse(called).rpartition(".")[2], "the code raises it itself")


def _assert(node: ast.Assert, state: State) -> None:
    if operators.certain_truth(evaluate(node.test, state)) is False:
        raise ViolationError("AssertionError", "what is asserted is not so")


def _import(node: ast.Import, state: State) -> None:
    for alias in node.names:
        value = imports.module(alias.name, is_renamed=alias.asname is not None)
        bind(alias.asname or alias.name.partition(".")[0], value, state)


def _import_from(node: ast.ImportFrom, state: State) -> None:
    for alias in node.names:
        if alias.name == "*":
            imports.check_module(node.module or "")
            state.is_complete = False
        else:
            bind(alias.asname or alias.name, imports.member(node.module or "", alias.name), state)


def _match(node: ast.Match, state: State) -> Outcome:
    evaluate(node.subject, state)
    body = [case.body for case in node.cases]
    result = Outcome("next")
    for each in body:
        result = fork(each, [], state)
    return Outcome("next", Known(None), result.maybe, True)


def _break(_node: ast.Break, _state: State) -> Outcome:
    return Outcome("break")


def _continue(_node: ast.Continue, _state: State) -> Outcome:
    return Outcome("continue")


NO_GRAD: Final = ("torch.no_grad", "torch.inference_mode")

HANDLERS: Final[dict[type[ast.stmt], Callable[[Any, State], Outcome | None]]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _with,
    ast.Try: _try,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Match: _match,
    ast.Break: _break,
    ast.Continue: _continue,
}
