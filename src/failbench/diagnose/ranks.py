"""Ranks: which of several ranks of one run departed first, when, and of which category that is.

A run of n ranks has a monitor's log for each. Who departed is told by what breaks on one rank
alone, by how ranks ended, and by where their signals part
(``failbench.diagnose.rank_departures``). The category is what the one model of all logs says of
that rank, unless a sign speaks that only several ranks can show: what those mean is declared in
``data/rank_signs.csv``, frozen before any run of the study was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np

from failbench.base.errors import BadInputError
from failbench.base.records import OrNone, Record, packaged_rows
from failbench.base.vocabulary import Category
from failbench.causes.catalogue import Advice, Cause, CauseNames, advice, causes
from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.model import Model
from failbench.diagnose.rank_departures import (
    SAME,
    Departure,
    RankBounds,
    Ranks,
    aligned,
    departures,
    packaged_rank_bounds,
)
from failbench.diagnose.readers.records import log_of_history
from failbench.messages.catalogue import message_of
from failbench.monitor.bounds import TIGHTEST, packaged_bounds
from failbench.monitor.breaks import breaks
from failbench.monitor.end import End
from failbench.monitor.history import History, read_history
from failbench.monitor.invariants import CATALOGUE, Bound
from failbench.monitor.log import LINES

FOLDER: Final = re.compile(r"rank[-_]?(\d{1,6})")  # of a rank's log, as users and callbacks name it
# known messages of a rank that others have left, and of one that gave up waiting for them
LEFT: Final = frozenset({"link_lost", "store_has_ended", "rendezvous_failed", "jax_task_lost"})
WAITED: Final = frozenset({"collective_timeout", "watchdog", "jax_barrier_timed_out"})
DIFFER: Final = frozenset({"ranks_disagree", "message_truncated", "gather_shapes"})
# what gloo says of a peer that sends or expects another amount
GLOO_DIFFERS: Final = re.compile(
    r"op\.preamble|preamble\.length|gloo.{0,200}enforce fail", re.DOTALL
)
GLOO_WAITED: Final = re.compile(r"[Tt]imed out waiting|[Aa]pplication timeout|[Tt]imeout")
GLOO: Final = re.compile(r"gloo|c10d|collective|all_?reduce", re.IGNORECASE)
# phases in which ranks wait for one another: under DDP the step begins before the averaging
IN_COLLECTIVE: Final = ("forward", "backward", "step")
CAPPED: Final = 1e-3  # relative distance of norms that were cut to one value
SHOWN: Final = 4  # departures that are given as evidence

Status = Literal["none", "departed", "shared"]


class RankSign(Record):
    """What a sign between ranks means; where it does not decide, the model of all logs does."""

    sign: str
    decides: Literal["yes", "no"]
    category: Annotated[Category | None, OrNone]
    causes: CauseNames
    statement: str


@cache
def rank_signs() -> dict[str, RankSign]:
    """All, by name."""
    return {
        each.sign: each for each in packaged_rows("failbench.diagnose", "rank_signs.csv", RankSign)
    }


@dataclass(frozen=True)
class RanksDiagnosis:
    """What is said of the ranks of a run.

    Attributes
    ----------
    ranks
        Those that were read.
    status
        Whether a rank departed; ``shared`` where all of them do the same, and that is a failure.
    rank
        Which departed first; None where none did, or all.
    step
        The first at which that is logged.
    evidence
        The departures, what decides first.
    category
        Whose cause it is; None where none departs, or it is not known.
    cause
        The likeliest one of that category.
    follows
        How the category follows, in a sentence.
    is_by_convention
        Whether values part and tell nothing of who left: then it is not rank 0, whose weights and
        checkpoints the others are given.
    said
        What the model of all logs says of that rank's log, or of the surest where all share it.
    """

    ranks: tuple[int, ...]
    status: Status
    rank: int | None
    step: int | None
    evidence: tuple[Departure, ...]
    category: Category | None
    cause: Cause | None
    follows: str
    is_by_convention: bool
    said: LogDiagnosis

    @property
    def advice(self) -> Advice | None:
        """What to change."""
        return None if self.cause is None else advice()[self.cause.id]


def rank_folders(folder: Path) -> dict[int, Path]:
    """The logs of ranks in a folder, by rank; none where it is no folder of a run of several."""
    if not folder.is_dir():
        return {}
    found = {
        int(match[1]): path
        for path in sorted(folder.iterdir())
        if (match := FOLDER.fullmatch(path.name)) and (path / LINES).is_file()
    }
    return dict(sorted(found.items())) if len(found) > 1 else {}


def read_ranks(folder: Path) -> Ranks:
    """The logs of all ranks of a run.

    Raises
    ------
    BadInputError
        If there are fewer than two, or one cannot be read.
    """
    found = rank_folders(folder)
    if not found:
        remedy = "Name a folder with a monitor's log of each rank in rank0, rank1, ..."
        raise BadInputError(folder, "(folder)", "contains no logs of several ranks.", remedy)
    return {rank: read_history(path) for rank, path in found.items()}


def diagnose_ranks(
    ranks: Ranks,
    bounds: RankBounds | None = None,
    fitted: Mapping[str, Bound] | None = None,
    model: Model | None = None,
) -> RanksDiagnosis:
    """Say which rank departed first, and why.

    Parameters
    ----------
    ranks
        The log of each rank; at least two.
    bounds
        What healthy ranks keep to; those of the package where none are given.
    fitted
        Bounds of the monitor's invariants; those of the package where none are given.
    model
        Of all logs; that of the package where none is given.
    """
    bounds = packaged_rank_bounds() if bounds is None else bounds
    fitted = packaged_bounds() if fitted is None else fitted
    at_end = _of_ends(ranks)
    parted = [_named_by_shape(ranks, each) for each in departures(ranks, bounds)]
    found = _without_followers([*parted, *([at_end] if at_end else [])], ranks)
    if not found:
        return _of_all(ranks, fitted, model)
    if all(each.sign == SAME for each in found):
        return _answer(ranks, "shared", None, found, fitted, model)
    rank = _accused(found)
    is_known = rank is not None
    if rank is None:
        rank, is_known = _likeliest(ranks, found[0].step, fitted)
    own = [each for each in found if each.rank in (rank, None)]
    answer = _answer(ranks, "departed", rank, own or found, fitted, model)
    return replace(answer, is_by_convention=not is_known)


def _accused(found: list[Departure]) -> int | None:
    """The rank of the first departure that tells one: what logic makes equal before the rest."""
    by_logic = [each for each in found if each.is_logic and each.rank is not None]
    told = by_logic or [each for each in found if each.rank is not None]
    return told[0].rank if told else None


def _without_followers(found: list[Departure], ranks: Ranks) -> list[Departure]:
    """Without what follows by itself from something else, and in the order of causes.

    A loss that is unlike those of the others says something of what is read where weights are
    equal; where they are not, of these.
    """
    weights = [each.step for each in found if each.sign == "weights_differ"]
    every = max(history.every for history in ranks.values())
    first = min(weights, default=2**62)
    kept = [
        each for each in found
        if each.sign != "outputs_differ" or each.step < first - every
    ]  # fmt: skip
    busy = {
        rank: {each.signal for each in kept if each.rank == rank and each.sign == "computes_slower"}
        for rank in ranks
    }
    return [
        replace(each, sign="slower_throughout")
        if each.rank is not None and {"busy_forward", "busy_backward"} <= busy[each.rank]
        and each.sign in ("computes_slower", "reads_slower", "waited_for")
        else each
        for each in kept
    ]  # fmt: skip


def _named_by_shape(ranks: Ranks, each: Departure) -> Departure:
    """Gradients that differ by one factor all along, or of which one rank's are cut to one norm."""
    if each.signal != "gradient_norm":
        return each
    norms = aligned(ranks, "gradient_norm")
    after = norms.values[:, norms.steps >= each.step]
    row = list(ranks).index(each.rank) if each.rank is not None else len(ranks) - 1
    own, others = after[row], norms.others(after)[row]
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = own / others
        is_one_factor = len(factor) > 2 and np.allclose(factor, factor[0], rtol=CAPPED)
        largest = after.max(axis=1, keepdims=True)
        capped = np.isclose(after, largest, rtol=CAPPED).mean(axis=1) >= 0.5
    if is_one_factor and not np.isclose(factor[0], 1.0, rtol=CAPPED):
        return replace(each, sign="gradients_scaled")
    if (
        after.shape[1] > 2
        and capped.any()
        and not np.isclose(largest[0, 0], largest[1, 0], rtol=CAPPED)
    ):
        rank = [*ranks][int(np.argmax(capped))] if capped.sum() == 1 else each.rank
        return replace(each, sign="gradients_clipped", rank=rank)
    return each


End_ = Literal["own", "left", "waited", "differs", "killed", "completed", "running"]


def _kind_of(end: End) -> End_:
    """What an end says of whose it is: its own error, or what others did to it."""
    if end.kind in ("completed", "running"):
        return "completed" if end.kind == "completed" else "running"
    if end.kind in ("killed", "hung"):
        return "killed"
    said = message_of(end.error, end.message)
    name = "" if said is None else said.id
    if name in DIFFER or GLOO_DIFFERS.search(end.message):
        return "differs"
    if name in WAITED or (GLOO.search(end.message) and GLOO_WAITED.search(end.message)):
        return "waited"
    if name in LEFT or "DistNetworkError" in end.error or "Connection" in end.error:
        return "left"
    return "own"


def _of_ends(ranks: Ranks) -> Departure | None:
    """Who ended first of its own, where ranks did not all end alike."""
    ends = {rank: history.end for rank, history in ranks.items()}
    kinds = {rank: _kind_of(end) for rank, end in ends.items()}
    own = [rank for rank, kind in kinds.items() if kind == "own"]
    killed = [rank for rank, kind in kinds.items() if kind == "killed"]
    victims = [rank for rank, kind in kinds.items() if kind in ("left", "waited")]
    completed = [rank for rank, kind in kinds.items() if kind == "completed"]
    if own:
        steps = {rank: ends[rank].step for rank in own}
        first = [rank for rank in own if steps[rank] == min(steps.values())]
        if len(own) == len(ranks) and len(first) > 1:
            return None  # all raise it by themselves
        return _ended("own_error", first[0] if len(first) == 1 else None, first[0], ends)
    differing = [rank for rank, kind in kinds.items() if kind == "differs"]
    if differing:
        return _ended("collectives_differ", None, differing[0], ends)
    waited = any(kinds[rank] == "waited" for rank in victims)
    if killed and len(killed) < len(ranks):
        rank = min(killed, key=lambda each: ends[each].step)
        if not waited:
            return _ended("lost", rank, rank, ends)
        return _ended(_stuck(ends[rank]), rank, rank, ends)
    if victims and completed:
        rank, behind = completed[0], min(ends[each].step for each in victims)
        sign = "left_early" if ends[rank].step < behind else "left_ahead"
        return _ended(sign, rank, rank, ends)
    if len(victims) == len(ranks) or len(killed) == len(ranks):
        return _of_waiting(ends)
    return None


def _of_waiting(ends: Mapping[int, End]) -> Departure | None:
    """Of ranks that all came to a halt, the one that is not where the others wait."""
    elsewhere = [rank for rank, end in ends.items() if end.phase not in IN_COLLECTIVE]
    if 0 < len(elsewhere) < len(ends):
        rank = min(elsewhere, key=lambda each: ends[each].step)
        return _ended(_stuck(ends[rank]), rank, rank, ends)
    ahead = max(ends, key=lambda rank: ends[rank].step)
    if ends[ahead].step > min(end.step for end in ends.values()):
        return _ended("left_ahead", ahead, ahead, ends)
    return None


def _stuck(end: End) -> str:
    return "stuck_in_data" if end.phase == "data" else "stuck_elsewhere"


def _ended(sign: str, rank: int | None, shown: int, ends: Mapping[int, End]) -> Departure:
    end = ends[shown]
    others = float(np.median([each.step for other, each in ends.items() if other != shown]))
    message = f"{end.error}: {end.message}" if end.error else end.kind
    said = f"{message} (in the phase {end.phase})"
    return Departure(sign, rank, end.step, "its last step", float(end.step), others, 1.0, said)


def _likeliest(ranks: Ranks, step: int, fitted: Mapping[str, Bound]) -> tuple[int, bool]:
    """Who departed where values part and do not tell: whether that is known, too.

    The rank on which an invariant breaks by borrowed bounds while it holds on the others, or else
    that whose loss is higher from there on.
    """
    first = {
        rank: {each.invariant.id: each.step for each in breaks(history, CATALOGUE, fitted)}
        for rank, history in ranks.items()
    }
    alone = [
        (steps[name], rank)
        for rank, steps in first.items()
        for name in steps
        if all(name not in other for r, other in first.items() if r != rank)
    ]
    if alone and len({rank for _, rank in alone}) == 1:
        return min(alone)[1], True
    losses = aligned(ranks, "loss")
    after = losses.sizes[:, losses.steps >= step]
    if after.shape[1]:
        means = np.median(after, axis=1)
        worst = int(np.argmax(means))
        if means[worst] - np.median(np.delete(means, worst)) > TIGHTEST:
            return [*ranks][worst], True
    return next(rank for rank in ranks if rank != min(ranks)), False


def _of_all(ranks: Ranks, fitted: Mapping[str, Bound], model: Model | None) -> RanksDiagnosis:
    """Where no rank departs: whether all of them fail alike, each by itself."""
    said = {rank: _said(rank, history, fitted, model) for rank, history in ranks.items()}
    first = next(iter(said.values()))
    names = tuple(ranks)
    if all(each.status == "failed" for each in said.values()):
        surest = max(said.values(), key=lambda each: each.confidence)
        cause = surest.hypotheses[0].cause if surest.hypotheses else None
        steps = [each.step for each in surest.findings if each.step is not None]
        follows = "No rank departs from the others, and each fails by itself."
        return RanksDiagnosis(
            names, "shared", None, min(steps, default=None), (), surest.category, cause, follows,
            False, surest,
        )  # fmt: skip
    follows = "Ranks keep together as those of healthy runs do."
    return RanksDiagnosis(names, "none", None, None, (), None, None, follows, False, first)


def _answer(
    ranks: Ranks,
    status: Status,
    rank: int | None,
    found: list[Departure],
    fitted: Mapping[str, Bound],
    model: Model | None,
) -> RanksDiagnosis:
    """The category of a departure: by what its first sign means, or by the model of all logs."""
    shown = min(ranks) if rank is None else rank
    extra = tuple(_findings(shown, found))
    said = _said(shown, ranks[shown], fitted, model, extra, departed=True)
    sign = rank_signs()[found[0].sign]
    category, cause = said.category, said.hypotheses[0].cause if said.hypotheses else None
    component = {each.id: each.component for each in CATALOGUE}.get(found[0].signal, sign.category)
    follows = "What the model of all logs makes of that rank's log, with these signs beside it."
    if sign.decides == "yes" or category is None:
        category = component
        named = [causes()[name] for name in sign.causes]
        cause = next((each for each in named if each.category == category), None)
        follows = f"By what this sign means wherever ranks show it: {sign.statement}"
    evidence = tuple(found[:SHOWN])
    step = min(each.step for each in evidence)
    return RanksDiagnosis(
        tuple(ranks), status, rank, step, evidence, category, cause, follows, False, said
    )


def _said(
    rank: int,
    history: History,
    fitted: Mapping[str, Bound],
    model: Model | None,
    extra: tuple[Finding, ...] = (),
    *,
    departed: bool = False,
) -> LogDiagnosis:
    log = log_of_history(f"rank{rank}", history)
    return diagnosis_of(log, fitted, extra, failed=departed, model=model)


def _findings(rank: int, found: list[Departure]) -> Iterator[Finding]:
    """Departures as evidence beside the rank's own log, each sign once."""
    seen: set[str] = set()
    for each in found:
        sign = rank_signs()[each.sign]
        if each.sign in seen or not sign.causes:
            continue
        seen.add(each.sign)
        yield Finding(
            each.sign, "rank", "direct" if sign.decides == "yes" else "circumstantial",
            f"{sign.statement} {statement(each)}", f"rank{rank}", None, each.step, each.signal,
            each.value, quote=each.said[:300], causes=sign.causes,
        )  # fmt: skip


def statement(each: Departure) -> str:
    """The numbers of a departure, as a sentence."""
    text = f"{each.signal} is {each.value:.6g}, and {each.others:.6g} on the others"
    if not each.is_logic:
        text += f"; healthy ranks lie within a factor of {each.bound:.4g}"
    return f"{text}."
