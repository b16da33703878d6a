"""Random numbers of numpy: their shapes and bounds, never the numbers themselves."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays.creation import shape_of
from failbench.crashes.rules.evaluation import operands
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.shapes import broadcast, derived, product
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Sequence,
    Shape,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError

SIZE_AT: Final = {
    "normal": 2, "uniform": 2, "gamma": 2, "beta": 2, "binomial": 2, "lognormal": 2, "laplace": 2,
    "exponential": 1, "poisson": 1, "geometric": 1, "standard_normal": 0, "random": 0,
    "chisquare": 1, "random_sample": 0, "standard_exponential": 0, "logistic": 2, "gumbel": 2,
    "weibull": 1, "pareto": 1, "triangular": 3, "standard_t": 1, "standard_gamma": 1,
    "negative_binomial": 2, "vonmises": 2, "wald": 2, "f": 2, "rayleigh": 1,
}  # fmt: skip
"""Position of the argument ``size``."""

NOT_NEGATIVE: Final = {"normal": (1, "scale"), "exponential": (0, "scale"), "poisson": (0, "lam"),
    "gamma": (0, "shape"), "lognormal": (1, "sigma"), "laplace": (1, "scale")}  # fmt: skip
"""Arguments that are not negative."""

WHOLE: Final = ("binomial", "poisson", "geometric", "negative_binomial")


def _generator(call: Call) -> Value:
    kind = {"default_rng": "Generator", "Generator": "Generator"}.get(call.name, "RandomState")
    return Thing(f"numpy.random.{kind}")


def _drawn(call: Call) -> Value:
    name = call.name
    place = SIZE_AT[name]
    size = call.arg(place, "size")
    if name in NOT_NEGATIVE:
        number = call.number(*NOT_NEGATIVE[name])
        if number is not None and number < 0:
            raise ViolationError("ValueError", f"{NOT_NEGATIVE[name][1]} is not negative")
    if name == "binomial":
        share = call.number(1, "p")
        if share is not None and not 0 <= share <= 1:
            raise ViolationError("ValueError", "a probability is between 0 and 1")
    shape: Shape | None
    if size is None or (isinstance(size, Known) and size.data is None):
        shape = _of_parameters(call.args[:place])
    else:
        shape = shape_of(size)
        for each in call.args[:place]:
            taken = operands.as_array(each)
            if taken is not None and taken.rank and shape is not None:
                broadcast(taken, Array("numpy", shape))
    dtype = "int64" if name in WHOLE else named(call.kwargs.get("dtype")) or "float64"
    memory.check(None if shape is None else product(shape), dtype)
    made = Array("numpy", shape, dtype, nan=False, inf=False)
    if name in ("random", "random_sample"):
        made.low, made.high = 0.0, 1.0
    if name in WHOLE or name in ("gamma", "exponential", "lognormal", "chisquare"):
        made.low = 0.0
    return made


def _of_parameters(args: list[Value]) -> Shape | None:
    shape: Shape | None = ()
    for each in args:
        taken = operands.as_array(each)
        if taken is None or taken.shape is None or shape is None:
            return None
        shape = broadcast(Array("numpy", shape), taken)
    return shape


def _whole(call: Call) -> Value:
    low, high = call.number(0, "low"), call.number(1, "high")
    shape = shape_of(call.arg(2, "size"))
    given = call.arg(1, "high")
    if given is None:
        low, high = 0.0, low
    if low is not None and high is not None:
        is_closed = call.flag(None, "endpoint") is True
        if low > high or (low == high and not is_closed):
            raise ViolationError("ValueError", "low >= high")
        high = high if is_closed else high - 1
    memory.check(None if shape is None else product(shape), "int64")
    return Array("numpy", shape, "int64", low=low, high=high)


def _rows(call: Call) -> Value:
    shape = shape_of(Sequence("tuple", list(call.args)))
    memory.check(None if shape is None else product(shape), "float64")
    return Array("numpy", shape, "float64", nan=False, inf=False)


def _choice(call: Call) -> Value:
    source = call.arg(0, "a")
    if source is None:
        return Unknown()
    array = operands.as_array(source)
    count = None if array is None else array.length
    if isinstance(source, Known) and isinstance(source.data, int):
        count = source.data
        array = Array("numpy", (count,), "int64", low=0, high=count - 1)
    size = call.arg(1, "size")
    shape = shape_of(size) if size is not None else ()
    wanted = None if shape is None else product(shape)
    is_replaced = call.flag(2, "replace", default=True)
    if count == 0 and wanted != 0:
        raise ViolationError("ValueError", "nothing can be drawn from nothing")
    if is_replaced is False and count is not None and wanted is not None and wanted > count:
        raise ViolationError("ValueError", f"{wanted} are drawn from {count} without putting back")
    _check_shares(call, count)
    if array is None or array.shape is None:
        return Array("numpy", shape)
    made = derived(array, None if shape is None else (*shape, *array.shape[1:]), keep=True)
    low, high, _ = facts.bounds(array)
    made.home, made.low, made.high = "numpy", low, high
    return made


def _check_shares(call: Call, count: int | None) -> None:
    try:
        shares: Any = call.known(3, "p", default=None)
    except NotConcreteError:
        return
    if shares is None:
        return
    shares = np.asarray(shares, dtype=float)
    if count is not None and shares.size != count:
        raise ViolationError(
            "ValueError", f"{shares.size} probabilities are given for {count} elements"
        )
    if shares.size and (shares.min() < 0 or abs(shares.sum() - 1) > 1e-6):
        raise ViolationError("ValueError", "probabilities are not negative and sum to 1")


def _permuted(call: Call) -> Value:
    source = call.first()
    if isinstance(source, Known) and isinstance(source.data, int):
        size = source.data
        made = Array("numpy", (size,), "int64", low=0, high=size - 1, is_attained=size > 0)
        made.is_unique = True
        return made
    array = operands.as_array(source)
    if array is None:
        return Unknown()
    made = derived(array, array.shape, keep=True)
    made.home = "numpy"
    return made


def _shuffled(call: Call) -> Value:
    value = call.first()
    if isinstance(value, Array):
        value.data = None
    if isinstance(value, Sequence) and value.items is not None:
        value.length, value.items = len(value.items), None
    if isinstance(value, Sequence) and value.kind == "tuple":
        raise ViolationError("TypeError", "a tuple cannot be shuffled in place")
    return Known(None)


def _multivariate(call: Call) -> Value:
    mean, cov = operands.as_array(call.first()), call.arg(1, "cov")
    other = None if cov is None else operands.as_array(cov)
    shape = shape_of(call.arg(2, "size")) if call.arg(2, "size") is not None else ()
    size = None if mean is None else mean.length
    if other is not None and other.shape is not None:
        if len(other.shape) != 2 or (None not in other.shape and other.shape[0] != other.shape[1]):
            raise ViolationError("ValueError", "a covariance is a square")
        if size is not None and other.shape[0] is not None and other.shape[0] != size:
            raise ViolationError("ValueError", "mean and covariance differ in size")
    return Array(
        "numpy", None if shape is None else (*shape, size), "float64", nan=False, inf=False
    )


OWNERS: Final = ("numpy.random.Generator", "numpy.random.RandomState", "numpy.random")

FUNCTIONS: Final[dict[str, Handler]] = {
    "numpy.random.default_rng": _generator,
    "numpy.random.RandomState": _generator,
    **{f"{owner}.{name}": _drawn for owner in OWNERS for name in SIZE_AT},
    "numpy.random.Generator.integers": _whole,
    "numpy.random.RandomState.randint": _whole,
    "numpy.random.randint": _whole,
    **{f"{owner}.{name}": _rows for owner in OWNERS[1:] for name in ("rand", "randn")},
    **{f"{owner}.choice": _choice for owner in OWNERS},
    **{f"{owner}.{name}": _permuted for owner in OWNERS for name in ("permutation", "permuted")},
    **{f"{owner}.shuffle": _shuffled for owner in OWNERS},
    **{f"{owner}.multivariate_normal": _multivariate for owner in OWNERS},
}
