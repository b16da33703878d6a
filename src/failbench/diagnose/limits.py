"""Limits: whether a log shows health, what it does not show, and what would settle it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from failbench.base.arrays import Array
from failbench.causes.catalogue import Measurement
from failbench.diagnose.answer import Hypothesis, Status
from failbench.diagnose.checks import TIGHTEST, checks
from failbench.diagnose.readers.log import Log
from failbench.diagnose.series import WINDOW, series_of

NAN: Final = re.compile(r"\bnan\b", re.IGNORECASE)
# signals of which one says as much as the other
ALTERNATIVE: Final = {"loss": "perplexity", "perplexity": "loss"}
MOST_MEASUREMENTS: Final = 2
# values of a loss below which its course says little: twice what a past is made of
SHORT: Final = 16

MONITOR: Final = Measurement(
    measure="Run it again under failbench.monitor, which writes what must hold in every step.",
    tells="The invariant that breaks first names the component, and often the cause.",
)


def absent_from(log: Log) -> tuple[str, ...]:
    """Signals that a log lacks and that would have been read, in the order of the normal form."""
    return tuple(name for name in log.absent if ALTERNATIVE.get(name) not in log.present)


def uncertainty_of(
    log: Log, status: Status, hypotheses: Sequence[Hypothesis], *, nothing_found: bool
) -> tuple[str, ...]:
    """What limits the answer beside what is not logged, in sentences."""
    said = []
    losses = len(log.series("loss"))
    if 0 < losses < SHORT:
        said.append(f"The log has {losses} losses alone: their course says little.")
    if not losses and log.history is None:
        said.append("There is no course of a loss: the answer rests on words alone.")
    if status == "healthy":
        said.append(
            "That nothing stands out does not prove the training right: wrong data or labels may "
            "leave a smooth curve."
        )
        return tuple(said)
    if nothing_found:
        said.append(
            "Health shows in a loss that is always a number and falls below its first ones."
        )
        return tuple(said)
    if not any(event.kind != "warning" for event in log.events):
        said.append("The log says of no error and no end: the answer rests on its numbers.")
    if not hypotheses:
        said.append("Nothing in the log speaks for a cause.")
    elif not any(each.strength == "direct" for each in hypotheses[0].findings):
        said.append("All evidence for the first cause is circumstantial: it has other causes too.")
    if log.history is None:
        said.append(
            "The confidence was calibrated on small models on one machine; other settings may "
            "differ."
        )
    return tuple(said)


def what_to_measure(log: Log, hypotheses: Sequence[Hypothesis]) -> tuple[Measurement, ...]:
    """The one or two measurements that tell the most probable causes apart."""
    wanted = [each.advice.settle[0] for each in hypotheses[:MOST_MEASUREMENTS]]
    if not wanted:
        return (MONITOR,) if log.history is None else ()
    return tuple(dict.fromkeys(wanted))


def shows_health(log: Log) -> bool:
    """Whether losses were read, all finite, that fall below their first ones, at a rate above 0.

    A NaN in another signal, or in a warning, is no health either.
    """
    rows = log.rows
    if np.isnan(rows.values[rows.logged]).any():
        return False
    if any(NAN.search(event.message) for event in log.events):
        return False
    losses = [rows[name][rows.has(name)] for name in ("loss", "perplexity")]
    rates = rows["learning_rate"][rows.has("learning_rate")]
    if not np.isfinite(np.concatenate(losses)).all() or (len(rates) and (rates == 0).all()):
        return False
    series = series_of(log)
    return any(
        _falls(series[name].values) for name in ("loss", "validation_loss") if name in series
    )


def _falls(values: Array) -> bool:
    """Whether a later value lies below all first ones: eight, or a third of a short series.

    By as much of them as a loss must fall that the check of unmoved losses passes.
    """
    first = max(1, min(WINDOW, len(values) // 3))
    least = values[:first].min()
    needed = abs(least) * (checks()["loss_unmoved"].bound or 0.0)
    return len(values) > first and bool(least - values[first:].min() >= max(needed, TIGHTEST))
