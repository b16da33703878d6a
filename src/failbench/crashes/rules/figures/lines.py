"""Lines that are drawn."""

from __future__ import annotations

from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.figures.sizes import drawn_size
from failbench.crashes.rules.figures.words import check_layout, check_words
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def method(call: Call) -> Value:
    """A method of axes that has no rule of its own: words that it is given must be there."""
    check_words(call)
    if call.name in ("plot", "semilogx", "semilogy", "loglog"):
        _plot(call)
        return Sequence("list", [Unknown()] if len(call.args) < 3 else None)
    return Unknown()


def _plot(call: Call) -> None:
    data = [
        each for each in call.args if not (isinstance(each, Known) and isinstance(each.data, str))
    ]
    for each in call.args:
        if isinstance(each, Known) and isinstance(each.data, str) and each is not call.args[0]:
            check_layout(each.data)
    if call.kwargs.get("data") is not None:
        return
    for each in data:
        _check_drawn(each, call.name)
    if len(data) >= 2:
        x, y = drawn_size(data[0]), drawn_size(data[1])
        if x is not None and y is not None and x != y:
            raise ViolationError(
                "ValueError", f"x and y must have same first dimension, but have {x} and {y}"
            )
        for each in data[:2]:
            taken = operands.as_array(each)
            if taken is not None and taken.rank is not None and taken.rank > 2:
                raise ViolationError("ValueError", "x and y can be no greater than 2D")
    elif len(data) == 1:
        taken = operands.as_array(data[0])
        if taken is not None and taken.rank is not None and taken.rank > 2:
            raise ViolationError("ValueError", "x and y can be no greater than 2D")


def stepped(call: Call) -> Value:
    """Steps, stems and stacks, whose places and values are as many."""
    check_words(call)
    if len(call.args) > 1:
        x = drawn_size(call.args[0])
        for each in call.args[1:]:
            if isinstance(each, Known):
                continue
            taken = operands.as_array(each)
            y = drawn_size(each)
            if taken is not None and taken.rank == 2 and taken.shape:
                y = taken.shape[1]
            if x is not None and y is not None and x != y:
                raise ViolationError("ValueError", f"{x} places have {y} values")
    return Unknown()


def _check_drawn(value: Value, name: str) -> None:
    if isinstance(value, Array) and value.home == "torch":
        if value.needs_grad:
            raise ViolationError("RuntimeError", "a tensor that requires a gradient is no array")
        if value.device == "meta":
            raise ViolationError("TypeError", "a tensor without data is no array")
    if isinstance(value, Sequence) and value.items and name != "boxplot":
        sizes = {iteration.length(item) for item in value.items if isinstance(item, Sequence)}
        if len(sizes) > 1 and None not in sizes:
            raise ViolationError("ValueError", "rows of other lengths are no array")
