"""Syntax: what is asked of a Python program that is read and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Loop = ast.For | ast.AsyncFor | ast.While
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_OTHERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def own_nodes(root: ast.AST) -> list[ast.AST]:
    """All below a node in the order of the text, but for functions and classes defined in it."""
    nodes: list[ast.AST] = []
    waiting = [*ast.iter_child_nodes(root)]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, _OTHERS):
            waiting += ast.iter_child_nodes(node)
    return sorted(nodes, key=place)


def place(node: ast.AST) -> tuple[int, int]:
    """Line and column of the end of a node: calls come in the order in which they are made."""
    return (getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0)


def scopes(tree: ast.Module) -> Iterator[Scope]:
    """The module and each of its functions."""
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def loops(tree: ast.Module) -> list[Loop]:
    """All loops."""
    return [node for node in ast.walk(tree) if isinstance(node, Loop)]


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Statements that are run one after another."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def calls(nodes: list[ast.AST], *names: str) -> list[ast.Call]:
    """Calls of functions or methods of these names, whatever they belong to."""
    return [node for node in nodes if isinstance(node, ast.Call) and called(node) in names]


def called(call: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def owner(call: ast.Call) -> str:
    """What a method is called on, as text; empty for a function."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The argument of that name."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def constant(node: ast.expr | None) -> object:
    """The number, word or truth that is written there, None if there is none."""
    try:
        value: object = None if node is None else ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value


def assigned(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr, ast.stmt]]:
    """Names and attributes that are assigned to, as text, with the value and the statement."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((ast.unparse(target), node.value, node) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.target), node.value, node


def innermost(tree: ast.Module, *names: str) -> Iterator[tuple[Loop, list[ast.AST]]]:
    """Loops that call all of these names, and no loop inside of which does."""
    having = {
        loop: nodes
        for loop in loops(tree)
        if all(calls(nodes := own_nodes(loop), name) for name in names)
    }
    for loop, nodes in having.items():
        if not any(node in having for node in nodes if isinstance(node, Loop)):
            yield loop, nodes
