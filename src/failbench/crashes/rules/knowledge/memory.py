"""Allocations that do not fit into the memory of a kernel."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.knowledge.violation import ViolationError

LIMIT: Final = 8 * 2**30
"""Bytes of address space of a kernel, as ``docs/notebooks.md`` says."""

SIZES: Final = {
    "float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4, "float16": 2,
    "int16": 2, "uint16": 2, "bfloat16": 2, "bool": 1, "int8": 1, "uint8": 1, "complex128": 16,
    "complex64": 8, "object": 8, "datetime64": 8, "timedelta64": 8, "str": 4,
}  # fmt: skip
"""Bytes of an element."""


def check(elements: int | None, dtype: str | None, is_torch: bool = False) -> None:
    """Refuse an array that is larger than the limit.

    Parameters
    ----------
    dtype
        Of one that is not known an element has at least one byte.

    Raises
    ------
    ViolationError
        ``MemoryError``, or ``RuntimeError`` of torch.
    """
    if elements is None or elements * SIZES.get(dtype or "", 1) <= LIMIT:
        return
    reason = f"{elements} elements take more than the {LIMIT // 2**30} GiB of the kernel"
    raise ViolationError("RuntimeError" if is_torch else "MemoryError", reason)
