"""Alarm: how much each sign of a monitor's log says that a run fails, and when it says enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from failbench.base.arrays import Array, Labels, Mask
from failbench.diagnose.known import Choices, KnownLog, one_each
from failbench.diagnose.model import ALARM, supports_of
from failbench.diagnose.signs import Bounds, is_monitored, says_end

_TOLERANCE: Final = 1e-7
# The limit is one of the scores that it was chosen from, which rounding must not let pass.
_ROUNDING: Final = 1e-6


def broken_by_nature(logs: Sequence[KnownLog], most: float) -> tuple[str, ...]:
    """Invariants that more than a share ``most`` of the healthy runs of others break."""
    healthy = [
        log for log in logs
        if log.category is None and log.teaches_words and is_monitored(log.signs)
    ]  # fmt: skip
    counts = Counter(sign.id for log in healthy for sign in log.signs if sign.kind == "invariant")
    return tuple(sorted(name for name, count in counts.items() if count > most * len(healthy)))


def alarm_of(
    logs: Sequence[KnownLog], settings: Labels, bounds: Bounds, choices: Choices
) -> tuple[Array, float]:
    """How much each sign says that a run fails, and the limit of what monitors' logs may show.

    A log that says of an end needs no alarm: quiet logs alone are learnt from, failing and healthy
    ones weighing the same. Penalty and limit are chosen on groups left out, the limit as margins
    are: it alarms seldom enough in the mean over settings.
    """
    quiet = [at for at, log in enumerate(logs) if not says_end(log.signs)]
    logs, settings = [logs[at] for at in quiet], settings[quiet]
    failing = np.array([log.category is not None for log in logs])
    columns = np.array([supports_of(log.signs, bounds.of(log.signs)).alarming for log in logs])
    held = ~failing & [is_monitored(log.signs) for log in logs]
    if not failing.any() or not held.any():
        return np.zeros(len(ALARM)), 0.0
    weights = one_each(logs)
    total = weights.sum() / 2
    for half in (failing, ~failing):
        weights[half] *= total / weights[half].sum()
    groups = np.array([log.group for log in logs], dtype=object)
    parts = [*GroupKFold(choices.inner_folds).split(groups, groups=groups)]
    best: tuple[float, float, Array] | None = None
    for penalty in choices.penalties:
        scores = np.empty(len(logs))
        for learnt, left_out in parts:
            fit = _of_failures(columns[learnt], failing[learnt], weights[learnt], penalty)
            scores[left_out] = fit.decision_function(columns[left_out])
        loss = float(weights @ (np.logaddexp(0.0, scores) - failing * scores))
        if best is None or loss < best[0]:
            best = loss, penalty, scores
    assert best is not None
    _, penalty, scores = best
    fit = _of_failures(columns, failing, weights, penalty)
    # the fit to all scores a little otherwise than those to parts: the limit holds for both
    both = scores, fit.decision_function(columns)
    most = choices.most_alarmed
    limit = max(seldom_passed(each[held], settings[held], most) for each in both)
    return fit.coef_[0], limit + _ROUNDING - float(fit.intercept_[0])


def _of_failures(
    columns: Array, failing: Mask, weights: Array, penalty: float
) -> LogisticRegression:
    fit = LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=_TOLERANCE, max_iter=500)
    return fit.fit(columns, failing, sample_weight=weights)


def seldom_passed(scores: Array, settings: Labels, most: float) -> float:
    """The lowest of some scores that a share of at most ``most`` passes, averaged over settings."""
    names, places = np.unique(settings.astype(str), return_inverse=True)
    shares = 1.0 / np.bincount(places)[places] / len(names)
    order = np.argsort(-scores, kind="stable")
    beyond = np.cumsum(shares[order])  # with the score itself
    last = int(np.searchsorted(beyond, most, side="right"))
    return float(scores[order][min(last, len(scores) - 1)])
