"""Fitting: a model from logs of known causes; all choices are made on logs that were left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, get_args

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_matrix
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.preprocessing import normalize

from failbench.base.arrays import Array, Labels, Mask
from failbench.base.vocabulary import CATEGORIES
from failbench.diagnose import model as logits
from failbench.diagnose.alarm import alarm_of, broken_by_nature
from failbench.diagnose.known import Choices, KnownLog, Said, one_each
from failbench.diagnose.model import (
    ALARM,
    HEALTH,
    OWN,
    SHARED,
    LogKind,
    Positions,
    Supports,
    Weights,
)
from failbench.diagnose.series import CheckBound, checks, fitted_bounds
from failbench.diagnose.signs import Bounds, Sign, lacks_signal
from failbench.diagnose.words import BINS, NO_SUPPORT, WordSupport, WordWeights

NO_CAUSE: Final = -1  # position of what the catalogue has no entry for
_SMALLEST_AXIS: Final = 1e-8
_TOLERANCE: Final = 1e-7
_COOLEST, _HOTTEST = 0.2, 10.0
# probabilities at which a calibration is kept: where its own steps lie hangs on the last digits
_GRID: Final = np.linspace(0.0, 1.0, 41)


@dataclass(frozen=True)
class Examples:
    """Logs whose causes are known."""

    categories: Array
    causes: Array
    own: Array
    category: Positions
    cause: Positions
    weights: Array

    def of(self, taken: Mask) -> Examples:
        """Some of the logs."""
        return Examples(*(getattr(self, each.name)[taken] for each in fields(self)))


def fitted(
    logs: Sequence[KnownLog], choices: Choices, fitted_on: str, said: Sequence[Said] = ()
) -> tuple[logits.Model, WordWeights | None]:
    """Fit a model, and where texts are known the weights of words that it builds on."""
    amounts = amounts_of([log.signs for log in logs])
    healthy = np.array([log.category is None for log in logs])
    of_loop = healthy & [not log.teaches_words for log in logs]
    # one author's programs of a field are a setting as those of one architecture are
    settings = np.array(
        [log.group if log.teaches_words else log.setting for log in logs], dtype=object
    )
    bounds = Bounds(
        complete=chosen_bounds(amounts, of_loop, settings, choices),
        other=chosen_bounds(amounts, healthy, settings, choices),
    )
    failing = [log for log in logs if log.category is not None]
    words, of_words = words_held_out(failing, said, choices)
    pairs = zip(failing, of_words, strict=True)
    supports = [logits.supports_of(log.signs, bounds.of(log.signs), each) for log, each in pairs]
    examples = examples_of(failing, supports)
    groups = np.array([log.group for log in failing], dtype=object)
    penalty, temperature, cause_temperature, held_out = _chosen(examples, groups, choices)
    weights = fitted_weights(examples, penalty, choices.shared_penalty)
    lacking = np.array([lacks_signal(log.signs) for log in logs])
    loud = np.where(lacking, alarmed(amounts, bounds.other), alarmed(amounts, bounds.complete))
    telling = ("message", "event", "trap", "invariant")
    silent = ~loud & [not any(sign.kind in telling for sign in log.signs) for log in logs]
    scenarios = np.array([log.scenario for log in failing], dtype=object)
    quiet = [log for log, is_silent in zip(logs, silent, strict=True) if is_silent]
    base, *of_health = health_weights(quiet)
    alarm, limit = alarm_of(logs, settings, bounds, choices)
    model = logits.Model(
        format=logits.FORMAT,
        fitted_on=fitted_on,
        shared=dict(zip(SHARED, weights.shared.tolist(), strict=True)),
        own=dict(zip(OWN, map(logits.by_category, weights.own.tolist()), strict=True)),
        base=logits.by_category(weights.base.tolist()),
        causes=dict(zip(SHARED, weights.causes.tolist(), strict=True)),
        temperature=temperature,
        cause_temperature=cause_temperature,
        calibrations=calibrations_of(held_out, supports, examples.category, scenarios),
        bounds=bounds,
        health_base=base,
        health=dict(zip(HEALTH, of_health, strict=True)),
        alarm=dict(zip(ALARM, alarm.tolist(), strict=True)),
        alarm_limit=limit,
        by_nature=broken_by_nature(logs, choices.most_alarmed),
    )
    return model, words


def health_weights(quiet: Sequence[KnownLog]) -> list[float]:
    """A logit of health, of logs in which nothing is found: its base, and what each sign adds.

    No sign of health makes it less probable.
    """
    if not quiet:
        return [0.0] * (1 + len(HEALTH))
    shown = np.array([[1.0, *logits.shown_health(log.signs)] for log in quiet])
    healthy = np.array([log.category is None for log in quiet], dtype=np.float64)
    weights = one_each(quiet)

    def loss(found: Array) -> tuple[float, Array]:
        scores = shown @ found
        value = weights @ (np.logaddexp(0.0, scores) - healthy * scores)
        slope = shown.T @ (weights * (1.0 / (1.0 + np.exp(-scores)) - healthy))
        return float(value + found @ found / 2), slope + found

    bounds = [(None, None), *[(0.0, None)] * len(HEALTH)]
    return [*map(float, _minimum(loss, 1 + len(HEALTH), bounds))]


def words_held_out(
    failing: Sequence[KnownLog], said: Sequence[Said], choices: Choices
) -> tuple[WordWeights | None, list[WordSupport]]:
    """Weights of words, and what the words of each log speak for where its group is left out.

    What is stacked on a model must be its answers to what it has not seen (Wolpert, 1992).
    """
    teachers = np.flatnonzero([log.teaches_words and len(log.words.bins) > 0 for log in failing])
    if not len(teachers):
        return None, [NO_SUPPORT] * len(failing)
    known = [failing[at] for at in teachers]
    texts = Texts(known, said, choices)
    whole = texts.fitted(np.full(len(known), fill_value=True))
    supports = [whole.support(log.words) for log in failing]
    groups = np.array([log.group for log in known], dtype=object)
    for learnt, left_out in GroupKFold(choices.inner_folds).split(groups, groups=groups):
        part = texts.fitted(np.isin(np.arange(len(known)), learnt))
        for at in left_out:
            supports[teachers[at]] = part.support(known[at].words)
    return whole, supports


class Texts:
    """Texts as points: fewer than pieces, so that a fit takes their products alone."""

    def __init__(self, known: Sequence[KnownLog], said: Sequence[Said], choices: Choices) -> None:
        texts: Sequence[KnownLog | Said] = [*known, *said]
        counts = [each.words for each in texts]
        ends = np.cumsum([0, *(len(each.bins) for each in counts)])
        bins = np.concatenate([each.bins for each in counts])
        values = 1.0 + np.log(np.concatenate([each.counts for each in counts]))
        there = np.bincount(bins[: ends[len(known)]], minlength=BINS)
        # a message is one line, and says nothing of how rare a piece is in logs
        self._rarity: Array = np.log((1 + len(known)) / (1 + there)) + 1
        self._rows = normalize(
            csr_matrix((values * self._rarity[bins], bins, ends), (len(counts), BINS))
        )
        size, axes = np.linalg.eigh((self._rows @ self._rows.T).toarray())
        kept = size > _SMALLEST_AXIS
        self._axes = axes[:, kept] / np.sqrt(size[kept])
        self._points = axes[:, kept] * np.sqrt(size[kept])
        self._category = np.array([each.category or "" for each in texts])
        self._cause = np.array([each.cause or "" for each in texts])
        self._weights = np.append(one_each(known), np.full(len(said), choices.message_weight))
        self._c = choices.words_c

    def fitted(self, learnt: Mask) -> WordWeights:
        """Weights of pieces, from some of the logs and all messages."""
        taken = np.append(learnt, np.full(len(self._weights) - len(learnt), fill_value=True))
        return WordWeights(
            self._rarity,
            self._logit(self._category, CATEGORIES, taken),
            self._logit(self._cause, logits.cause_names(), taken),
        )

    def _logit(self, truth: Labels, names: Sequence[str], taken: Mask) -> Array:
        """A multinomial logit of the texts whose truth is known, as weights of pieces."""
        taken = taken & (truth != "")
        fit = LogisticRegression(C=self._c, solver="newton-cg", tol=_TOLERANCE, max_iter=500)
        fit.fit(self._points[taken], truth[taken], sample_weight=self._weights[taken])
        # what all texts have in common is in the intercepts, and is left to the model
        found = np.zeros((BINS, len(names)))
        places = [names.index(each) for each in fit.classes_]
        found[:, places] = self._rows.T @ (self._axes @ fit.coef_.T)
        return found


def amounts_of(logs: Sequence[Sequence[Sign]]) -> dict[str, Array]:
    """Amounts of each check, of shape (logs,); no number where a log does not show its signal."""
    amounts = {name: np.full(len(logs), np.nan) for name in checks()}
    for place, signs in enumerate(logs):
        for sign in signs:
            if sign.kind == "check":
                amounts[sign.id][place] = sign.amount
    return amounts


def alarmed(amounts: Mapping[str, Array], bounds: Mapping[str, CheckBound]) -> Mask:
    """Logs in which a check breaks, of shape (logs,)."""
    limits = {name: bounds[name].limit if name in bounds else np.inf for name in amounts}
    result: Mask = np.any([amounts[name] > limits[name] for name in amounts], axis=0)
    return result


def chosen_bounds(
    amounts: Mapping[str, Array], healthy: Mask, settings: Labels, choices: Choices
) -> dict[str, CheckBound]:
    """Bounds of healthy logs, by the smallest margin that alarms seldom enough elsewhere."""
    margin = chosen_margin(amounts, healthy, settings, choices)
    return fitted_bounds(checks(), amounts, healthy, margin)


def chosen_margin(
    amounts: Mapping[str, Array], healthy: Mask, settings: Labels, choices: Choices
) -> float:
    """The smallest margin that alarms seldom enough in a setting left out, else the largest one."""
    of_logs = {name: check for name, check in checks().items() if check.bound is None}
    for margin in choices.margins:
        shares = []
        for setting in np.unique(settings.astype(str)):
            held_out = healthy & (settings == setting)
            bounds = fitted_bounds(of_logs, amounts, healthy & ~held_out, margin)
            if held_out.any():
                shares.append(alarmed(amounts, bounds)[held_out].mean())
        if np.mean(shares) <= choices.most_alarmed:
            return margin
    return choices.margins[-1]


def examples_of(logs: Sequence[KnownLog], supports: Sequence[Supports]) -> Examples:
    """Logs of failing runs as arrays; all logs of a scenario together weigh one."""
    names = {name: place for place, name in enumerate(logits.cause_names())}
    places = {name: place for place, name in enumerate(CATEGORIES)}
    return Examples(
        np.array([each.categories for each in supports]),
        np.array([each.causes for each in supports]),
        np.array([each.own for each in supports]),
        np.array([places[log.category] for log in logs if log.category is not None]),
        np.array([names.get(log.cause or "", NO_CAUSE) for log in logs]),
        one_each(logs),
    )


def calibrations_of(
    held_out: Array, supports: Sequence[Supports], truth: Positions, scenarios: Labels
) -> dict[LogKind, logits.Calibration]:
    """How often answers to held-out scenarios are right by kind (Zadrozny and Elkan, 2002)."""
    kinds = np.array([each.kind for each in supports])
    best, probability = held_out.argmax(axis=1), held_out.max(axis=1)
    found: dict[LogKind, logits.Calibration] = {}
    for kind in get_args(LogKind):
        rows = kinds == kind if (kinds == kind).any() else np.full(len(kinds), fill_value=True)
        names, places, counts = np.unique(
            scenarios[rows].astype(str), return_inverse=True, return_counts=True
        )
        # a made-up scenario is wrong at the top and one right below: few make nothing certain
        ends = probability[rows].max(), probability[rows].min()
        fit = IsotonicRegression(out_of_bounds="clip").fit(
            np.append(probability[rows], ends),
            np.append(best[rows] == truth[rows], (False, True)),
            np.append(1.0 / counts[places], (1.0, 1.0)),
        )
        found[kind] = logits.Calibration(
            probability=tuple(_GRID.tolist()),
            right=tuple(fit.predict(_GRID).tolist()),
            scenarios=len(names),
        )
    return found


def _chosen(
    examples: Examples, groups: Labels, choices: Choices
) -> tuple[float, float, float, Array]:
    """Penalty and temperatures under which held-out groups are likeliest, with categories'."""
    folds = StratifiedGroupKFold(choices.inner_folds, shuffle=True, random_state=choices.seed)
    parts = list(folds.split(groups, examples.category, groups))
    best: tuple[float, float, float, float, Array] | None = None
    rows = np.arange(len(groups))
    for penalty in choices.penalties:
        scores = np.empty((len(groups), examples.categories.shape[2]))
        of_causes = np.empty((len(groups), examples.causes.shape[2]))
        for learnt, left_out in parts:
            mask = np.zeros(len(groups), dtype=bool)
            mask[learnt] = True
            weights = fitted_weights(examples.of(mask), penalty, choices.shared_penalty)
            held = examples.of(~mask)
            scores[left_out] = logits.category_scores(weights, held.categories, held.own)
            of_causes[left_out] = logits.cause_scores(weights, held.causes)
        temperature = chosen_temperature(scores, examples.category, examples.weights)
        scaled = scores / temperature
        likelihood = scaled[rows, examples.category] - logits.logsumexp(scaled)[:, 0]
        loss = -float(examples.weights @ likelihood)
        if best is None or loss < best[0]:
            named = examples.of(examples.cause != NO_CAUSE)
            members = _members(named)
            within = np.where(members, of_causes[examples.cause != NO_CAUSE], -np.inf)
            of_cause = chosen_temperature(within, named.cause, named.weights)
            best = loss, penalty, temperature, of_cause, logits.softmax(scaled)
    assert best is not None
    return best[1:]


def fitted_weights(examples: Examples, own_penalty: float, shared_penalty: float) -> Weights:
    """Fit both logits by maximum likelihood, with quadratic penalties."""
    kinds, categories, columns = len(SHARED), len(CATEGORIES), len(OWN)
    truth = np.eye(categories)[examples.category]
    all_of_them = np.ones_like(truth, dtype=bool)

    def unpacked(packed: Array) -> tuple[Array, Array, Array]:
        own = packed[kinds : kinds + columns * categories].reshape(columns, categories)
        return packed[:kinds], own, packed[-categories:]

    def loss(packed: Array) -> tuple[float, Array]:
        shared, own, base = unpacked(packed)
        scores = np.einsum("lkc,k->lc", examples.categories, shared) + examples.own @ own + base
        value, slope = _surprise(scores, truth, all_of_them, examples.weights)
        of_shared = np.einsum("lkc,lc->k", examples.categories, slope)
        of_own = (examples.own.T @ slope).ravel()
        gradient = np.concatenate([of_shared, of_own, slope.sum(axis=0)])
        return value + float(penalty @ packed**2) / 2, gradient + penalty * packed

    penalty = np.full(kinds + columns * categories + categories, own_penalty)
    penalty[:kinds] = shared_penalty
    shared, own, base = unpacked(_minimum(loss, kinds + columns * categories + categories))
    return Weights(shared.copy(), own.copy(), base.copy(), _cause_weights(examples, shared_penalty))


def _cause_weights(examples: Examples, penalty: float) -> Array:
    """Weights of the second logit: the true cause among those of its category."""
    examples = examples.of(examples.cause != NO_CAUSE)
    members = _members(examples)
    truth = np.eye(len(logits.cause_names()))[examples.cause]

    def loss(weights: Array) -> tuple[float, Array]:
        scores = np.einsum("lkc,k->lc", examples.causes, weights)
        value, slope = _surprise(scores, truth, members, examples.weights)
        gradient = np.einsum("lkc,lc->k", examples.causes, slope)
        return value + penalty / 2 * float(weights @ weights), gradient + penalty * weights

    return _minimum(loss, len(SHARED))


def _members(examples: Examples) -> Mask:
    """Causes of the category that the catalogue has the true cause in; an author's may differ."""
    of_cause = logits.category_of_cause()
    members: Mask = of_cause[None, :] == of_cause[examples.cause][:, None]
    return members


def _surprise(scores: Array, truth: Array, members: Mask, weights: Array) -> tuple[float, Array]:
    """Negative log likelihood of the truth among members, and its slope over scores."""
    total = logits.logsumexp(np.where(members, scores, -np.inf))[:, 0]
    value = float(weights @ (total - (scores * truth).sum(axis=1)))
    shares = np.where(members, np.exp(np.minimum(scores - total[:, None], 0.0)), 0.0)
    return value, weights[:, None] * (shares - truth)


def _minimum(loss: object, parameters: int, bounds: object = None) -> Array:
    options = {"maxiter": 2000, "ftol": 1e-14, "gtol": _TOLERANCE}
    start, method = np.zeros(parameters), "L-BFGS-B"
    found = minimize(loss, start, jac=True, method=method, bounds=bounds, options=options)
    return np.asarray(found.x, np.float64)


def chosen_temperature(scores: Array, truth: Positions, weights: Array) -> float:
    """The temperature that makes held-out truths likeliest (Guo et al., 2017, ICML)."""
    rows = np.arange(len(scores))

    def loss(logarithm: float) -> float:
        scaled = scores / np.exp(logarithm)
        return float(weights @ (logits.logsumexp(scaled)[:, 0] - scaled[rows, truth]))

    found = minimize_scalar(
        loss, bounds=(np.log(_COOLEST), np.log(_HOTTEST)), method="bounded", options={"xatol": 1e-5}
    )
    return float(np.exp(found.x))
