"""A notebook, read statement by statement, in the order in which Python evaluates it."""

import ast
import builtins
from collections.abc import Sequence
from typing import Final

from failbench.crashes.small_rules import values
from failbench.crashes.small_rules.operations import attribute, binary, call, item, store
from failbench.crashes.small_rules.values import Value, Violation, forget, missing

LEAVING: Final = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
QUIET: Final = ("numpy.", "torch.", "warnings.", "matplotlib.", "pandas.", "builtins.open")
OPENING: Final = ("builtins.exec", "builtins.globals", "builtins.locals", "builtins.vars")
SHELL: Final = frozenset({"display", "get_ipython", "In", "Out", "exit", "quit"})
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Uncertain(Exception):  # noqa: N818 - it is no error of this program
    """What comes next may not be executed."""


class Returned(Exception):  # noqa: N818 - it is no error of this program
    """A function has come to its end, with a value."""


class Interpreter:
    """What the names of a notebook stand for, what is forgotten, and what is certainly executed."""

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}
        self.local: dict[str, Value] | None = None
        self.is_open = False
        self.depth = 0

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
