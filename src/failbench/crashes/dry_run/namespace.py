"""The names of a dry run: what was rebuilt, what the code defines, and what nobody knows."""

from __future__ import annotations

import ast
from typing import Any

from failbench.crashes.dry_run.known import Meaning
from failbench.crashes.dry_run.needs import NotRebuiltError, check_module


class UnknownNameError(BaseException):
    """The cell asks for a name of which too little is told; no cell catches it by ``Exception``."""


class Namespace(dict[str, Any]):
    """Global names of a cell, which notices when one is asked for that could not be rebuilt.

    Parameters
    ----------
    unknown
        Of such a name, why.

    Attributes
    ----------
    missed
        The first of them that was asked for, with its reason.
    """

    def __init__(self) -> None:
        super().__init__(__name__="__main__", display=lambda *_, **__: None)
        self.unknown: dict[str, str] = {}
        self.missed: str | None = None

    def __missing__(self, name: str) -> Any:
        if name in self.unknown:
            self.miss(name)
            raise UnknownNameError(name)
        raise KeyError(name)

    def miss(self, name: str) -> None:
        """Note that a name was asked for."""
        self.missed = self.missed or f"{name} is not known: {self.unknown[name]}"

    def miss_part(self) -> None:
        """Note that a part of an object was asked for."""
        self.missed = self.missed or "Of a part that it asks for nothing is told."


class Definitions:
    """Executes imports and definitions of the notebook, each when it is asked for.

    Parameters
    ----------
    meanings
        What the code says of names.
    namespace
        Where they are defined.
    """

    def __init__(self, meanings: dict[str, Meaning], namespace: Namespace) -> None:
        self._meanings = meanings
        self._namespace = namespace

    def define(self, name: str) -> Any:
        """What a name is bound to by an import or a definition.

        Raises
        ------
        NotRebuiltError
            If it is bound by neither, a module is not imported for a dry run, or it raises.
        """
        if name in self._namespace:
            return self._namespace[name]
        meaning = self._meanings.get(name)
        if meaning is None or meaning.kind not in ("import", "definition"):
            raise NotRebuiltError("the code does not define it")
        for module in meaning.modules:
            check_module(module)
        if meaning.kind == "definition":
            self._define_first(name, meaning.code)
        try:
            exec(compile(meaning.code, "<notebook>", "exec"), self._namespace)  # noqa: S102
        except Exception as error:
            raise NotRebuiltError(f"to define it raised {type(error).__name__}") from error
        except UnknownNameError as error:
            self._namespace.missed = None
            raise NotRebuiltError(f"{error}, which it needs, is not known") from error
        return self._namespace[name]

    def _define_first(self, name: str, code: str) -> None:
        """Define what a definition needs to be executed: its decorators, bases and defaults."""
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Name) and node.id != name and node.id not in self._namespace:
                meaning = self._meanings.get(node.id)
                if meaning is not None and meaning.kind in ("import", "definition"):
                    self._try(node.id)

    def _try(self, name: str) -> None:
        try:
            self.define(name)
        except (NotRebuiltError, RecursionError):
            return
