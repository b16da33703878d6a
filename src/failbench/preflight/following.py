"""Following: goes through the operations of a step on fake tensors and watches each of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
    unset_fake_temporarily,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map

from failbench.preflight.index_rules import Lookup, index_rules, lookups
from failbench.preflight.known_values import KnownValues
from failbench.preflight.live_memory import LiveMemory
from failbench.preflight.memory import Largest
from failbench.preflight.reality import NotTriedError, raised_by
from failbench.preflight.tensors import size_of

_DEVICE: Final = torch.ops.prim.device.default
_ITEM: Final = torch.ops.aten._local_scalar_dense.default
_INDEX: Final = torch.ops.aten.index.Tensor
_LOG_SOFTMAX: Final = torch.ops.aten._log_softmax.default
_SELECT: Final = torch.ops.aten.masked_select.default
# what an error says that comes from going through without numbers, and not from the training
MESSAGES_OF_FAKES: Final = ("FakeTensor", "fake tensor", "data pointer", "tensor subclasses")


class NotFollowedError(RuntimeError):
    """What the code does next depends on a number that is not known."""


class Following(TorchDispatchMode):
    """Watches every operation between fake tensors."""

    def __init__(
        self,
        mode: FakeTensorMode,
        names: Mapping[int, str],
        on_lookup: Callable[[Lookup, str], None],
    ) -> None:
        super().__init__()
        self.values = KnownValues()
        self.memory = LiveMemory()
        self.largest: Largest | None = None
        self.logits = 0
        self.mixed: Exception | None = None
        self._mode = mode
        self._names = names
        self._on_lookup = on_lookup
        self._tried: set[tuple[object, ...]] = set()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Carry out one operation."""
        options = kwargs or {}
        if func is _DEVICE:
            return args[0].fake_device if isinstance(args[0], FakeTensor) else args[0].device
        if func is _ITEM:
            known = self.values.of(args[0])
            if known is not None:
                with unset_fake_temporarily():
                    return known.value.item()
        is_outside = self._look_up(func, args)
        if not is_outside:  # it is told of with its module, and what follows is looked at
            self._compare_types(func, args, options)
        given = self._without_masks(func, args)
        if given is not None:
            func, args = _INDEX, given
        before = self.memory.now
        result = self._carried_out(func, args, options)
        self._note_largest(func, args, self.memory.note(result), before)
        if func is _LOG_SOFTMAX:
            self.logits = max(self.logits, size_of([result]))
        self.values.follow(func, args, options, result)
        return result

    def place(self) -> str:
        """Name of the innermost module that is being called."""
        return innermost(sys._getframe(1), self._names)

    def _carried_out(self, func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        try:
            return func(*args, **options)
        except (DynamicOutputShapeException, DataDependentOutputException) as error:
            computed = self.values.computed(func, args, options)
            if computed is None:
                raise NotFollowedError(f"{func} depends on values of weights.") from error
            return tree_map(self._fake, computed)
        except UnsupportedOperatorException as error:
            raise NotFollowedError(f"{func} is an operation without a rule for shapes.") from error
        except NotFollowedError:
            raise
        except Exception as error:
            try:
                real = raised_by(func, args, options, self.values)
            except NotTriedError:
                raise error from None
            if real is None:
                raise NotFollowedError(f"{func}: {error}") from error
            raise real from None

    def _compare_types(self, func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Try operations between types and look-ups for real: fakes promote what others refuse."""
        tensors = [
            each for each in tree_iter((args, options)) if isinstance(each, Tensor) and each.dim()
        ]
        kinds = (str(func), *((each.dtype, each.dim()) for each in tensors))
        floating = {each.dtype for each in tensors if each.is_floating_point()}
        is_lookup = str(func) in index_rules()
        if (len(floating) < 2 and not is_lookup) or kinds in self._tried:
            return
        self._tried.add(kinds)
        try:
            real = raised_by(func, args, options, self.values)
        except NotTriedError:
            return
        if real is not None:
            self.mixed = real
            raise real

    def _look_up(self, func: Any, args: tuple[Any, ...]) -> bool:
        """Tell of the look-ups of an operation; whether one of them leaves its table."""
        is_outside = False
        with unset_fake_temporarily():
            for lookup in lookups(func, args, self.values):
                self._on_lookup(lookup, self.place())
                is_outside |= bool(lookup.outside.numel())
        return is_outside

    def _without_masks(self, func: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The arguments of an indexing with known masks, as positions; None for anything else."""
        if func is _SELECT:
            table, indices = args[0], [args[1]]
        elif func is _INDEX:
            table, indices = args[0], args[1]
        else:
            return None
        positions: list[Any] = []
        for each in indices:
            if isinstance(each, Tensor) and each.dtype is torch.bool:
                known = self.values.of(each)
                if known is None or each.shape != table.shape[len(positions) :][: each.dim()]:
                    return None
                with unset_fake_temporarily():
                    chosen = known.value.nonzero(as_tuple=True)
                positions += [self._fake(part) for part in chosen]
            else:
                positions.append(each)
        return table, positions

    def _fake(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        fake = self._mode.from_tensor(value, static_shapes=True)
        self.values.note(fake, value, "")
        return fake

    def _note_largest(
        self, func: Any, args: tuple[Any, ...], made: Sequence[Tensor], before: int
    ) -> None:
        for tensor in made:
            size = tensor.untyped_storage().nbytes()
            if self.largest is None or size > self.largest.bytes:
                read = [each.numel() for each in tree_iter(args) if isinstance(each, Tensor)]
                grows = bool(read) and tensor.numel() > max(read)
                self.largest = Largest(
                    size,
                    str(func.overloadpacket).removeprefix("aten."),
                    tuple(tensor.shape),
                    self.place(),
                    broadcast=grows and torch.Tag.pointwise in func.tags,
                    before=before,
                )


def innermost(frame: FrameType | None, names: Mapping[int, str]) -> str:
    """Name of the innermost module that a frame is called from."""
    while frame is not None:
        place = names.get(id(frame.f_locals.get("self")))
        if place is not None:
            return place
        frame = frame.f_back
    return ""


def names_of(roots: Mapping[str, Any]) -> dict[int, str]:
    """Names of all modules of some roots by their ``id``."""
    return {
        id(module): name or root
        for root, outermost in roots.items()
        if isinstance(outermost, nn.Module)
        for name, module in outermost.named_modules()
    }


def speaks_of_fakes(error: BaseException) -> bool:
    """Whether an error comes from going through a step without numbers."""
    return isinstance(error, NotFollowedError) or any(
        words in str(error) for words in MESSAGES_OF_FAKES
    )
