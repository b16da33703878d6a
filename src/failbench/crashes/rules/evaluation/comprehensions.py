"""Comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration, operators
from failbench.crashes.rules.evaluation.assignment import assign
from failbench.crashes.rules.evaluation.expressions import evaluate
from failbench.crashes.rules.knowledge.folding import NotConcreteError, key_of, lift
from failbench.crashes.rules.knowledge.state import State, joined
from failbench.crashes.rules.knowledge.values import Known, Mapping, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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


HANDLERS: Final[dict[type[ast.expr], Callable[[Any, State], Value]]] = {
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
}
