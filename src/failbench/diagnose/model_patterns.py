"""Patterns of models: slips in how a model, its loss, its optimizer and its data are set up.

As those of loops, each takes the tree of a file and yields where it occurs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from failbench.diagnose.syntax import (
    assigned,
    called,
    calls,
    constant,
    keyword,
    own_nodes,
    owner,
    place,
    scopes,
)

Found = Iterator[ast.AST]

OPTIMIZERS: Final = frozenset(
    {"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "Adafactor", "SGD", "ASGD",
     "RMSprop", "Rprop", "LBFGS", "Lion", "FusedAdam", "AdamW8bit"}
)  # fmt: skip
"""Classes of torch.optim, and of libraries with the same interface."""

_IGNORED: Final = -100
"""What the cross entropy of torch ignores unless it is told otherwise."""


def softmax_before_cross_entropy(tree: ast.Module) -> Found:
    """A cross entropy of what a softmax gave; the logarithm of one does no harm."""
    every = [*ast.walk(tree)]
    losses = {
        name
        for name, value, _ in assigned(every)
        if isinstance(value, ast.Call) and called(value) == "CrossEntropyLoss"
    }
    for scope in scopes(tree):
        nodes = own_nodes(scope)
        made: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
        for target, value, statement in assigned(nodes):
            made.setdefault(target, []).append((value, statement))
        for call in nodes:
            if not isinstance(call, ast.Call) or not call.args:
                continue
            if called(call) == "cross_entropy" or ast.unparse(call.func) in losses:
                given = call.args[0]
                before = [
                    value
                    for value, statement in made.get(ast.unparse(given), [])
                    if place(statement) < place(call)
                ]
                if _is_softmax(before[-1] if before else given):
                    yield call


def _is_softmax(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    made = isinstance(value.func, ast.Call) and called(value.func) == "Softmax"
    return called(value) == "softmax" or made


def maximize(tree: ast.Module) -> Found:
    """An optimizer that is told to maximize."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and called(node) in OPTIMIZERS
            and constant(keyword(node, "maximize")) is True
        ):
            yield node


def all_parameters_frozen(tree: ast.Module) -> Found:
    """All parameters of a model are frozen, none is thawed, and an optimizer is given them all."""
    every = own_nodes(tree) + [each for scope in [*scopes(tree)][1:] for each in own_nodes(scope)]
    thawed = [
        value
        for name, value, _ in assigned(every)
        if name.endswith(".requires_grad") and constant(value) is not False
    ] + [call for call in calls(every, "requires_grad_") if _argument(call) is not False]
    if thawed:
        return
    given = {ast.unparse(call.args[0]) for call in calls(every, *OPTIMIZERS) if call.args}
    changed: dict[str, tuple[int, int]] = {}
    for name, _, statement in assigned(every):
        root = _root(name)
        changed[root] = max(changed.get(root, (0, 0)), place(statement))
    for node in every:
        model = _frozen_model(node)
        if f"{model}.parameters()" in given and changed.get(_root(model), (0, 0)) < place(node):
            yield node


def _root(model: str) -> str:
    return model.partition(".")[0]


def _frozen_model(node: ast.AST) -> str:
    """The model all of whose parameters a node freezes, as text."""
    if isinstance(node, ast.Call) and called(node) == "requires_grad_":
        return owner(node) if _argument(node) is False else ""
    if not isinstance(node, ast.For) or len(node.body) != 1 or not isinstance(node.iter, ast.Call):
        return ""
    name = f"{ast.unparse(node.target)}.requires_grad"
    (line,) = node.body
    freezes = any(
        target == name and constant(value) is False for target, value, _ in assigned([line])
    )
    return owner(node.iter) if freezes and called(node.iter) == "parameters" else ""


def _argument(call: ast.Call) -> object:
    given = call.args[0] if call.args else keyword(call, "requires_grad")
    return True if given is None else constant(given)


def padding_not_ignored(tree: ast.Module) -> Found:
    """Labels are filled with a number that no cross entropy of the file ignores."""
    every = [*ast.walk(tree)]
    losses = calls(every, "CrossEntropyLoss", "cross_entropy")
    ignored = []
    for call in losses:
        given = keyword(call, "ignore_index")
        ignored.append(_IGNORED if given is None else constant(given))
    if not ignored or None in ignored:
        return
    for call in (node for node in every if isinstance(node, ast.Call)):
        number = constant(keyword(call, "label_pad_token_id"))
        if called(call) == "pad_sequence" and call.args:
            labels = re.search(r"labels?\b|targets?\b", ast.unparse(call.args[0]))
            value = keyword(call, "padding_value")
            number = (0 if value is None else constant(value)) if labels else None
        if isinstance(number, int | float) and number not in ignored:
            yield call


def training_not_shuffled(tree: ast.Module) -> Found:
    """A loader of training data with ``shuffle=False`` and no sampler."""
    for call in calls([*ast.walk(tree)], "DataLoader"):
        text = ast.unparse(call.args[0]) if call.args else ""
        samplers = [keyword(call, name) for name in ("sampler", "batch_sampler")]
        if (
            re.search(r"train", text, re.IGNORECASE)
            and samplers == [None, None]
            and constant(keyword(call, "shuffle")) is False
        ):
            yield call


MODEL_PATTERNS: Final = (
    softmax_before_cross_entropy,
    maximize,
    all_parameters_frozen,
    padding_not_ignored,
    training_not_shuffled,
)
"""Each is in the table by its name."""
