"""Types of numbers, and what becomes of two."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, dtype_name
from failbench.crashes.rules.knowledge.values import Known, Symbol, Thing, Value

TORCH: Final = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32",
    "short": "int16", "bool": "bool", "float32": "float32", "float64": "float64",
    "float16": "float16", "bfloat16": "bfloat16", "int64": "int64", "int32": "int32",
    "int16": "int16", "int8": "int8", "uint8": "uint8", "complex64": "complex64", "byte": "uint8",
    "FloatTensor": "float32", "LongTensor": "int64", "DoubleTensor": "float64",
}  # fmt: skip
"""Names of dtypes of torch, as numpy names them."""

WORDS: Final = {
    "category": "category",
    "string": "str",
    "str": "str",
    "datetime64[ns]": "datetime64",
    "datetime64[s]": "datetime64",
    "Int64": "Int64",
    "Float64": "Float64",
    "boolean": "boolean",
    "O": "object",
}
"""Names of dtypes of pandas."""


@cache
def promoted(left: str | None, right: str | None) -> str | None:
    """The dtype of an operation between two, or None."""
    if left == right:
        return left
    if left is None or right is None:
        return None
    try:
        return dtype_name(np.result_type(np.dtype(left), np.dtype(right)))
    except TypeError:
        return None


def named(value: Value | None) -> str | None:
    """The dtype that an argument stands for, or None."""
    if isinstance(value, Symbol):
        root, _, name = value.path.rpartition(".")
        if root == "torch":
            return TORCH.get(name)
        if value.path in ("pandas.CategoricalDtype",):
            return "category"
        if value.path == "pandas.StringDtype":
            return "str"
    if isinstance(value, Thing):
        if value.path in ("numpy.dtype", "torch.dtype", "pandas.dtype"):
            known: str | None = value.facts.get("dtype")
            return known
        if value.path == "pandas.CategoricalDtype":
            return "category"
    if isinstance(value, Known) and isinstance(value.data, str) and value.data in WORDS:
        return WORDS[value.data]
    try:
        data = concrete(value)
    except NotConcreteError:
        return None
    return None if data is None or isinstance(data, (list, tuple, dict)) else dtype_name(data)
