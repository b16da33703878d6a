"""Training checks: whether what should be trained is, by this optimizer, in this mode."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import nn
from torch.optim import Optimizer

from failbench.preflight.findings import Finding, finding
from failbench.preflight.tensors import named_tensors

# beginnings and endings of the names of classes that compute otherwise in evaluation mode
OTHER_IN_EVALUATION: Final = ("Dropout", "BatchNorm", "InstanceNorm", "SyncBatchNorm")
MOST_NAMED: Final = 3


def gradient_checks(model: nn.Module) -> Iterator[Finding]:
    """Whether gradients are on, and which parameters take one."""
    if not torch.is_grad_enabled():
        text = (
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
        )
        yield finding("gradients_off", error=text)
    parameters = dict(model.named_parameters())
    frozen = {name: each for name, each in parameters.items() if not each.requires_grad}
    if parameters and len(frozen) == len(parameters):
        text = (
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
        )
        yield finding("nothing_requires_grad", error=text)
    elif frozen:
        total = sum(each.numel() for each in parameters.values())
        count = sum(each.numel() for each in frozen.values())
        trained = [name for name in parameters if name not in frozen]
        more = f" and {len(trained) - MOST_NAMED} more" if len(trained) > MOST_NAMED else ""
        yield finding(
            "frozen",
            where=next(iter(frozen)),
            count=f"{count:,}",
            total=f"{total:,}",
            share=f"{count / max(1, total):.0%}",
            first=next(iter(frozen)),
            trained=", ".join(trained[:MOST_NAMED]) + more,
        )


def optimizer_checks(model: nn.Module, optimizer: Optimizer) -> Iterator[Finding]:
    """Whether an optimizer has the parameters of a model, and rates that move them."""
    held = {id(each) for group in optimizer.param_groups for each in group["params"]}
    of_model = {id(each): name for name, each in model.named_parameters(remove_duplicate=False)}
    strangers = held - of_model.keys()
    if not held:
        yield finding("optimizer_empty")
    elif len(strangers) == len(held):
        yield finding("optimizer_of_other_model", count=len(held))
    else:
        if strangers:
            yield finding("strangers_in_optimizer", count=len(strangers), total=len(held))
        missing = [
            name
            for name, each in model.named_parameters()
            if each.requires_grad and id(each) not in held
        ]
        if missing:
            yield finding(
                "not_in_optimizer", where=missing[0], count=len(missing), first=missing[0]
            )
    yield from _rates(optimizer)


def _rates(optimizer: Optimizer) -> Iterator[Finding]:
    groups = optimizer.param_groups
    for position, group in enumerate(groups):
        name = f"group {position}" if len(groups) > 1 else "its only group"
        rate = float(group.get("lr", math.nan)) if "lr" in group else None
        if rate is not None and not math.isfinite(rate):
            yield finding("rate_not_finite", where=name, groups=name, rate=rate)
        elif rate is not None and rate < 0:
            yield finding("rate_not_positive", where=name, groups=name, rate=rate)
        elif rate == 0:
            yield finding("rate_zero", where=name, groups=name)
        if group.get("maximize"):
            yield finding("maximizes", where=name, groups=name)


def mode_checks(model: nn.Module) -> Iterator[Finding]:
    """Whether modules that compute otherwise in evaluation mode are in it."""
    modules = dict(model.named_modules())
    resting = {
        name: module
        for name, module in modules.items()
        if not module.training and _is_other_in_evaluation(module)
    }
    if resting:
        kinds = sorted({type(module).__name__ for module in resting.values()})
        first = next(iter(resting))
        yield finding(
            "evaluation_mode",
            where=first,
            count=sum(not module.training for module in modules.values()),
            total=len(modules),
            first=first,
            kinds=", ".join(kinds),
        )


def device_checks(model: nn.Module, batch: Any) -> Iterator[Finding]:
    """Whether the batch is where the model is."""
    of_model = {str(each.device) for each in model.parameters()}
    of_batch = {str(each.device): key for key, each in named_tensors(batch)}
    if of_model and of_batch and not of_model & of_batch.keys():
        yield finding(
            "devices_differ",
            where=next(iter(of_batch.values())),
            batch=", ".join(sorted(of_batch)),
            model=", ".join(sorted(of_model)),
        )


def _is_other_in_evaluation(module: nn.Module) -> bool:
    name = type(module).__name__
    if not any(each in name for each in OTHER_IN_EVALUATION):
        return False
    return getattr(module, "p", 1.0) != 0  # a dropout of nothing is the same in both modes
