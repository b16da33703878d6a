"""Reality: one operation on real zeros, as fakes know not all rules of types and word others."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils._pytree import tree_iter, tree_map

from failbench.preflight.known_values import KnownValues

MOST_BYTES: Final = 2**26  # what may be allocated to hear an error: 64 MiB
# parts of names of operations that take what another one left, which zeros are not
UNTRIED: Final = ("backward", "mkldnn", "cudnn", "miopen")


class NotTriedError(Exception):
    """The operation needs too much memory, another device, or what another operation has left."""


def raised_by(
    operation: Any, arguments: tuple[Any, ...], options: dict[str, Any], known: KnownValues
) -> Exception | None:
    """The exception of an operation for tensors of these shapes, types and known values."""
    name = str(operation)
    if not name.startswith("aten.") or any(part in name for part in UNTRIED):
        raise NotTriedError
    tensors = [each for each in tree_iter((arguments, options)) if isinstance(each, Tensor)]
    if sum(each.numel() * each.element_size() for each in tensors) > MOST_BYTES:
        raise NotTriedError

    def real(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        there = known.of(value)
        device = value.fake_device if isinstance(value, FakeTensor) else value.device
        if device.type not in ("cpu", "meta"):
            raise NotTriedError
        if there is not None:
            return there.value.clone()
        return torch.zeros(value.shape, dtype=value.dtype, device=device)

    with unset_fake_temporarily(), torch.no_grad():
        given, named = tree_map(real, (arguments, options))
        try:
            operation(*given, **named)
        except MemoryError as error:
            raise NotTriedError from error
        except Exception as error:
            return error
    return None
