"""Fitting: a model from logs of known causes; all choices are made on logs that were left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Final, get_args

import numpy as np
from pydantic import Field
from scipy.optimize import minimize, minimize_scalar
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedGroupKFold

from failbench.base.arrays import Array, Labels, Mask
from failbench.base.records import Record
from failbench.base.vocabulary import CATEGORIES
from failbench.diagnose import model as logits
from failbench.diagnose.model import OWN, SHARED, LogKind, Positions, Supports, Weights
from failbench.diagnose.series import CheckBound, checks, fitted_bounds
from failbench.diagnose.signs import Sign

_TOLERANCE: Final = 1e-7
_COOLEST, _HOTTEST = 0.2, 10.0


@dataclass(frozen=True)
class KnownLog:
    """A log, and what is known of its run."""

    signs: tuple[Sign, ...]
    cause: str | None
    scenario: str
    setting: str


class Choices(Record):
    """What is tried, and what decides."""

    penalties: tuple[Annotated[float, Field(gt=0)], ...] = Field(min_length=1)
    margins: tuple[Annotated[float, Field(gt=-1)], ...] = Field(min_length=1)
    most_alarmed: float = Field(gt=0, lt=1)
    inner_folds: int = Field(ge=2)
    seed: int = Field(ge=0)


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


def fitted(logs: Sequence[KnownLog], choices: Choices, fitted_on: str) -> logits.Model:
    """Fit a model."""
    amounts = amounts_of([log.signs for log in logs])
    healthy = np.array([log.cause is None for log in logs])
    settings = np.array([log.setting for log in logs], dtype=object)
    margin = chosen_margin(amounts, healthy, settings, choices)
    bounds = fitted_bounds(checks(), amounts, healthy, margin)
    failing = [log for log in logs if log.cause is not None]
    supports = [logits.supports_of(log.signs, bounds) for log in failing]
    examples = examples_of(failing, supports)
    scenarios = np.array([log.scenario for log in failing], dtype=object)
    penalty, temperature, cause_temperature, held_out = _chosen(examples, scenarios, choices)
    weights = fitted_weights(examples, penalty)
    quiet = ~alarmed(amounts, bounds)
    words = ("message", "event", "trap")
    silent = quiet & [not any(sign.kind in words for sign in log.signs) for log in logs]
    return logits.Model(
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
        healthy=float(healthy[silent].mean()) if silent.any() else 0.5,
    )


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
    broken = [amounts[name] > bound.limit for name, bound in bounds.items()]
    result: Mask = np.any(broken, axis=0)
    return result


def chosen_margin(
    amounts: Mapping[str, Array], healthy: Mask, settings: Labels, choices: Choices
) -> float:
    """The smallest margin that alarms seldom enough in a setting left out, else the largest one."""
    for margin in choices.margins:
        shares = []
        for setting in np.unique(settings.astype(str)):
            held_out = healthy & (settings == setting)
            bounds = fitted_bounds(checks(), amounts, healthy & ~held_out, margin)
            if held_out.any():
                shares.append(alarmed(amounts, bounds)[held_out].mean())
        if np.mean(shares) <= choices.most_alarmed:
            return margin
    return choices.margins[-1]


def examples_of(logs: Sequence[KnownLog], supports: Sequence[Supports]) -> Examples:
    """Logs of failing runs as arrays; all logs of a scenario together weigh one."""
    names = {name: place for place, name in enumerate(logits.cause_names())}
    cause = np.array([names[log.cause] for log in logs if log.cause is not None])
    _, places, counts = np.unique(
        [log.scenario for log in logs], return_inverse=True, return_counts=True
    )
    return Examples(
        np.array([each.categories for each in supports]),
        np.array([each.causes for each in supports]),
        np.array([each.own for each in supports]),
        logits.category_of_cause()[cause],
        cause,
        1.0 / counts[places],
    )


def calibrations_of(
    held_out: Array, supports: Sequence[Supports], truth: Positions, scenarios: Labels
) -> dict[LogKind, logits.Calibration]:
    """How often answers to held-out scenarios are right by kind (Zadrozny and Elkan, 2002)."""
    kinds = np.array([each.kind for each in supports])
    said = np.array([-1 if each.said is None else each.said for each in supports])
    best = np.where(said < 0, held_out.argmax(axis=1), said)
    probability = np.where(said < 0, held_out.max(axis=1), 1.0)
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
            probability=tuple(fit.X_thresholds_.tolist()),
            right=tuple(fit.y_thresholds_.tolist()),
            scenarios=len(names),
        )
    return found


def _chosen(
    examples: Examples, scenarios: Labels, choices: Choices
) -> tuple[float, float, float, Array]:
    """Penalty and temperatures under which held-out scenarios are likeliest, with categories'."""
    folds = StratifiedGroupKFold(choices.inner_folds, shuffle=True, random_state=choices.seed)
    parts = list(folds.split(scenarios, examples.category, scenarios))
    best: tuple[float, float, float, float, Array] | None = None
    rows = np.arange(len(scenarios))
    for penalty in choices.penalties:
        scores = np.empty((len(scenarios), examples.categories.shape[2]))
        of_causes = np.empty((len(scenarios), examples.causes.shape[2]))
        for learnt, left_out in parts:
            mask = np.zeros(len(scenarios), dtype=bool)
            mask[learnt] = True
            weights = fitted_weights(examples.of(mask), penalty)
            held = examples.of(~mask)
            scores[left_out] = logits.category_scores(weights, held.categories, held.own)
            of_causes[left_out] = logits.cause_scores(weights, held.causes)
        temperature = chosen_temperature(scores, examples.category, examples.weights)
        scaled = scores / temperature
        likelihood = scaled[rows, examples.category] - logits.logsumexp(scaled)[:, 0]
        loss = -float(examples.weights @ likelihood)
        if best is None or loss < best[0]:
            members = logits.category_of_cause()[None, :] == examples.category[:, None]
            within = np.where(members, of_causes, -np.inf)
            of_cause = chosen_temperature(within, examples.cause, examples.weights)
            best = loss, penalty, temperature, of_cause, logits.softmax(scaled)
    assert best is not None
    return best[1:]


def fitted_weights(examples: Examples, penalty: float) -> Weights:
    """Fit both logits by maximum likelihood with a quadratic penalty."""
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
        return value + penalty / 2 * float(packed @ packed), gradient + penalty * packed

    shared, own, base = unpacked(_minimum(loss, kinds + columns * categories + categories))
    return Weights(shared.copy(), own.copy(), base.copy(), _cause_weights(examples, penalty))


def _cause_weights(examples: Examples, penalty: float) -> Array:
    """Weights of the second logit: the true cause among those of the true category."""
    members = logits.category_of_cause()[None, :] == examples.category[:, None]
    truth = np.eye(len(logits.cause_names()))[examples.cause]

    def loss(weights: Array) -> tuple[float, Array]:
        scores = np.einsum("lkc,k->lc", examples.causes, weights)
        value, slope = _surprise(scores, truth, members, examples.weights)
        gradient = np.einsum("lkc,lc->k", examples.causes, slope)
        return value + penalty / 2 * float(weights @ weights), gradient + penalty * weights

    return _minimum(loss, len(SHARED))


def _surprise(scores: Array, truth: Array, members: Mask, weights: Array) -> tuple[float, Array]:
    """Negative log likelihood of the truth among members, and its slope over scores."""
    total = logits.logsumexp(np.where(members, scores, -np.inf))[:, 0]
    value = float(weights @ (total - (scores * truth).sum(axis=1)))
    shares = np.where(members, np.exp(np.minimum(scores - total[:, None], 0.0)), 0.0)
    return value, weights[:, None] * (shares - truth)


def _minimum(loss: object, parameters: int) -> Array:
    options = {"maxiter": 2000, "ftol": 1e-14, "gtol": _TOLERANCE}
    found = minimize(loss, np.zeros(parameters), jac=True, method="L-BFGS-B", options=options)
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
