"""Expressions, read in the order in which Python evaluates them."""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from typing import Final

from failbench.crashes.small_rules import values
from failbench.crashes.small_rules.access import attribute, binary, item, store
from failbench.crashes.small_rules.calls import call
from failbench.crashes.small_rules.values import Value, Violation, forget

OPENING: Final = ("builtins.exec", "builtins.globals", "builtins.locals", "builtins.vars")
SHELL: Final = frozenset({"display", "get_ipython", "In", "Out", "exit", "quit"})
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Expressions(ABC):
    """What the names of a notebook stand for, and what its expressions give."""

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}
        self.local: dict[str, Value] | None = None
        self.is_open = False
        self.depth = 0

    @abstractmethod
    def enter(self, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
        """Call a function that the notebook defines."""

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression gives; the line of a violation in the cell itself is noted."""
        try:
            return self._evaluate(node)
        except Violation as violation:
            if violation.line is None and self.depth == 0:
                violation.line = node.lineno
            raise

    def lookup(self, name: str) -> Value:
        """What a name stands for, which something must have bound."""
        for scope in (self.local or {}, self.names):
            if name in scope:
                return scope[name]
        if hasattr(builtins, name):
            return Value("library", path=f"builtins.{name}")
        if not (self.is_open or name.startswith("_") or name in SHELL):
            raise Violation("NameError", f"nothing binds the name {name!r}")
        return Value()

    @property
    def scope(self) -> dict[str, Value]:
        """The names of the function that is read, or of the notebook."""
        return self.names if self.local is None else self.local

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""
        match target:
            case ast.Name():
                self.scope[target.id] = value
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Starred():
                self.bind(target.value, Value())
            case ast.Subscript():
                store(self.evaluate(target.value), self.evaluate(target.slice), value)
            case ast.Attribute():
                self.evaluate(target.value).forget()

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        if value.kind in ("none", "number"):
            raise Violation("TypeError", f"a {value.kind} cannot be unpacked")
        starred = any(isinstance(each, ast.Starred) for each in targets)
        is_known = value.kind in ("sequence", "array", "tensor", "series") and not starred
        if is_known and value.length not in (None, len(targets)) and value.cls != "set":
            raise Violation("ValueError", f"{value.length} values have {len(targets)} names")
        known, complete = values.elements(value)
        for place, each in enumerate(targets):
            exact = is_known and complete and place < len(known)
            self.bind(each, known[place] if exact else Value())

    def _evaluate(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return values.literal(node.value)
            case ast.Name():
                return self.lookup(node.id)
            case ast.Attribute():
                return attribute(self.evaluate(node.value), node.attr)
            case ast.Subscript():
                return item(self.evaluate(node.value), self.evaluate(node.slice))
            case ast.Slice():
                parts = [node.lower, node.upper, node.step]
                ends = [part and self.evaluate(part).constant for part in parts]
                is_known = all(end is None or type(end) is int for end in ends[:2]) and not ends[2]
                return Value("slice", constant=slice(*ends[:2])) if is_known else Value("slice")
            case ast.BinOp():
                return binary(node.op, self.evaluate(node.left), self.evaluate(node.right))
            case ast.UnaryOp():
                value = self.evaluate(node.operand)
                if isinstance(node.op, ast.USub) and isinstance(value.constant, int | float):
                    return values.literal(-value.constant)
            case ast.Compare() if len(node.ops) == 1:
                left = self.evaluate(node.left)
                return binary(node.ops[0], left, self.evaluate(node.comparators[0]))
            case ast.BoolOp() | ast.IfExp():
                first = node.test if isinstance(node, ast.IfExp) else node.values[0]
                values.truth(self.evaluate(first))
            case ast.List() | ast.Tuple() | ast.Set():
                row = [self.evaluate(each) for each in node.elts]
                is_whole = not any(isinstance(each, ast.Starred) for each in node.elts)
                cls = type(node).__name__.lower()
                return values.sequence(row, cls) if is_whole else Value("sequence", cls)
            case ast.Dict():
                names = [self.evaluate(key) if key else Value() for key in node.keys]
                made = [self.evaluate(each) for each in node.values]
                items = {key.constant: each for key, each in zip(names, made, strict=True)}
                is_whole = all(key.is_fixed for key in names)
                return Value("mapping", "dict", keys=[*items], items=items) if is_whole else Value()
            case ast.JoinedStr():
                texts = [self.evaluate(each) for each in node.values]
                if all(part.is_fixed for part in texts):
                    return values.literal("".join(str(part.constant) for part in texts))
            case ast.FormattedValue() if not node.format_spec:
                return self.evaluate(node.value)
            case ast.Call():
                return self._call(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.NamedExpr():
                self.names.setdefault(node.target.id, Value())
                self.bind(node.target, self.evaluate(node.value))
            case ast.Starred() | ast.FormattedValue():
                self.evaluate(node.value)
        return Value()

    def _call(self, node: ast.Call) -> Value:
        function = self.evaluate(node.func)
        args = [self.evaluate(each) for each in node.args]
        named: dict[str, Value] = {}
        is_whole = not any(isinstance(each, ast.Starred) for each in node.args)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            is_whole = is_whole and (keyword.arg is not None or bool(value.keys))
            named |= {keyword.arg: value} if keyword.arg else value.items
        self.is_open |= function.owner is None and function.path in OPENING
        if is_whole and function.node is not None:
            return self.enter(function, args, named)
        if is_whole and (function.kind != "function" or function.path):
            if function.owner is not None and function.path.startswith("fit"):
                others = [each for each in self.names.values() if each is not function.owner]
                forget(each for each in others if each.kind == "estimator")  # may be parts of it
            return call(function, args, named)
        forget([*self.names.values(), *args, *named.values(), function])
        return Value()

    def _comprehension(self, node: Comprehension) -> Value:
        outer, first = self.local, node.generators[0]
        known, complete = values.elements(self.evaluate(first.iter))
        is_plain = not first.ifs and len(node.generators) == 1
        known = known[:1] if isinstance(node, ast.GeneratorExp) else known
        self.local, row = dict(outer or {}), []
        try:
            for each in known if is_plain else []:
                self.bind(first.target, each)
                made = node.key if isinstance(node, ast.DictComp) else node.elt
                row.append(self.evaluate(made))
        finally:
            self.local = outer
        is_list = isinstance(node, ast.ListComp) and is_plain and complete
        return values.sequence(row) if is_list else Value()
