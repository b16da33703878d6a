"""What the code that was executed says of a name, without executing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Call:
    """A call that made a value, of which all arguments are literals.

    Parameters
    ----------
    function
        The expression that is called, such as ``nn.Linear``.
    """

    function: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(frozen=True)
class Meaning:
    """What a name was last bound to.

    Parameters
    ----------
    kind
        ``import``; ``definition`` of a function or class; ``call``; or something else.
    code
        The statements that bind it, of an import or a definition.
    modules
        That an import names.
    call
        How the value was made, if by a call with literals alone.
    """

    kind: Literal["import", "definition", "call", "other"]
    code: str = ""
    modules: tuple[str, ...] = ()
    call: Call | None = None


def meanings(executed: Sequence[str]) -> dict[str, Meaning]:
    """What each global name was last bound to, in order of the first binding.

    Parameters
    ----------
    executed
        The code of the cells that were executed, in their order; one that is no Python binds
        nothing.
    """
    known: dict[str, Meaning] = {}
    literals: dict[str, Any] = {}
    for source in executed:
        try:
            statements = ast.parse(source).body
        except (SyntaxError, ValueError):
            continue
        for statement in statements:
            _read(statement, known, literals)
    return known


def _read(statement: ast.stmt, known: dict[str, Meaning], literals: dict[str, Any]) -> None:
    name, value = _assigned(statement)
    if name is not None and value is not None:
        call = _call(value, literals)
        literals.pop(name, None)
        if isinstance(value, ast.Lambda) and _is_simple(value.args):
            known[name] = Meaning("definition", ast.unparse(statement))
        elif call is not None:
            known[name] = Meaning("call", call=call)
        else:
            known[name] = Meaning("other")
            literals.update(_literal(name, value))
        return
    if isinstance(statement, DEFINITIONS):
        kind: Any = "definition" if is_plain_definition(statement) else "other"
        known[statement.name] = Meaning(kind, ast.unparse(statement))
        return
    for node in ast.walk(statement):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _read_import(node, known)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            literals.pop(node.id, None)
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


def _literal(name: str, value: ast.expr) -> dict[str, Any]:
    try:
        return {name: ast.literal_eval(value)}
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {}


def _call(value: ast.expr, literals: dict[str, Any]) -> Call | None:
    if not isinstance(value, ast.Call) or not _is_place(value.func):
        return None
    try:
        arguments = tuple(_value(argument, literals) for argument in value.args)
        keywords = {str(each.arg): _value(each.value, literals) for each in value.keywords}
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return Call(ast.unparse(value.func), arguments, keywords)


def _value(argument: ast.expr, literals: dict[str, Any]) -> Any:
    if isinstance(argument, ast.Name):
        if argument.id not in literals:
            raise ValueError(argument.id)
        return literals[argument.id]
    return ast.literal_eval(argument)


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
        return _is_place(value.func) and all(map(_is_safe, parts))
    return _is_place(value)


def _is_safe(value: ast.expr) -> bool:
    return _is_place(value) or bool(_literal("value", value))


def _is_place(value: ast.expr) -> bool:
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
