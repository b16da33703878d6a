"""Faults that exist with several ranks only, each a function of one rank's run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import torch
from torch import Tensor, nn

from failbench.base.errors import BadInputError
from failbench.base.scenarios import FaultDeclaration
from failbench.ranks.training import RankRun
from failbench.recording.faults.registry import Fault, Moment, find_fault

_FAULTS: Final[dict[str, Fault]] = {}


def _fault(moment: Moment) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(install: Callable[..., None]) -> Callable[..., None]:
        _FAULTS[install.__name__] = Fault(install.__name__, moment, install)
        return install

    return register


def fault_of(declaration: FaultDeclaration, place: object) -> Fault:
    """The fault of this module, or of the benchmark, that a cause declares."""
    found = _FAULTS.get(declaration.name)
    if found is None:
        try:
            return find_fault(declaration, place)
        except BadInputError as error:
            problem = f"there is no fault {declaration.name!r} that takes these parameters."
            remedy = f"Name one of the benchmark's, or {', '.join(sorted(_FAULTS))}."
            raise BadInputError(place, "fault", problem, remedy) from error
    found.check_parameters(declaration, place)
    return found


@_fault("at_onset")
def collective_skipped(run: RankRun) -> None:
    """The rank returns before the logged loss is averaged, for which the others wait."""
    run.share_loss = lambda: None


@_fault("at_onset")
def buckets_reversed(run: RankRun) -> None:
    """The rank averages its buckets, all of one size, in the order in which they became ready."""
    run.bucket_order = lambda buckets: range(buckets - 1, -1, -1)


@_fault("before_build")
def seed_of_rank(run: RankRun) -> None:
    """Each rank draws its initial weights by a seed of its own, and nobody sends them to others."""
    run.seeds = replace(run.seeds, model=run.seeds.model + 1 + run.rank)


@_fault("at_onset")
def older_weights(run: RankRun, *, checkpoints: int) -> None:
    """The rank loads the weights of a checkpoint that was not the last one."""
    paths = sorted(run.scratch.glob(f"rank{run.rank}-*.pt"))
    run.model.load_state_dict(torch.load(paths[-1 - checkpoints]))


@_fault("at_onset")
def last_layer_skipped(run: RankRun) -> None:
    """A branch that only this rank takes leaves out the last layer, which gets no gradient."""
    # on every call, as what decides is the rank: a layer is dropped, and its output is its input
    run.model.layers[-1].register_forward_hook(
        lambda _, inputs, output: inputs[0] if run.model.training else output
    )


@_fault("at_onset")
def rank_paused(run: RankRun) -> None:
    """The machine of the rank gives its time to others; the recorder stops and continues it."""
    run.tell("pause")


@_fault("at_onset")
def rank_killed(run: RankRun, *, steps: int) -> None:
    """The process of the rank is killed from outside, some steps after the cause arose."""
    last = run.step + steps

    def wait_for_the_end() -> None:
        if run.step == last:
            run.hold("operator", 0)

    run.between_steps = wait_for_the_end


@_fault("at_onset")
def inputs_exhausted(run: RankRun) -> None:
    """The shard of the rank holds fewer batches than the others', and it leaves the loop."""

    def draw(_: int) -> list[str]:
        raise StopIteration

    run.draw_texts = draw


@_fault("at_onset")
def norm_of_rank(run: RankRun) -> None:
    """Averaged gradients are clipped by the norm that the rank's own had before they were."""
    inner, norm = run.average, math.inf

    def average() -> None:
        nonlocal norm
        norm = float(nn.utils.get_total_norm(_gradients(run)))
        inner()

    def clip(limit: float | None) -> float:
        share = math.inf if limit is None else limit / (norm + 1e-6)
        for gradient in _gradients(run):
            gradient.mul_(min(1.0, share))
        return norm

    run.average, run.clip_gradients = average, clip


@_fault("at_onset")
def averaged_twice(run: RankRun) -> None:
    """Gradients that were averaged are divided by the number of ranks once more."""
    inner = run.backward

    def backward(loss: Tensor) -> None:
        inner(loss)
        for gradient in _gradients(run):
            gradient.div_(run.ranks)

    run.backward = backward


def _gradients(run: RankRun) -> list[Tensor]:
    return [each.grad for each in run.model.parameters() if each.grad is not None]


OF_RANKS: Final[Mapping[str, Fault]] = _FAULTS
