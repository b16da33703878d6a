"""Functions of Python itself."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation import attributes, iteration
from failbench.crashes.rules.evaluation.aggregates import (
    aggregated,
    folded_items,
    mathematical,
    ordered,
)
from failbench.crashes.rules.evaluation.conversions import (
    to_bool,
    to_container,
    to_dict,
    to_float,
    to_int,
    to_text,
)
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, lift
from failbench.crashes.rules.knowledge.state import Call
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


def _reversed(call: Call) -> Value:
    items = iteration.elements(call.first())
    return Sequence("iterator", None if items is None else items[::-1])


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


FUNCTIONS: Final[dict[str, Handler]] = {
    "builtins.range": _range,
    "builtins.len": _len,
    "builtins.int": to_int,
    "builtins.float": to_float,
    "builtins.str": to_text,
    "builtins.bool": to_bool,
    "builtins.list": to_container,
    "builtins.tuple": to_container,
    "builtins.set": to_container,
    "builtins.frozenset": to_container,
    "builtins.dict": to_dict,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.sorted": ordered,
    "builtins.reversed": _reversed,
    "builtins.print": _print,
    "builtins.next": _next,
    "builtins.iter": _iter,
    "builtins.getattr": _getattr,
    "builtins.type": _type,
    **{f"builtins.{name}": aggregated for name in ("sum", "min", "max", "any", "all")},
    **{
        f"builtins.{name}": folded_items
        for name in ("abs", "round", "divmod", "pow", "chr", "ord", "repr", "hex", "bin")
    },
    **{
        f"math.{name}": mathematical
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
