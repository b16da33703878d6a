"""Optimizer memory: a step on fakes, else what ``data/optimizer_states.csv`` says of the class."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from torch import Tensor
from torch.optim import Optimizer
from torch.utils._pytree import tree_iter, tree_map

OTHERS: Final = "Optimizer"  # the row of classes that have none of their own


@cache
def state_tensors() -> dict[str, float]:
    """How many values of a weight's type each class of optimizers keeps per weight."""
    text = files("failbench.preflight").joinpath("data/optimizer_states.csv").read_text("utf-8")
    return {row["optimizer"]: float(row["values"]) for row in csv.DictReader(text.splitlines())}


def values_per_weight(optimizer: Optimizer) -> float:
    """What an optimizer keeps of a weight, by the first of its classes that is known."""
    known = state_tensors()
    return next(known[each.__name__] for each in type(optimizer).__mro__ if each.__name__ in known)


def twin_of(optimizer: Optimizer, fakes: Mapping[int, Tensor]) -> Any:
    """An optimizer of the same class and options over fake parameters, with no hooks."""
    twin = object.__new__(type(optimizer))
    twin.__dict__.update(vars(optimizer))
    twin.__dict__.pop("step", None)  # which schedulers replace
    for name, value in vars(optimizer).items():
        if name.endswith("_hooks"):
            twin.__dict__[name] = type(value)()
    twin.param_groups = [
        {
            **group,
            "params": [fakes[id(each)] for each in group["params"] if id(each) in fakes],
        }
        for group in optimizer.param_groups
    ]
    twin.state = defaultdict(dict)
    return twin


def state_of(optimizer: Any) -> list[Tensor]:
    """The tensors of an optimizer's state."""
    return [each for each in tree_iter(dict(optimizer.state)) if isinstance(each, Tensor)]


def fake_state(optimizer: Optimizer, twin: Any, fakes: Mapping[int, Tensor], fake: Any) -> None:
    """Give a twin the state that the optimizer has already, as fake tensors."""
    for parameter, state in optimizer.state.items():
        if id(parameter) in fakes:
            twin.state[fakes[id(parameter)]] = tree_map(
                lambda value: fake(value) if isinstance(value, Tensor) else value, state
            )
