"""Functions of Python itself."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.evaluation import attributes, iteration, operators
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import (
    NotConcreteError,
    concrete,
    is_plain,
    key_of,
    lift,
)
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call, joined
from failbench.crashes.rules.knowledge.values import (
    Array,
    Estimator,
    Frame,
    Function,
    Instance,
    Known,
    Mapping,
    Sequence,
    Symbol,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def _range(call: Call) -> Value:
    for each in call.args:
        if isinstance(each, Known) and not isinstance(each.data, int):
            raise ViolationError("TypeError", f"a range has whole ends, not {each.data!r}")
        if isinstance(each, Array) and facts.kind(each) in ("f", "U") and each.rank == 0:
            raise ViolationError("TypeError", f"a range has whole ends, not {each.dtype}")
        if isinstance(each, (Sequence, Mapping, Frame)) or (isinstance(each, Array) and each.rank):
            raise ViolationError("TypeError", "a range has whole ends")
    try:
        ends = [int(concrete(each)) for each in call.args]
        return lift(range(*ends))
    except NotConcreteError:
        return Sequence("range", None, None, Array("python", (), "int64"))
    except (TypeError, ValueError) as error:
        raise ViolationError(type(error).__name__, str(error)) from error


def _len(call: Call) -> Value:
    value = call.first()
    if isinstance(value, Frame):
        return Unknown() if value.rows is None else Known(value.rows)
    if isinstance(value, Known) and not isinstance(value.data, (str, bytes)):
        raise ViolationError("TypeError", f"a {type(value.data).__name__} has no length")
    if (
        isinstance(value, Array)
        and value.shape == ()
        and (value.home != "python" or value.dtype not in ("str", None))
    ):
        raise ViolationError("TypeError", "a number has no length")
    if isinstance(value, Sequence) and value.kind == "iterator":
        raise ViolationError("TypeError", "an iterator has no length")
    if isinstance(value, Instance):
        method = value.cls.members.get("__len__")
        if isinstance(method, Function):
            return call.state.call(method, [value])
        return Unknown()
    if isinstance(value, Thing) and value.path == "torch.utils.data.TensorDataset":
        return _len_of_first(value)
    if isinstance(value, Estimator) and value.steps is not None and value.name == "Pipeline":
        return Known(len(value.steps))
    size = iteration.length(value)
    return Array("python", (), "int64", low=0) if size is None else Known(size)


def _len_of_first(value: Thing) -> Value:
    arrays = value.facts.get("arguments", [])
    size = arrays[0].length if arrays and isinstance(arrays[0], Array) else None
    return Unknown() if size is None else Known(size)


def _number(call: Call, kind: type) -> Value:
    if not call.args:
        return Known(kind())
    if call.kwargs:
        return Unknown()
    value = call.first()
    if isinstance(value, Known):
        if len(call.args) > 1:
            return Unknown()
        return operators.folded(kind, value.data)
    if isinstance(value, (Sequence, Mapping, Frame, Function)):
        raise ViolationError("TypeError", f"a {type(value).__name__.lower()} is no number")
    if isinstance(value, Array):
        _check_scalar(value)
        if value.data is not None and value.data.size == 1:
            return operators.folded(kind, value.data.ravel()[0])
        if kind is int and value.home != "series" and value.size == 1:
            if facts.has_nan(value) and (value.data is not None or value.size == 1):
                raise ViolationError("ValueError", "NaN is no whole number")
            if value.low is not None and value.low == value.high and math.isinf(value.low):
                raise ViolationError("OverflowError", "infinity is no whole number")
        made = Array(
            "python", (), "int64" if kind is int else "float64", low=value.low, high=value.high
        )
        made.nan = value.nan
        made.is_attained = value.is_attained and value.size == 1
        return made
    return Unknown()


def _check_scalar(value: Array) -> None:
    if value.home == "torch" and value.device == "meta":
        raise ViolationError("RuntimeError", "a tensor without data has no number")
    if value.home == "series" and value.length not in (None, 1):
        raise ViolationError("TypeError", "a series is no number")
    if value.size is not None and value.size != 1 and value.home != "series":
        if value.home == "torch":
            raise ViolationError("ValueError", f"{value.size} elements are no number")
        raise ViolationError("TypeError", f"{value.size} elements are no number")


def _int(call: Call) -> Value:
    return _number(call, int)


def _float(call: Call) -> Value:
    return _number(call, float)


def _str(call: Call) -> Value:
    value = call.first() if call.args else Known("")
    if isinstance(value, Known):
        return Known(str(value.data))
    return Array("python", (), "str")


def _bool(call: Call) -> Value:
    is_true = operators.certain_truth(call.first()) if call.args else False
    return Unknown() if is_true is None else Known(is_true)


def _container(call: Call) -> Value:
    kind = call.name
    if not call.args:
        return Sequence(kind, [])
    value = call.first()
    iteration.check_iterable(value)
    items = iteration.elements(value)
    if items is None:
        element = iteration.element(value, call.state)
        return Sequence(
            kind, None, iteration.length(value) if kind in ("list", "tuple") else None, element
        )
    if kind in ("set", "frozenset"):
        try:
            return lift({key_of(item) for item in items})
        except NotConcreteError:
            return Sequence(kind)
    return Sequence(kind, list(items))


def _dict(call: Call) -> Value:
    mapping = Mapping(dict(call.kwargs), call.is_complete)
    if call.args:
        value = call.first()
        if isinstance(value, Mapping):
            mapping.items = value.items | mapping.items
            mapping.is_complete &= value.is_complete
            return mapping
        pairs = iteration.elements(value)
        if pairs is None:
            mapping.is_complete = False
            return mapping
        for pair in pairs:
            parts = iteration.elements(pair)
            if parts is not None and len(parts) != 2:
                raise ViolationError("ValueError", "a dict is made of pairs")
            try:
                if parts is None:
                    raise NotConcreteError
                mapping.items[key_of(parts[0])] = parts[1]
            except NotConcreteError:
                mapping.is_complete = False
    return mapping


def _zip(call: Call) -> Value:
    for each in call.args:
        iteration.check_iterable(each)
    columns = [iteration.elements(each) for each in call.args]
    if all(column is not None for column in columns) and call.is_complete:
        known = [column for column in columns if column is not None]
        strict = call.flag(None, "strict", default=False)
        if strict and len({len(column) for column in known}) > 1:
            raise ViolationError("ValueError", "zip of other lengths")
        return Sequence(
            "iterator", [Sequence("tuple", list(row)) for row in zip(*known, strict=False)]
        )
    sizes = [iteration.length(each) for each in call.args]
    if 0 in sizes:
        return Sequence("iterator", [])
    elements = [iteration.element(each, call.state) for each in call.args]
    return Sequence("iterator", None, None, Sequence("tuple", elements))


def _enumerate(call: Call) -> Value:
    value = call.first()
    iteration.check_iterable(value)
    items = iteration.elements(value)
    start = call.integer(1, "start", default=0) or 0
    if items is not None:
        pairs: list[Value] = [Sequence("tuple", [Known(start + n), e]) for n, e in enumerate(items)]
        return Sequence("iterator", pairs)
    element = iteration.element(value, call.state)
    return Sequence(
        "iterator", None, None, Sequence("tuple", [Array("python", (), "int64"), element])
    )


def _map(call: Call) -> Value:
    function = call.first()
    columns = [iteration.elements(each) for each in call.args[1:]]
    if columns and all(
        column is not None and len(column) <= iteration.ROUNDS for column in columns
    ):
        rows = zip(*[column for column in columns if column is not None], strict=False)
        return Sequence("iterator", [call.state.call(function, list(row)) for row in rows])
    return Sequence("iterator")


def _filter(_call: Call) -> Value:
    return Sequence("iterator")


def _sorted(call: Call) -> Value:
    value = call.first()
    iteration.check_iterable(value)
    items = iteration.elements(value)
    if items is None or call.kwargs.get("key") is not None:
        if items is not None and call.kwargs.get("key") is not None:
            element = items[0] if items else Unknown()
            for each in items[1:]:
                element = joined(element, each)
            return Sequence("list", None, len(items), element)
        return Sequence("list", None, iteration.length(value))
    try:
        known = [concrete(item) for item in items]
        ordered = sorted(known, reverse=bool(call.flag(None, "reverse")))
        return Sequence("list", [lift(each) for each in ordered])
    except NotConcreteError:
        return Sequence("list", None, len(items))
    except TypeError as error:
        raise ViolationError("TypeError", str(error)) from error
    except ValueError:
        return Sequence("list", None, len(items))


def _reversed(call: Call) -> Value:
    items = iteration.elements(call.first())
    return Sequence("iterator", None if items is None else items[::-1])


def _aggregate(call: Call) -> Value:
    values = call.args
    if len(values) == 1 or call.name in ("sum", "any", "all"):
        value = call.first()
        iteration.check_iterable(value)
        items = iteration.elements(value)
        if items is None:
            return Unknown()
        values = items
    if (
        not values
        and call.name in ("min", "max")
        and "default" not in call.kwargs
        and call.is_complete
    ):
        raise ViolationError("ValueError", f"{call.name} of nothing")
    if call.kwargs:
        return Unknown()
    functions: dict[str, Any] = {"sum": sum, "min": min, "max": max, "any": any, "all": all}
    try:
        known = [concrete(value) for value in values]
        if (
            all(is_plain(each) or isinstance(each, np.generic) for each in known)
            and len(call.args) != 2
        ):
            return operators.folded(functions[call.name], known)
    except NotConcreteError:
        pass
    if call.name == "sum" and len(call.args) == 1:
        total: Value = Known(0)
        for value in values:
            total = operators.binary("Add", total, value, call.state)
        return total
    return Unknown()


def _fold(call: Call) -> Value:
    functions: dict[str, Any] = {
        "abs": abs,
        "round": round,
        "divmod": divmod,
        "pow": pow,
        "chr": chr,
        "ord": ord,
        "repr": repr,
        "hex": hex,
        "bin": bin,
    }
    value = call.first()
    if call.name in ("abs", "round") and isinstance(value, Array) and value.data is None:
        made = derived(value, value.shape)
        made.nan, made.inf = value.nan, value.inf
        return made
    if call.name == "abs" and isinstance(value, (Sequence, Mapping)):
        raise ViolationError("TypeError", "abs is of numbers")
    try:
        known = [concrete(each) for each in call.args]
    except NotConcreteError:
        return Unknown()
    if (
        not all(is_plain(each) or isinstance(each, np.generic) for each in known)
        or call.name == "pow"
    ):
        return Unknown()
    return operators.folded(functions[call.name], *known)


def _next(call: Call) -> Value:
    value = call.first()
    if isinstance(value, Sequence) and value.kind != "iterator":
        raise ViolationError("TypeError", f"a {value.kind} is no iterator")
    if isinstance(value, Sequence) and value.items is not None:
        if not value.items:
            if len(call.args) > 1:
                return call.args[1]
            raise ViolationError("StopIteration", "an iterator is at its end")
        return value.items.pop(0)
    return iteration.element(value, call.state)


def _iter(call: Call) -> Value:
    value = call.first()
    iteration.check_iterable(value)
    items = iteration.elements(value)
    if items is not None:
        return Sequence("iterator", list(items))
    return Sequence("iterator", None, None, iteration.element(value, call.state))


def _getattr(call: Call) -> Value:
    name = call.text(1, "name")
    if name is None:
        return Unknown()
    if len(call.args) > 2:
        try:
            return attributes.attribute(call.first(), name, call.state)
        except ViolationError:
            return call.args[2]
    return attributes.attribute(call.first(), name, call.state)


def _print(_call: Call) -> Value:
    return Known(None)


def _type(call: Call) -> Value:
    value = call.first()
    path = attributes.class_path(value)
    if isinstance(value, Instance):
        return value.cls
    from_library = isinstance(value, (Estimator, Thing)) and path is not None
    return Symbol(path) if from_library and path else Unknown()


def _math(call: Call) -> Value:
    value = call.first()
    if (
        isinstance(value, (Sequence, Mapping))
        or (isinstance(value, Known) and isinstance(value.data, str))
    ) and call.name not in ("fsum", "prod", "dist"):
        raise ViolationError("TypeError", f"{call.name} is of numbers")
    if (
        isinstance(value, Array)
        and value.size is not None
        and value.size > 1
        and call.name not in ("fsum", "prod", "dist")
    ):
        exception = "ValueError" if value.home == "torch" else "TypeError"
        raise ViolationError(exception, f"{call.name} is of one number")
    function = getattr(math, call.name, None)
    try:
        known = [concrete(each) for each in call.args]
    except NotConcreteError:
        return Unknown()
    is_number = all(
        isinstance(each, (int, float, np.number)) and abs(float(each)) < 1e6 for each in known
    )
    if not callable(function) or call.kwargs or not is_number:
        return Unknown()
    return operators.folded(function, *known)


FUNCTIONS: Final[dict[str, Handler]] = {
    "builtins.range": _range,
    "builtins.len": _len,
    "builtins.int": _int,
    "builtins.float": _float,
    "builtins.str": _str,
    "builtins.bool": _bool,
    "builtins.list": _container,
    "builtins.tuple": _container,
    "builtins.set": _container,
    "builtins.frozenset": _container,
    "builtins.dict": _dict,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.sorted": _sorted,
    "builtins.reversed": _reversed,
    "builtins.print": _print,
    "builtins.next": _next,
    "builtins.iter": _iter,
    "builtins.getattr": _getattr,
    "builtins.type": _type,
    **{f"builtins.{name}": _aggregate for name in ("sum", "min", "max", "any", "all")},
    **{
        f"builtins.{name}": _fold
        for name in ("abs", "round", "divmod", "pow", "chr", "ord", "repr", "hex", "bin")
    },
    **{
        f"math.{name}": _math
        for name in (
            "sqrt",
            "log",
            "log2",
            "log10",
            "exp",
            "floor",
            "ceil",
            "sin",
            "cos",
            "tan",
            "isnan",
            "isinf",
            "factorial",
            "gcd",
            "comb",
            "prod",
            "fabs",
            "pow",
            "hypot",
            "atan2",
        )
    },
}
