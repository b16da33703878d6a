"""Names that a function binds, and those that a statement may change."""

from __future__ import annotations

import ast
from functools import cache


def parsed(source: str) -> ast.Module:
    """The syntax tree of a cell; lines that are commands of IPython are left out.

    Raises
    ------
    SyntaxError
        If it is no Python.
    """
    return _parsed(source)


@cache
def _parsed(source: str) -> ast.Module:
    lines = source.split("\n")
    plain = [
        line[: len(line) - len(line.lstrip())] + "pass"
        if line.lstrip()[:1] in "%!" and line.strip()
        else line
        for line in lines
    ]
    if lines and lines[0].startswith("%%"):
        plain = ["pass"] if not lines[0].startswith(("%%time", "%%capture")) else plain
    try:
        return ast.parse("\n".join(plain))
    except ValueError as error:  # a null byte
        raise SyntaxError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("the code is nested too deeply") from error


@cache
def bound_names(node: ast.AST) -> frozenset[str]:
    """Names that the body of a function binds itself, its parameters among them."""
    names: set[str] = set()
    outside: set[str] = set()
    pending: list[ast.AST] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each]
        names |= {each.arg for each in every}
        body = node.body
        pending.extend([body] if isinstance(body, ast.AST) else body)
    else:
        pending.append(node)
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, (ast.Store, ast.Del)):
            names.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(each.name)
            continue
        elif isinstance(each, ast.Lambda):
            continue
        elif isinstance(each, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            pending.extend(n for n in ast.walk(each) if isinstance(n, ast.NamedExpr))
            continue
        elif isinstance(each, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in each.names}
        elif (isinstance(each, ast.ExceptHandler) and each.name) or (
            isinstance(each, (ast.MatchAs, ast.MatchStar)) and each.name
        ):
            names.add(each.name)
        elif isinstance(each, ast.MatchMapping) and each.rest:
            names.add(each.rest)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            outside |= set(each.names)
        pending.extend(ast.iter_child_nodes(each))
    return frozenset(names - outside)


@cache
def global_names(node: ast.AST) -> frozenset[str]:
    """Names that the body of a function declares to be global."""
    return frozenset(
        name for each in ast.walk(node) if isinstance(each, ast.Global) for name in each.names
    )


def touched_names(nodes: list[ast.stmt]) -> set[str]:
    """Names that statements read, bind or delete."""
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}
