"""Properties of arrays."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.arrays.shaping import of_shape, transposed
from failbench.crashes.rules.evaluation.registry import Property
from failbench.crashes.rules.knowledge.shapes import product
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Thing, Value


def _shape(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    if value.shape is None:
        return Sequence("tuple")
    return Sequence(
        "tuple",
        [
            Array("python", (), "int64", low=0) if size is None else Known(size)
            for size in value.shape
        ],
    )


def _ndim(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return Array("python", (), "int64") if value.rank is None else Known(value.rank)


def _size(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return Array("python", (), "int64", low=0) if value.size is None else Known(value.size)


def _transposed(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return value if value.home in ("series", "index") else transposed(value, None, is_default=True)


def _dtype_of(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    paths = {"torch": "torch.dtype", "numpy": "numpy.dtype"}
    return Thing(paths.get(value.home, "pandas.dtype"), {"dtype": value.dtype})


def _flat(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return (
        of_shape(value, (value.size,))
        if value.member is None
        else Array(
            value.home,
            (None if value.shape is None else product(value.shape),),
            "object",
            member=value.member,
        )
    )


PROPERTIES: Final[dict[str, Property]] = {
    f"{path}.{name}": rule
    for path in (
        "numpy.ndarray",
        "pandas.Series",
        "pandas.Index",
        "pandas.DatetimeIndex",
        "torch.Tensor",
    )
    for name, rule in {
        "shape": _shape,
        "ndim": _ndim,
        "size": _size,
        "T": _transposed,
        "dtype": _dtype_of,
        "flat": _flat,
    }.items()
    if not (path == "torch.Tensor" and name in ("size", "flat"))
}
