"""Statements: what is bound and forgotten, and which of them are certainly executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from failbench.crashes.small_rules import values
from failbench.crashes.small_rules.expressions import Expressions
from failbench.crashes.small_rules.library import missing
from failbench.crashes.small_rules.values import Value, Violation, forget

LEAVING: Final = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
QUIET: Final = ("numpy.", "torch.", "warnings.", "matplotlib.", "pandas.", "builtins.open")


class Uncertain(Exception):  # noqa: N818 - it is no error of this program
    """What comes next may not be executed."""


class Returned(Exception):  # noqa: N818 - it is no error of this program
    """A function has come to its end, with a value."""


class Statements(Expressions):
    """A notebook that is read statement by statement."""

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Read statements that are certainly executed, one after the other."""
        for node in body:
            match node:
                case ast.Expr():
                    self.evaluate(node.value)
                case ast.Assign():
                    value = self.evaluate(node.value)
                    for target in node.targets:
                        self.bind(target, value)
                case ast.AugAssign():
                    both = ast.BinOp(node.target, node.op, node.value)
                    self.bind(node.target, self.evaluate(ast.copy_location(both, node)))
                case ast.Delete():
                    for target in node.targets:
                        self.skip([target])
                        if isinstance(target, ast.Name):
                            self.scope.pop(target.id)
                case ast.Import() | ast.ImportFrom():
                    self._import(node)
                case ast.FunctionDef() if not node.decorator_list and self.local is None:
                    self.names[node.name] = Value("function", node=node)
                    self.is_open |= any(isinstance(each, ast.Global) for each in ast.walk(node))
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    self.scope[node.name] = Value()
                case ast.If():
                    known = values.truth(self.evaluate(node.test))
                    if known is None:
                        self.skip([*node.body, *node.orelse])
                    else:
                        self.run(node.body if known else node.orelse)
                case ast.For():
                    self._loop(node)
                case ast.With():
                    made = [self.evaluate(each.context_expr) for each in node.items]
                    for each in node.items:
                        self.bind(each.optional_vars or ast.Constant(0), Value())
                    is_quiet = all(each.path.startswith(QUIET) for each in made)
                    (self.run if is_quiet else self.skip)(node.body)
                case ast.Return():
                    raise Returned(self.evaluate(node.value) if node.value else Value("none"))
                case ast.Break() | ast.Continue() | ast.Raise():
                    raise Uncertain
                case _:
                    self.skip([node])

    def skip(self, nodes: Sequence[ast.AST]) -> None:
        """Forget what code may change that may not be executed."""
        inner = [each for node in nodes for each in ast.walk(node)]
        for each in inner:
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                forget(scope[each.id] for scope in (self.scope, self.names) if each.id in scope)
                continue
            for part in ("id", "name", "asname", "rest"):
                if isinstance(name := getattr(each, part, None), str):
                    self.scope[name.partition(".")[0]] = Value()
        is_loop = len(nodes) == 1 and isinstance(nodes[0], ast.For | ast.While)
        if any(isinstance(each, ast.Return if is_loop else LEAVING) for each in inner):
            raise Uncertain

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        module = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            self.is_open |= alias.name == "*"
            if module and alias.name != "*" and missing(module[:-1], alias.name):
                raise Violation("ImportError", f"{module[:-1]} has no {alias.name!r}")
            name = alias.name if module or alias.asname else alias.name.partition(".")[0]
            self.scope[alias.asname or name] = Value("library", path=f"{module}{name}")

    def _loop(self, node: ast.For) -> None:
        known, complete = values.elements(self.evaluate(node.iter))
        complete &= bool(known) and not any(isinstance(each, LEAVING) for each in ast.walk(node))
        try:
            for each in known if complete else known[:1]:
                self.bind(node.target, each)
                self.run(node.body)
        except Uncertain:
            complete = False
        if not complete or node.orelse:
            self.skip([node])

    def enter(self, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
        """Call a function that the notebook defines; one that is no plain one is not read."""
        node = function.node
        assert node is not None
        spec, rest = node.args, (node.args.vararg, node.args.kwarg, *node.args.kwonlyargs)
        given = {each.arg: Value() for each in rest if each is not None}
        places = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        for name, default in zip(places[::-1], spec.defaults[::-1], strict=False):
            is_plain = isinstance(default, ast.Constant)
            given[name] = self.evaluate(default) if is_plain else Value()
        given |= dict(zip(places, args, strict=False)) | named
        if not given.keys() >= {*places}:
            raise Violation("TypeError", f"the function needs {len(places)} arguments")
        odd = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
        is_open = any(isinstance(each, odd) for each in ast.walk(node)) or self.depth > 3
        outer, self.local, self.depth = self.local, given, self.depth + 1
        try:
            self.run([ast.Break()] if is_open else node.body)
            return Value("none", "NoneType")
        except Returned as returned:
            ended: Value = returned.args[0]
            return ended
        except Uncertain:
            forget([*self.names.values(), *given.values()])
            return Value()
        finally:
            self.local, self.depth = outer, self.depth - 1
