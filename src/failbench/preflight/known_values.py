"""Known values: integers such as token ids, masks and positions, which depend on no weight.

They decide whether a look-up fails, and are computed for real beside fakes of the same operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_iter, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

# elements of a tensor that is computed for real: 16 million, a causal mask of 4,096 positions
MOST_ELEMENTS: Final = 2**24
_DRAWS: Final = torch.Tag.nondeterministic_seeded

# operations that move values or leave some out: what comes out is the data's, or a constant
PASSING: Final = frozenset(
    {
        "alias",
        "cat",
        "clone",
        "contiguous",
        "copy_",
        "detach",
        "expand",
        "masked_fill",
        "masked_fill_",
        "_to_copy",
        "permute",
        "reshape",
        "select",
        "slice",
        "split",
        "squeeze",
        "stack",
        "t",
        "transpose",
        "unsqueeze",
        "view",
        "_unsafe_view",
        "_reshape_alias",
    }
)


@dataclass(frozen=True)
class Known:
    """What a tensor holds."""

    value: Tensor
    keys: frozenset[str]
    untouched: bool


class KnownValues:
    """The values that are known of fake tensors."""

    def __init__(self) -> None:
        self._known = WeakTensorKeyDictionary()

    def of(self, tensor: Any) -> Known | None:
        """What is known of a tensor."""
        return self._known.get(tensor) if isinstance(tensor, Tensor) else None

    def note(self, fake: Tensor, value: Tensor, key: str) -> None:
        """Say what a fake tensor holds; more than one floating-point value is not followed."""
        if _is_followed(value) and not value.is_meta:
            keys = frozenset({key}) if key else frozenset[str]()
            with unset_fake_temporarily():
                copied = value.detach().cpu().clone()
            self._known[fake] = Known(copied, keys, untouched=bool(key))

    def follow(
        self, operation: Any, arguments: tuple[Any, ...], options: dict[str, Any], result: Any
    ) -> None:
        """Compute an operation for real if all that it reads is known, and note what it gives."""
        tensors = [each for each in tree_iter((arguments, options)) if isinstance(each, Tensor)]
        outputs = [each for each in tree_iter(result) if isinstance(each, FakeTensor)]
        is_mutable = operation._schema.is_mutable
        if not is_mutable and not any(_is_followed(each) for each in outputs):
            return
        known = [self.of(each) for each in tensors]
        if any(each is None for each in known) or _DRAWS in operation.tags:
            if is_mutable and any(each is not None for each in known):
                self._forget(outputs or tensors)
            return
        if not tensors and "device" not in options:
            return
        sources = [each for each in known if each is not None]
        values = self.computed(operation, arguments, options)
        if values is None:
            return
        keys = frozenset[str]().union(*(each.keys for each in sources))
        name = operation._schema.name.removeprefix("aten::")
        untouched = name in PASSING and any(each.untouched for each in sources)
        for fake, value in zip(outputs, _tensors(values), strict=False):
            if _is_followed(value) and value.shape == fake.shape:
                self._known[fake] = Known(value, keys, untouched)

    def computed(
        self, operation: Any, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any | None:
        """What an operation of known tensors gives, or None where that cannot be computed."""

        def real(value: Any) -> Any:
            if isinstance(value, Tensor):
                known = self.of(value)
                if known is None:
                    raise LookupError
                return known.value
            return torch.device("cpu") if isinstance(value, torch.device) else value

        try:
            with unset_fake_temporarily(), torch.no_grad():
                given, named = tree_map(real, (arguments, options))
                return operation(*given, **named)
        except Exception:  # then it is not known; what is wrong with the step is said elsewhere
            return None

    def _forget(self, changed: Sequence[Tensor]) -> None:
        """Forget tensors whose memory something unknown was written to."""
        storages = {StorageWeakRef(each.untyped_storage()) for each in changed}
        for tensor in list(self._known.keys()):
            if StorageWeakRef(tensor.untyped_storage()) in storages:
                del self._known[tensor]


def _is_followed(tensor: Tensor) -> bool:
    if tensor.layout is not torch.strided or tensor.is_complex():
        return False
    # A single number may be the count of steps that an optimizer keeps.
    return tensor.numel() <= (1 if tensor.is_floating_point() else MOST_ELEMENTS)


def _tensors(values: Any) -> list[Tensor]:
    return [each for each in tree_iter(values) if isinstance(each, Tensor)]
