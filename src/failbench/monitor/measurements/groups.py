"""Measurements of parameter groups: what optimizers hold, and their hyper-parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from torch import Tensor

_VARYING: Final = frozenset(("params", "param_names", "lr", "initial_lr", "maximize"))
"""Entries of a group that are no hyper-parameters, or have a signal of their own."""

_COUNTERS: Final = frozenset(("step", "k", "lr_max", "weight_sum", "scheduled_lr", "train_mode"))
"""State that optimizers of other packages keep in groups."""


class GroupMeasurement:
    """Measures the parameter groups of all optimizers of a model."""

    def __init__(self, optimizers: Sequence[Any]) -> None:
        self._optimizers = tuple(optimizers)
        self._first: list[dict[str, Any]] | None = None

    def measure(self, parameters: Sequence[Tensor]) -> dict[str, float]:
        """Measure the groups."""
        groups = [group for optimizer in self._optimizers for group in optimizer.param_groups]
        held = {id(parameter): parameter for group in groups for parameter in group["params"]}
        stale = held.keys() - {id(parameter) for parameter in parameters}
        rates = [float(group["lr"]) for group in groups if "lr" in group]
        hyperparameters = [_hyperparameters(group) for group in groups]
        if self._first is None:
            self._first = hyperparameters
        changed = sum(
            name not in now or now[name] != value
            for first, now in zip(self._first, hyperparameters, strict=False)
            for name, value in first.items()
        )
        values = {
            "parameter_groups": float(len(groups)),
            "optimized_parameters": float(sum(each.numel() for each in held.values())),
            "stale_parameters": float(sum(held[each].numel() for each in stale)),
            "hyperparameters_changed": float(changed),
            "maximize": float(any(group.get("maximize") for group in groups)),
        }
        if rates:
            values["learning_rate"] = max(rates)
            values["decay_per_step"] = max(
                float(group["lr"]) * float(group.get("weight_decay") or 0.0)
                for group in groups
                if "lr" in group
            )
        return values


def _hyperparameters(group: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _plain(value)
        for name, value in group.items()
        if name not in _VARYING and name not in _COUNTERS
    }


def _plain(value: Any) -> Any:
    """A value that can be compared, and does not change when the user's does."""
    if isinstance(value, Tensor):
        return float(value) if value.numel() == 1 else tuple(value.flatten().tolist())
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return value if isinstance(value, bool | int | float | str) or value is None else None
