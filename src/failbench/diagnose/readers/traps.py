"""Traps: values that do not mean what they say; of a source's rows, which ``traps.csv`` means."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from failbench.base.arrays import Array, Mask
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.diagnose.readers.log import Log, Rows, known
from failbench.diagnose.readers.numbers import NOWHERE, Places

FEWEST: Final = 8  # values of a series that has a course: of fewer, a quarter is a single one
SMALL: Final = 1e-3  # nats: a loss that falls to exactly 0 passes below this before
# relative difference up to which two numbers of a log are one, which was rounded twice
EQUAL: Final = 0.02
TWENTY: Final = 20  # losses from which a plateau can be seen
LARGE: Final = 1_000.0  # perplexities from which an equal number is no rounding
APART: Final = 0.05  # nats by which two losses have different perplexities in any print
OFTEN: Final = 0.5  # share of equal greatest norms from which they are clipped ones
SELDOM: Final = 0.1  # share of norms that are not finite up to which they are single ones
# times between two lines by which a step falls back; ranks that print in turn fall by less
FAR: Final = 3
_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Trap:
    """A value that misleads."""

    kind: str
    source: int
    line: int | None
    step: int | None
    rows: int
    meaning: str
    causes: tuple[str, ...] = ()


def traps(log: Log) -> tuple[Trap, ...]:
    """The traps of a log, each once: values that do not mean what they say."""
    found: dict[str, Trap] = {}
    for source in range(len(log.sources)):
        of_source = np.flatnonzero(log.rows.source == source)
        is_train = log.rows.is_train[of_source]
        rows = log.rows.taken(np.concatenate([of_source[is_train], of_source[~is_train]]))
        for kind, find in FINDERS.items() if len(rows) else ():
            with np.errstate(all="ignore"):
                at = find(rows)
            if not len(at):
                continue
            if kind in found:
                found[kind] = replace(found[kind], rows=found[kind].rows + len(at))
                continue
            line, step = known(rows.line[at[0]]), known(rows.step[at[0]])
            told = known_traps()[kind]
            found[kind] = Trap(kind, source, line, step, len(at), told.meaning, told.causes)
    return tuple(found[kind] for kind in FINDERS if kind in found)


class KnownTrap(Record):
    """What a kind of trap means, and the causes that it points to."""

    kind: str
    causes: CauseNames
    meaning: str


@cache
def known_traps() -> dict[str, KnownTrap]:
    """The catalogue."""
    rows = packaged_rows("failbench.diagnose.readers", "traps.csv", KnownTrap)
    return {row.kind: row for row in rows}


def _trained(rows: Rows, is_wanted: Mask) -> Places:
    """Rows of training for which something holds."""
    return np.flatnonzero(rows.is_train & is_wanted)


def _losses(rows: Rows) -> tuple[Places, Array]:
    """Finite losses of training, and where they are."""
    at = _trained(rows, np.isfinite(rows["loss"]))
    return at, rows["loss"][at]


def _unfinite(rows: Rows, signal: str) -> Mask:
    unfinite: Mask = rows.has(signal) & ~np.isfinite(rows[signal])
    return unfinite


def _learns(rows: Rows) -> bool:
    """Whether the last quarter of losses lies mostly below all of the first one."""
    losses = _losses(rows)[1]
    quarter = len(losses) // 4
    if len(losses) < FEWEST:
        return False
    return bool(np.median(losses[-quarter:]) < losses[:quarter].min())


def _zero_while_learning(rows: Rows, signal: str) -> Places:
    """Rows of a signal that is 0 all along though the loss falls."""
    at = _trained(rows, rows.has(signal))
    is_zero = len(at) >= FEWEST and bool((rows[signal][at] == 0.0).all())
    return at if is_zero and _learns(rows) else _NONE


def _missing_loss(rows: Rows) -> Places:
    """Rows of a loss of exactly 0 behind one that is not small."""
    at = _trained(rows, rows.has("loss"))
    losses = rows["loss"][at]
    is_missing = (losses[1:] == 0.0) & ~(losses[:-1] <= SMALL)
    missing: Places = at[1:][is_missing & ~_unfinite(rows, "grad_norm")[at[1:]]]
    return missing


def _clipped_norm(rows: Rows) -> Places:
    """Rows of the greatest norm, if most have it."""
    norms = rows["grad_norm"]
    at = _trained(rows, np.isfinite(norms) & (norms > 0))
    if len(at) < FEWEST:
        return _NONE
    greatest = at[norms[at] == norms[at].max()]
    return greatest if len(greatest) >= OFTEN * len(at) else _NONE


def _lone_overflow(rows: Rows) -> Places:
    """Rows of norms that are not finite, if they are few and every loss is finite and not 0."""
    norms = _trained(rows, rows.has("grad_norm"))
    overflowed = _trained(rows, _unfinite(rows, "grad_norm"))
    losses = rows["loss"][_trained(rows, rows.has("loss"))]
    is_sound = np.isfinite(losses).all() and not (rows["loss"][overflowed] == 0.0).any()
    is_seldom = len(overflowed) <= SELDOM * len(norms)
    return overflowed if is_seldom and is_sound and len(losses) else _NONE


def _warmup_from_zero(rows: Rows) -> Places:
    """Rows of a rate of 0 before all others."""
    at = _trained(rows, rows.has("learning_rate"))
    before = at[np.logical_and.accumulate(rows["learning_rate"][at] == 0.0)]
    return before if len(before) < len(at) else _NONE


def _loss_left_out(rows: Rows) -> Places:
    """Rows with a rate and a step but no loss, if most with these have one."""
    is_line = rows.has("learning_rate") & (rows.step != NOWHERE)
    without = _trained(rows, is_line & ~rows.has("loss"))
    return without if 2 * len(without) < len(_trained(rows, is_line)) else _NONE


def _mean_of_run(rows: Rows) -> Places:
    """The last row, if its loss is the mean of all before it and above the last ones."""
    at, losses = _losses(rows)
    before = losses[:-1]
    if len(before) < FEWEST:
        return _NONE
    latest = before[-(len(before) // 4) :].max()
    is_mean = _near(losses[-1:], before.mean()).all() and losses[-1] > latest
    return at[-1:] if is_mean else _NONE


def _loss_in_bits(rows: Rows) -> Places:
    """Rows whose perplexity is 2 to the loss, if all are; under half a nat, e is too near to 2."""
    both = _with_perplexity(rows)
    losses = rows["loss"][both]
    both = both[(losses >= 0.5) & (losses <= 100)]
    is_power = _near(2.0 ** rows["loss"][both], rows["perplexity"][both])
    return both if len(both) >= 3 and is_power.all() else _NONE


def _capped_perplexity(rows: Rows) -> Places:
    """Rows of the greatest perplexity, if it is large and their losses differ."""
    both = _with_perplexity(rows)
    perplexities = rows["perplexity"][both]
    if not len(both) or perplexities.max() < LARGE:
        return _NONE
    top = both[perplexities == perplexities.max()]
    return top if np.ptp(rows["loss"][top]) > APART else _NONE


def _rounded_loss(rows: Rows) -> Places:
    """Rows whose loss equals the one before, if half do and all have two decimals at most."""
    at, losses = _losses(rows)
    if len(losses) < TWENTY or (losses == losses[0]).all():
        return _NONE
    hundreds = losses * 100
    equal = at[1:][np.diff(losses) == 0.0]
    is_coarse = (np.abs(hundreds - hundreds.round()) < 1e-6).all()
    return equal if is_coarse and 2 * len(equal) >= len(losses) else _NONE


def _steps_go_back(rows: Rows) -> Places:
    """Rows whose step is lower than that of the row before by several lines' worth."""
    at = _trained(rows, rows.step != NOWHERE)
    change = np.diff(rows.step[at])
    forward = change[change > 0]
    return at[1:][change < -FAR * np.median(forward)] if len(forward) else _NONE


def _with_perplexity(rows: Rows) -> Places:
    return np.flatnonzero(np.isfinite(rows["perplexity"]) & np.isfinite(rows["loss"]))


def _near(first: Array, second: Array | np.float64) -> Mask:
    near: Mask = np.abs(first / second - 1) <= EQUAL
    return near


# what finds the rows of each kind, in the order in which they are told
FINDERS: Final[dict[str, Callable[[Rows], Places]]] = {
    "hidden_nan": lambda rows: _trained(rows, (rows["loss"] == 0.0) & _unfinite(rows, "grad_norm")),
    "missing_loss": _missing_loss,
    "norm_not_measured": lambda rows: _zero_while_learning(rows, "grad_norm"),
    "norm_of_overflow": lambda rows: _trained(rows, rows["grad_norm"] < 0),
    "clipped_norm": _clipped_norm,
    "lone_overflow": _lone_overflow,
    "rounded_rate": lambda rows: _zero_while_learning(rows, "learning_rate"),
    "warmup_from_zero": _warmup_from_zero,
    "loss_left_out": _loss_left_out,
    "mean_of_run": _mean_of_run,
    "loss_in_bits": _loss_in_bits,
    "capped_perplexity": _capped_perplexity,
    "perplexity_overflows": lambda rows: np.flatnonzero(
        np.isinf(rows["perplexity"]) & np.isfinite(rows["loss"])
    ),
    "rounded_loss": _rounded_loss,
    "steps_go_back": _steps_go_back,
}
