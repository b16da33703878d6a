"""Incidence: cumulative incidences and hazards of right and wrong answers with their intervals.

A right and a wrong answer compete: whoever has given one gives no other. So the share that ends
wrong is the cumulative incidence of Aalen and Johansen (1978); one less the estimate of Kaplan and
Meier, with right answers as censored, would be the share in a world without right answers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from lifelines import AalenJohansenFitter, NelsonAalenFitter

from failbench.arrays import Array
from failbench.lenses.slices import Integers

RIGHT_EVENT: Final = 1
WRONG_EVENT: Final = 2
"""What ends an answer; 0 is truncation, which censors it."""

_PERMUTATION_SEED: Final = 0
"""Of the order of answers that end at the same token; any gives nearly the same."""


def apart(tokens: Integers, events: Integers) -> Array:
    """Times at which no two answers end, ``[n]``.

    The estimator of lifelines knows no ties between causes: it moves tied times by random numbers
    from a generator that the whole process shares. Here answers of one token are spread evenly over
    the half token before it, in an order that is drawn once; truncated ones stay, so that they are
    still open when the others end.

    Parameters
    ----------
    tokens
        At which answers end or are truncated.
    events
        0 where truncated.
    """
    order = np.random.default_rng(_PERMUTATION_SEED).permutation(len(tokens))
    times = tokens.astype(np.float64)
    for token in np.unique(tokens[events > 0]):
        tied = order[(tokens[order] == token) & (events[order] > 0)]
        times[tied] = token - 0.5 * np.arange(len(tied), 0, -1) / (len(tied) + 1)
    return times


def incidences(
    tokens: Integers, events: Integers, at: Array, confidence: float
) -> dict[str, Array]:
    """Cumulative incidences and hazards at given tokens.

    Parameters
    ----------
    tokens, events
        Of each answer: when it ended, and as what.
    at
        Tokens, ``[n_times]``.
    confidence
        Of the pointwise intervals: of incidences by Greenland's delta method on log(-log), of
        cumulative hazards by that on log, as lifelines has them.

    Returns
    -------
    dict of Array
        ``right_incidence``, ``right_hazard_sum`` and so for wrong, each with ``_low`` and
        ``_high``, ``[n_times]``; an interval is NaN where there is no event yet.
    """
    times = apart(tokens, events)
    results: dict[str, Array] = {}
    for name, event in (("right", RIGHT_EVENT), ("wrong", WRONG_EVENT)):
        if not (events == event).any():
            for kind in ("incidence", "hazard_sum"):
                results[f"{name}_{kind}"] = np.zeros(len(at))
                results[f"{name}_{kind}_low"] = np.full(len(at), np.nan)
                results[f"{name}_{kind}_high"] = np.full(len(at), np.nan)
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            # before the first event and after the last answer the variance is 0 by 0
            johansen = AalenJohansenFitter(alpha=1 - confidence)
            johansen.fit(times, events, event_of_interest=event)
            nelson = NelsonAalenFitter(alpha=1 - confidence, nelson_aalen_smoothing=False)
            nelson.fit(tokens, events == event)
        for kind, curve, bounds in (
            ("incidence", johansen.cumulative_density_, johansen.confidence_interval_),
            ("hazard_sum", nelson.cumulative_hazard_, nelson.confidence_interval_),
        ):
            place = np.searchsorted(curve.index.to_numpy(), at, side="right") - 1
            both = bounds.to_numpy()[place]
            results[f"{name}_{kind}"] = curve.iloc[:, 0].to_numpy()[place]
            results[f"{name}_{kind}_low"] = both.min(axis=1)
            results[f"{name}_{kind}_high"] = both.max(axis=1)
    return results


def points_of(results: dict[str, Array]) -> list[pl.Series]:
    """The curves as columns, null where an interval is not defined."""
    return [pl.Series(name, values).fill_nan(None) for name, values in results.items()]
