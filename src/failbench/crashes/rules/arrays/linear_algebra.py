"""Linear algebra of numpy and torch."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.rules.evaluation import arithmetic, computed, operands
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.shapes import derived, matmul, of_graph, shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import FOLDED, Array, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

SQUARE: Final = ("inv", "det", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "solve", "slogdet",
    "matrix_power")  # fmt: skip
FINITE: Final = ("eig", "eigvals", "svd", "pinv", "lstsq", "cond", "matrix_rank")


def matrix_function(call: Call) -> Value:
    """A function of a matrix.

    Raises
    ------
    ViolationError
        If it is no matrix, not square where it must be, singular, or not finite.
    """
    array = operands.as_array(call.first() if call.args else call.receiver)
    if array is None:
        return Unknown()
    is_torch = array.home == "torch"
    name = {"inverse": "inv"}.get(call.name, call.name)
    wrong = "RuntimeError" if is_torch else "LinAlgError"
    if array.shape is not None and name != "norm":
        if len(array.shape) < 2 and name not in ("lstsq", "matrix_rank", "cond"):
            raise ViolationError(wrong, f"{name} is of matrices, not of {shown(array.shape)}")
        sizes = array.shape[-2:]
        if name in SQUARE and None not in sizes and len(sizes) == 2 and sizes[0] != sizes[1]:
            raise ViolationError(wrong, f"{name} is of squares, not of {shown(array.shape)}")
    if facts.kind(array) in ("U", "O") and not is_torch:
        raise ViolationError("UFuncTypeError", f"{name} is not there for {array.dtype}")
    if is_torch and facts.kind(array) in ("i", "u", "b"):
        raise ViolationError("RuntimeError", f"{name} is not there for {array.dtype}")
    if (
        name in FINITE
        and not is_torch
        and name in ("eig", "eigvals", "svd", "pinv")
        and (facts.has_nan(array) or facts.has_inf(array))
    ):
        raise ViolationError("LinAlgError", f"{name} is of finite numbers")
    if name == "solve" and len(call.args) > 1:
        right = operands.as_array(call.args[1])
        if right is not None and right.shape and array.shape is not None and len(array.shape) == 2:
            size = right.shape[0] if len(right.shape) == 1 or not is_torch else right.shape[-2]
            if None not in (size, array.shape[0]) and size != array.shape[0]:
                raise ViolationError(
                    "RuntimeError" if is_torch else "ValueError", "sizes of a system differ"
                )
    return _folded(call, array, name)


def _folded(call: Call, array: Array, name: str) -> Value:
    if array.data is not None and array.data.size <= 10_000 and array.data.dtype.kind in "iuf":
        function: Any = getattr(np.linalg, name, None)
        try:
            args = [_data(each) for each in call.args] or [array.data]
            if function is not None and not call.kwargs:
                result = computed.folded(function, *args)
                return result if array.home == "numpy" else derived(array, None)
        except NotConcreteError:
            pass
        except ViolationError as violation:
            if array.home == "torch":
                raise ViolationError("_LinAlgError", violation.reason) from violation
            raise
    if name in ("inv", "cholesky", "pinv", "matrix_power"):
        shape = array.shape
        if name == "pinv" and shape is not None:
            shape = (*shape[:-2], *shape[:-3:-1])
        made = derived(array, shape)
        return of_graph(made, array) if array.home == "torch" else made
    if name == "norm" and not call.kwargs and len(call.args) < 2:
        return derived(array, ())
    return Unknown()


def _data(value: Value) -> Any:
    if isinstance(value, Array) and value.data is not None:
        return value.data
    return concrete(value)


def product(call: Call) -> Value:
    """A product of matrices."""
    values = [call.receiver, *call.args] if isinstance(call.receiver, Array) else call.args
    if len(values) < 2:
        return Unknown()
    left, right = operands.as_array(values[0]), operands.as_array(values[1])
    if left is None or right is None:
        return Unknown()
    if left.home == "torch" or right.home == "torch":
        rank = {"mm": 2, "bmm": 3, "mv": 2}.get(call.name)
        if rank is not None and left.rank is not None and left.rank != rank:
            raise ViolationError("RuntimeError", f"{call.name} is of tensors with {rank} axes")
        return arithmetic.binary("MatMult", values[0], values[1], call.state)
    if call.name == "dot":
        if () in (left.shape, right.shape):
            return arithmetic.binary("Mult", values[0], values[1], call.state)
        if "series" in (left.home, right.home):
            return Unknown()
    if (
        left.data is not None
        and right.data is not None
        and left.data.size + right.data.size <= FOLDED
    ) and left.home == right.home == "numpy":
        return computed.folded(np.dot if call.name == "dot" else np.matmul, left.data, right.data)
    if call.name == "dot" and (left.rank or 0) > 2:
        return Unknown()
    return derived(left, matmul(left.shape, right.shape, "ValueError"))


def einsum(call: Call) -> Value:
    """A sum over named axes.

    Raises
    ------
    ViolationError
        If the axes do not fit to the letters.
    """
    text = call.text(0)
    if text is None or "..." in text:
        return Unknown()
    arrays = [operands.as_array(each) for each in call.args[1:]]
    inputs, _, output = text.replace(" ", "").partition("->")
    terms = inputs.split(",")
    is_torch = any(array is not None and array.home == "torch" for array in arrays)
    wrong = "RuntimeError" if is_torch else "ValueError"
    if len(terms) != len(arrays):
        raise ViolationError(wrong, "there are other numbers of terms and operands")
    sizes: dict[str, int] = {}
    for term, array in zip(terms, arrays, strict=False):
        if array is None or array.shape is None:
            return Unknown()
        if len(term) != len(array.shape):
            raise ViolationError(wrong, f"{term} has other axes than {shown(array.shape)}")
        for letter, size in zip(term, array.shape, strict=False):
            if size is None:
                continue
            before = sizes.setdefault(letter, size)
            if before != size and 1 not in (before, size):
                raise ViolationError(wrong, f"the axis {letter} has sizes {before} and {size}")
            sizes[letter] = max(before, size)
    if "->" in text:
        for letter in output:
            if letter not in inputs:
                raise ViolationError(wrong, f"the axis {letter} is in no operand")
        main = next((array for array in arrays if array is not None), None)
        if main is not None:
            return derived(main, tuple(sizes.get(letter) for letter in output))
    return Unknown()


NAMES: Final = (
    "inv", "det", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "solve", "slogdet", "svd",
    "pinv", "lstsq", "cond", "matrix_rank", "norm", "matrix_power", "qr",
)  # fmt: skip

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"numpy.linalg.{name}": matrix_function for name in NAMES},
    **{f"torch.linalg.{name}": matrix_function for name in NAMES if name != "norm"},
    "torch.inverse": matrix_function,
    "torch.Tensor.inverse": matrix_function,
    "torch.Tensor.det": matrix_function,
    "torch.det": matrix_function,
    "torch.cholesky": matrix_function,
    **{f"numpy.{name}": product for name in ("dot", "matmul")},
    **{f"torch.{name}": product for name in ("mm", "bmm", "matmul", "mv", "dot")},
    **{f"torch.Tensor.{name}": product for name in ("mm", "bmm", "matmul", "mv", "dot")},
    "numpy.ndarray.dot": product,
    "numpy.einsum": einsum,
    "torch.einsum": einsum,
}
