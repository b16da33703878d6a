"""Probes: forward passes that ask whether the model treats tokens, rows and modes as it should."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.func import functional_call

_NAMED: Final = ("decoder_input_ids", "input_ids")  # what Transformers' predictions stand beside
_NO_TOKENS: Final = ("mask", "label", "position", "type")  # parts of names of other tables


@dataclass(frozen=True)
class Inputs:
    """What the model is called with."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    place: int | str | None
    part: str | None = None

    @property
    def ids(self) -> Tensor | None:
        """Token ids of shape (rows, positions)."""
        if self.place is None:
            return None
        return self._argument if self.part is None else _parts_of(self._argument)[self.part]

    def with_ids(self, ids: Tensor) -> Inputs:
        """The same with other token ids."""
        value = ids if self.part is None else _with_part(self._argument, self.part, ids)
        if isinstance(self.place, int):
            args = (*self.args[: self.place], value, *self.args[self.place + 1 :])
            return replace(self, args=args)
        return replace(self, kwargs={**self.kwargs, str(self.place): value})

    @property
    def _argument(self) -> Any:
        return (
            self.args[self.place] if isinstance(self.place, int) else self.kwargs[str(self.place)]
        )


class Probes:
    """Probes a model with a batch of its training; all its state is as before afterwards."""

    def __init__(self, model: nn.Module) -> None:
        self._model: Final = model

    def measure(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, float]:
        """Probe the model."""
        inputs = Inputs(args, kwargs, *_place_of_ids(args, kwargs))
        with torch.no_grad(), self._forked(), _without_fast_path():
            with self._evaluating():
                base = self._logits(inputs)
                if base is None or not base.numel():
                    return {}
                values = {"probe_determinism": self._difference(base, inputs)}
                if inputs.ids is not None:
                    values |= self._of_tokens(base, inputs, inputs.ids)
            values["probe_training"] = self._difference(base, inputs)
        return values

    def _of_tokens(self, base: Tensor, inputs: Inputs, ids: Tensor) -> dict[str, float]:
        values = {}
        later = _with_another_end(ids)
        if later is not None and base.shape[:2] == ids.shape and not self._reads_apart(inputs):
            changed = inputs.with_ids(later)
            values["probe_causality"] = self._difference(base, changed, (slice(None), slice(-1)))
        others = torch.cat([ids[:1], ids[1:].flip(-1)])
        if len(base) == len(ids) and not torch.equal(others, ids):
            changed = inputs.with_ids(others)
            values["probe_independence"] = self._difference(base, changed, (0,))
        return values

    def _reads_apart(self, inputs: Inputs) -> bool:
        """Whether predictions stand beside other tokens than those that are known."""
        config = getattr(self._model, "config", None)
        return bool(getattr(config, "is_encoder_decoder", False)) and (
            inputs.place != "decoder_input_ids"
        )

    def _difference(self, base: Tensor, inputs: Inputs, part: tuple[Any, ...] = ()) -> float:
        """Root mean square of what other inputs change, over that of the logits."""
        other = self._logits(inputs)
        if other is None or other.shape != base.shape:
            return math.nan
        change, size = _rms(other[part] - base[part]), _rms(base)
        if size == 0:
            return 0.0 if change == 0 else math.inf
        return change / size

    def _logits(self, inputs: Inputs) -> Tensor | None:
        # What the model writes into its buffers, as batch normalisation does, goes into copies.
        buffers = {name: buffer.clone() for name, buffer in self._model.named_buffers()}
        result = functional_call(self._model, buffers, inputs.args, dict(inputs.kwargs))
        if isinstance(result, Mapping):
            named = result.get("logits")
        else:
            named = getattr(result, "logits", None)
        if isinstance(named, Tensor):
            return named
        for part in result if isinstance(result, tuple | list) else [result]:
            if isinstance(part, Tensor) and part.is_floating_point() and part.dim() > 1:
                return part
        return None

    @contextmanager
    def _evaluating(self) -> Iterator[None]:
        modes = [(module, module.training) for module in self._model.modules()]
        try:
            for module, _ in modes:
                module.training = False
            yield
        finally:
            for module, mode in modes:
                module.training = mode

    @contextmanager
    def _forked(self) -> Iterator[None]:
        devices = {parameter.device for parameter in self._model.parameters()}
        kinds = {device.type for device in devices} - {"cpu", "meta"}
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices=[]))
            for kind in kinds:
                places = [device.index for device in devices if device.type == kind]
                stack.enter_context(torch.random.fork_rng(devices=places, device_type=kind))
            yield


@contextmanager
def _without_fast_path() -> Iterator[None]:
    """The kernels of training: those of evaluation put zeros where there is padding."""
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)


def _place_of_ids(
    args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[int | str | None, str | None]:
    """The argument with the token ids, and their name within it."""
    for name in _NAMED:
        if _are_ids(kwargs.get(name)):
            return name, None
    for number, value in enumerate(args):
        if _are_ids(value):
            return number, None
    for name, value in kwargs.items():
        if _are_ids(value) and not any(word in name for word in _NO_TOKENS):
            return name, None
    places: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for place, value in places:
        for part, inner in _parts_of(value).items():
            if _are_ids(inner) and not any(word in part for word in _NO_TOKENS):
                return place, part
    return None, None


def _parts_of(container: Any) -> Mapping[str, Any]:
    """What a mapping, a dataclass or a named tuple holds, by name; nothing of another value."""
    if isinstance(container, Mapping):
        return container
    if isinstance(container, tuple) and hasattr(container, "_fields"):
        return dict(zip(container._fields, container, strict=True))
    if is_dataclass(container) and not isinstance(container, type):
        return {field.name: getattr(container, field.name) for field in fields(container)}
    return {}


def _with_part(container: Any, part: str, value: Tensor) -> Any:
    if isinstance(container, Mapping):
        return {**container, part: value}
    if isinstance(container, tuple):
        return container._replace(**{part: value})  # type: ignore[attr-defined]
    return replace(container, **{part: value})


def _are_ids(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.dim() == 2
        and value.numel() > 0
        and value.dtype in (torch.int16, torch.int32, torch.int64)
    )


def _with_another_end(ids: Tensor) -> Tensor | None:
    """Token ids of which each row has another last one, that the batch has too."""
    low, high = torch.aminmax(ids)
    if ids.shape[1] < 2 or bool(low == high):
        return None
    last = ids[:, -1:]
    return torch.cat([ids[:, :-1], torch.where(last == high, low, high)], dim=1)


def _rms(values: Tensor) -> float:
    wide = torch.promote_types(values.dtype, torch.float32)
    return float(torch.linalg.vector_norm(values, dtype=wide)) / math.sqrt(values.numel())
