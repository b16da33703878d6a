"""What the code that was executed says of a name, without executing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Meaning:
    """What a name was last bound to."""

    kind: Literal["import", "definition", "other"]
    code: str = ""
    modules: tuple[str, ...] = ()
    value: ast.expr | None = None
    before: Mapping[str, Meaning] = field(default_factory=dict)


def meanings(executed: Sequence[str]) -> dict[str, Meaning]:
    """What each global name was last bound to, in order of the first binding.

    Parameters
    ----------
    executed
        The code of the cells that were executed, in their order; one that is no Python binds
        nothing.
    """
    known: dict[str, Meaning] = {}
    for source in executed:
        try:
            statements = ast.parse(source).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            _read(statement, known)
    return known


def _read(statement: ast.stmt, known: dict[str, Meaning]) -> None:
    name, value = _assigned(statement)
    if name is not None and value is not None:
        if isinstance(value, ast.Lambda) and _is_simple(value.args):
            known[name] = Meaning("definition", ast.unparse(statement))
        else:
            known[name] = Meaning("other", value=value, before=dict(known))
        return
    if isinstance(statement, DEFINITIONS):
        kind: Any = "definition" if is_plain_definition(statement) else "other"
        known[statement.name] = Meaning(kind, ast.unparse(statement))
        return
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _read_import(node, known)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            known[node.id] = Meaning("other")


def _read_import(node: ast.Import | ast.ImportFrom, known: dict[str, Meaning]) -> None:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            code = ast.unparse(ast.ImportFrom(node.module, [alias], node.level))
            known[alias.asname or alias.name] = Meaning("import", code, (node.module or "",))
            continue
        name = alias.asname or alias.name.partition(".")[0]
        code = ast.unparse(ast.Import([alias]))
        modules: tuple[str, ...] = (alias.name,)
        before = known.get(name)
        if before is not None and before.kind == "import" and "." in alias.name:
            code, modules = f"{before.code}\n{code}", (*before.modules, *modules)
        known[name] = Meaning("import", code, modules)


def _assigned(statement: ast.stmt) -> tuple[str | None, ast.expr | None]:
    """The name and the value of an assignment to one name."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id, statement.value
    return None, None


def is_plain_definition(statement: ast.stmt) -> bool:
    """Whether to execute a definition executes nothing but what is safe.

    Decorators, bases, defaults and what a class binds in its body must be literals, or names of
    what is there already; a decorator may be called with literals.
    """
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return all(map(_is_decorator, statement.decorator_list)) and _is_simple(statement.args)
    if not isinstance(statement, ast.ClassDef):
        return False
    outside = [*statement.bases, *(keyword.value for keyword in statement.keywords)]
    return (
        all(map(_is_decorator, statement.decorator_list))
        and all(map(_is_safe, outside))
        and all(map(_is_plain_member, statement.body))
    )


def _is_plain_member(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is None or _is_safe(statement.value)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or is_plain_definition(statement)


def _is_simple(arguments: ast.arguments) -> bool:
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    return all(default is None or _is_safe(default) for default in defaults)


def _is_decorator(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        parts = [*value.args, *(keyword.value for keyword in value.keywords)]
        return is_place(value.func) and all(map(_is_safe, parts))
    return is_place(value)


def _is_safe(value: ast.expr) -> bool:
    return is_place(value) or _is_literal(value)


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def is_place(value: ast.expr) -> bool:
    """Whether an expression is a name, or attributes of one."""
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def names_of_self(code: str) -> frozenset[str]:
    """Attributes that the methods of a class ask of themselves, by the name ``self``."""
    return frozenset(
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def imported(code: str) -> Iterator[str]:
    """Modules that code imports anywhere.

    Raises
    ------
    SyntaxError
        If it is no Python.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
