"""What a line of a cell reads, each thing in the notebook's own words, with what is told of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, Final

from failbench.crashes.question import Question

FURTHEST: Final = 3  # on the line, in its statement, behind its names, or a column of a table
DEEPEST: Final = 4  # names behind names that are followed
LONG: Final = 50  # characters of a dtype that is shortened
MOST: Final = 60  # texts that a name, or a text with holes, may stand for
LONGEST: Final = 200  # characters of such a text
Bound = Mapping[str, tuple[ast.expr, bool]]  # what a name was given; whether it runs through it


@dataclass(frozen=True)
class Seen:
    """A thing that is read; ``near`` is 0 on the line itself, and more further away."""

    name: str
    source: str
    facts: Mapping[str, Any]
    items: Mapping[str, Any]
    near: int

    def fact(self, key: str) -> object:
        """A property, or a fact that is told."""
        return getattr(self, key) if hasattr(self, key) else self.facts.get(key)

    @property
    def kind(self) -> str:
        """Its kind, as in a summary, or ``column``."""
        return str(self.facts.get("kind", ""))

    @property
    def label(self) -> str:
        """The last part of its class."""
        return str(self.facts.get("class", "")).rpartition(".")[2]

    @property
    def dtype(self) -> str:
        """Its dtype; those of its parameters if it is a network."""
        dtypes = self.facts.get("dtypes", ()) if self.kind == "network" else ()
        told = str(self.facts.get("dtype") or " and ".join(dtypes)).replace("torch.", "")
        return told if len(told) < LONG else told.partition("(")[0]  # an Enum lists its categories

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes; empty if they are not told."""
        length = [self.facts["length"]] if "length" in self.facts else []
        return tuple(self.facts.get("shape", length))

    @property
    def gaps(self) -> bool:
        """Whether values are missing or infinite."""
        return any(self.facts.get(key) for key in ("nan_share", "null_share", "inf_share"))

    @property
    def held(self) -> list[str]:
        """Names of what it holds: columns, keys or fields."""
        told = (self.facts.get(key) for key in ("columns", "keys", "fields"))
        return [str(name) for name in next(filter(None, told), ())]


@dataclass(frozen=True)
class Sight:
    """Nodes of a statement, those on the failing line first, with what it reads and says."""

    nodes: tuple[ast.AST, ...]
    seen: tuple[Seen, ...]
    texts: tuple[str, ...]


def sight(question: Question, line: int | None) -> Sight:
    """What the statement at a line reads, or the whole cell without one."""
    try:
        body = ast.parse(question.target).body
        before = [each for code in question.executed for each in ast.parse(code).body]
    except (SyntaxError, ValueError, RecursionError):
        return Sight((), (), ())
    nodes: list[ast.AST] = [*body]
    bound: dict[str, tuple[ast.expr, bool]] = {}
    if line is not None:
        inner = [n for part in body for n in ast.walk(part) if isinstance(n, ast.stmt)]
        around = [each for each in inner if each.lineno <= line <= (each.end_lineno or 0)]
        failing = max(around, key=lambda each: each.lineno, default=None)
        nodes = [] if failing is None else _head(failing)
        for each in inner:
            if each.lineno <= line and each is not failing:
                bound |= _bound_by(each)
    nodes = [each for node in nodes for each in ast.walk(node)]
    nodes.sort(key=lambda each: line is not None and getattr(each, "lineno", line) != line)
    bound |= _run_through(nodes)
    eye = _Eye(question, before)
    for node in nodes:
        eye.look(node, bound, int(line is not None and getattr(node, "lineno", line) != line))
    said = tuple(dict.fromkeys(text for node in nodes for text in eye.texts(node, bound)))
    return Sight(tuple(nodes), eye.all_seen(said), said)


def _head(statement: ast.stmt) -> list[ast.AST]:
    """A statement without those on lines below it."""
    bodies = (ast.stmt, ast.excepthandler) if statement.lineno != statement.end_lineno else ()
    return [each for each in ast.iter_child_nodes(statement) if not isinstance(each, bodies)]


def _run_through(nodes: list[ast.AST]) -> dict[str, tuple[ast.expr, bool]]:
    parts = [_given(n.target, n.iter, runs=True) for n in nodes if isinstance(n, ast.comprehension)]
    return {name: each for part in parts for name, each in part.items()}


def _bound_by(statement: ast.stmt) -> dict[str, tuple[ast.expr, bool]]:
    if isinstance(statement, ast.Assign):
        return _given(statement.targets[0], statement.value, runs=False)
    if isinstance(statement, ast.For):
        return _given(statement.target, statement.iter, runs=True)
    return {}


def _given(target: ast.expr, value: ast.expr, *, runs: bool) -> dict[str, tuple[ast.expr, bool]]:
    names = [each for each in ast.walk(target) if isinstance(each, ast.Name)]
    stored = [each.id for each in names if isinstance(each.ctx, ast.Store)]
    return dict.fromkeys(stored, (value, runs and isinstance(target, ast.Name)))


class _Eye:
    """Looks names up in the summary, in the cell, and in functions of the notebook."""

    def __init__(self, question: Question, before: list[ast.stmt]) -> None:
        self.names = question.summary.names if question.summary else {}
        self.functions = {each.name: each for each in before if isinstance(each, ast.FunctionDef)}
        self.found: dict[str, Seen] = {}
        self.followed: set[str] = set()  # once each, as names behind names may multiply
        self.known: dict[tuple[str, int], list[str]] = {}

    def look(self, node: ast.AST, bound: Bound, near: int, depth: int = 0) -> None:
        """Note what a node stands for, and what is behind it."""
        seen = self.resolve(node, bound, near)
        if seen is not None and (seen.name not in self.found or self.found[seen.name].near > near):
            self.found[seen.name] = seen
        behind: list[ast.AST] = []
        name = getattr(node, "id", "") or getattr(getattr(node, "func", None), "id", "")
        if name in self.followed:
            return
        self.followed |= {name} & {*bound, *self.functions}
        if isinstance(node, ast.Name) and node.id in bound:
            behind, bound = [bound[node.id][0]], _others(bound, node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = self.functions.get(node.func.id)
            if function is not None:
                behind = [*function.body]
                named = zip((each.arg for each in function.args.args), node.args, strict=False)
                pairs = [*named, *((each.arg or "", each.value) for each in node.keywords)]
                # an argument of the parameter's own name is nothing behind itself
                bound = {**bound, **{p: (v, False) for p, v in pairs if ast.unparse(v) != p}}
        if depth < DEEPEST:
            inner = [each for part in behind for each in ast.walk(part)]
            bound = {**bound, **_run_through(inner)}
            for each in inner:
                self.look(each, bound, min(near + 1, 2), depth + 1)

    def resolve(self, node: ast.AST, bound: Bound, near: int) -> Seen | None:
        """What the summary tells of an expression."""
        if isinstance(node, ast.Name) and node.id in bound:
            value, runs = bound[node.id]
            base = self.resolve(value, _others(bound, node.id), near)
            if base is None or not runs:
                return base
            first = base.items.get("0")
            return first and _seen(f"an element of {base.name}", base.source, first, near)
        if isinstance(node, ast.Name):
            entry = self.names.get(node.id)
            return None if entry is None else _seen(f"`{node.id}`", node.id, entry, near)
        if not isinstance(node, ast.Attribute | ast.Subscript):
            return None
        base = self.resolve(node.value, bound, near)
        keys = [node.attr] if isinstance(node, ast.Attribute) else self.texts(node.slice, bound)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            keys = [str(node.slice.value)]
        return next((part for key in keys if base and (part := part_of(base, key))), None)

    def texts(self, node: ast.AST | None, bound: Bound) -> list[str]:
        """The texts that an expression may stand for."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if isinstance(node, ast.List | ast.Tuple | ast.Dict):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            return [text for each in parts for text in self.texts(each, bound)]
        if isinstance(node, ast.FormattedValue):
            return self.texts(node.value, bound)
        if isinstance(node, ast.JoinedStr):
            choices = product(*(self.texts(each, bound) for each in node.values))
            return ["".join(each)[:LONGEST] for each in islice(choices, MOST)]
        if isinstance(node, ast.Name) and node.id in bound:
            key = (node.id, id(bound[node.id][0]))
            if key not in self.known:
                self.known[key] = self.texts(bound[node.id][0], _others(bound, node.id))[:MOST]
            return self.known[key]
        facts = _seen("", "", self.names.get(getattr(node, "id", ""), {}), 0).facts
        told = [facts.get("value"), *facts.get("first", ()), *facts.get("keys", ())]
        return [each for each in told if isinstance(each, str)]

    def all_seen(self, said: tuple[str, ...]) -> tuple[Seen, ...]:
        """All that was noted and the columns of tables, those that are said first."""
        whole = [*self.found.values()]
        for table in [each for each in whole if each.kind == "frame"]:
            for name in table.held:
                part = part_of(table, name)
                if part is not None and part.name not in self.found:
                    whole.append(
                        replace(part, near=max(part.near, 1 if name in said else FURTHEST))
                    )
        return tuple(sorted(whole, key=lambda each: each.near))


def _others(bound: Bound, name: str) -> Bound:
    return {other: each for other, each in bound.items() if other != name}


def part_of(base: Seen, key: str) -> Seen | None:
    """A column or item of a thing."""
    source = f"{base.source}[{key!r}]"
    if base.kind == "frame" and key in base.facts.get("dtypes", {}):
        values = base.facts.get("by_column", {}).get(key, {})
        told = {"kind": "column", "dtype": base.facts["dtypes"][key]}
        return Seen(f"column `{key}` of {base.name}", source, {**told, **values}, {}, base.near)
    if base.kind == "frame" or not (key in base.items or key in base.held):
        return None
    return _seen(f"`{key}` of {base.name}", source, base.items.get(key, {}), base.near)


def _seen(name: str, source: str, entry: Mapping[str, Any], near: int) -> Seen:
    facts: dict[str, Any] = {}
    for part in ("value", "structural", "type"):
        facts |= entry.get(part, {})
    return Seen(name, source, facts, entry.get("items", {}), near)
