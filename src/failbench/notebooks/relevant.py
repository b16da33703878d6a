"""Which names a target cell depends on, read from code alone.

Besides the names in the target these are the names that functions and classes of the notebook read
which the target calls, or which made what it reads.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

BUILTINS = frozenset(dir(builtins))
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Relevant:
    """What a target depends on.

    Parameters
    ----------
    names
        Global names that are read, without those of builtins, in alphabetical order. Some may be
        bound in the target itself.
    attributes
        Of each name, the attributes that are asked of it.
    """

    names: tuple[str, ...]
    attributes: Mapping[str, tuple[str, ...]]


def relevant_names(executed: Sequence[str], target: str) -> Relevant:
    """Names that the target depends on.

    Parameters
    ----------
    executed
        The code of the cells before, in order of execution. Later definitions replace earlier ones.
    target
        The code of the target.

    Raises
    ------
    SyntaxError
        If a cell is no Python.
    """
    meanings = _meanings(executed)
    names: set[str] = set()
    attributes: dict[str, set[str]] = {}
    followed: set[str] = set()
    pending = [target]
    while pending:
        code = pending.pop()
        for name in _globals_read(code):
            names.add(name)
            for maker in _code_behind(name, meanings):
                names.add(maker)
                if maker not in followed:
                    followed.add(maker)
                    pending.append(ast.unparse(meanings[maker]))
        for name, attribute in _asked(code):
            attributes.setdefault(name, set()).add(attribute)
    return Relevant(
        tuple(sorted(names)),
        {name: tuple(sorted(attributes[name])) for name in sorted(names & attributes.keys())},
    )


def _meanings(executed: Sequence[str]) -> dict[str, ast.AST]:
    """What each global name stands for: its definition, or the expression that it was given."""
    meanings: dict[str, ast.AST] = {}
    for source in executed:
        for statement in ast.parse(source).body:
            if isinstance(statement, DEFINITIONS):
                meanings[statement.name] = statement
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    for node in ast.walk(target):
                        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                            meanings[node.id] = statement.value
    return meanings


def _code_behind(name: str, meanings: Mapping[str, ast.AST]) -> set[str]:
    """The functions and classes of the notebook that a name stands for, or that made its value."""
    meaning = meanings.get(name)
    if meaning is None:
        return set()
    if isinstance(meaning, DEFINITIONS):
        return {name}
    makers = _globals_read(ast.unparse(meaning))
    return {maker for maker in makers if isinstance(meanings.get(maker), DEFINITIONS)}


def _globals_read(code: str) -> set[str]:
    return set(_read_in(symtable.symtable(code, "<cell>", "exec"))) - BUILTINS


def _read_in(table: symtable.SymbolTable) -> Iterator[str]:
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (is_module or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _read_in(child)


def _asked(code: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr
