"""Rules: what other tools hold against thresholds, as data, and when they fire in a run.

``data/rules.csv`` has a row per condition; a rule is the rows of one name, all of which have to
hold. Rules of signals that are not recorded are kept, and stand-ins for signals say so.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import Field, model_validator

from failbench.base.arrays import Array, Mask
from failbench.base.records import Record
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import ABSTAIN
from failbench.neighbours.peers.verdicts import mapping, rows_of, standards

Steps = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Signal:
    """Values of a run in the order of its steps; what a step did not reach is left out."""

    steps: Steps
    values: Array


# by name what they are. An epoch stands for the steps from one validation to the next.
SIGNALS: Final[Mapping[str, str]] = {
    "loss": "training loss of a step",
    "gradient_norm": "norm of all gradients, before clipping",
    "gradient_rms": "the same over the root of the number of parameters",
    "learning_rate": "of a step",
    "step_seconds": "duration of a step",
    "padding_share": "share of places of a batch that hold no token",
    "validation_loss": "held-out loss, every few steps",
    "epoch_loss": "mean training loss since the validation before, at each validation",
    "epoch_gradient_norm": "norm of all gradients, at each validation",
    "epoch_gradient_rms": "the same over the root of the number of parameters",
    "validation_gap": "held-out less mean training loss, as a share of the latter",
    "validation_rise": "change of the held-out loss where the training loss did not rise",
}


def rule_signals(steps: pl.DataFrame, parameters: int | None) -> dict[str, Signal]:
    """The signals of one run."""
    root = math.sqrt(parameters) if parameters else math.nan
    places = pl.col("sequences") * pl.col("max_length")
    is_epoch = pl.col("validation_loss").is_not_null()
    epoch = is_epoch.shift(1, fill_value=False).cum_sum()
    table = steps.with_columns(
        padding_share=1 - pl.col("tokens") / pl.when(places > 0).then(places),
        epoch_loss=pl.col("loss").mean().over(epoch),
        gradient_rms=pl.col("gradient_norm").cast(pl.Float64) / root,
    )
    epochs = table.filter(is_epoch).with_columns(
        epoch_gradient_norm="gradient_norm",
        epoch_gradient_rms="gradient_rms",
        validation_gap=(pl.col("validation_loss") - pl.col("epoch_loss")) / pl.col("epoch_loss"),
        validation_rise=pl.when(pl.col("epoch_loss").diff() <= 0).then(
            pl.col("validation_loss").diff()
        ),
    )
    signals = {}
    for name in SIGNALS:
        rows = epochs if name.startswith(("epoch", "validation")) else table
        known = rows.select("step", pl.col(name).cast(pl.Float64)).drop_nulls()
        signals[name] = Signal(known["step"].to_numpy().astype(np.int64), known[name].to_numpy())
    return signals


# from values ``[n_values]``, a window (in values) and a margin to a number for each value: of the
# values so far, and NaN, which is beyond no threshold, where there are too few of them
Statistic = Callable[[Array, int, float], Array]


def _of_last(values: Array, window: int, of: Callable[[Array], Array]) -> Array:
    """A figure of the last values; NaN before there is a whole window."""
    if values.size < window:
        return np.full(values.size, np.nan)
    figures = of(np.lib.stride_tricks.sliding_window_view(values, window))
    return np.concatenate([np.full(window - 1, np.nan), figures])


def _mean_of_last(values: Array, window: int) -> Array:
    return _of_last(values, window, lambda last: last.mean(axis=1))


def _mean_so_far(values: Array) -> Array:
    mean: Array = np.cumsum(values) / np.arange(1, values.size + 1)
    return mean


def _shifted(values: Array) -> Array:
    """Each value's predecessor."""
    return np.append(np.nan, values[:-1])


def _jump(values: Array, window: int, _margin: float) -> Array:
    """Distance above the value before, as a share of the mean before that over at most a window."""
    means = np.array([values[max(at - window, 0) : at].mean() for at in range(1, values.size)])
    distance = np.abs(values[1:] - means) / np.abs(means)
    return np.append(np.nan, np.where(values[1:] > values[:-1], distance, np.nan))


def _share_above_first(values: Array, window: int, margin: float) -> Array:
    """Share of a second window above the first's largest, or above the margin if that is more."""
    if values.size < 2 * window:
        return np.full(values.size, np.nan)
    cap = min(float(values[:window].max()), margin)
    shares = _shifted(_mean_of_last((values > cap).astype(np.float64), window))
    shares[: 2 * window - 1] = np.nan
    return shares


def _looks_since_best(values: Array, _window: int, margin: float) -> Array:
    """Values since the last one that was lower than all before it by more than a margin."""
    since = np.zeros(values.size)
    best, count = np.inf, 0
    for at, each in enumerate(values):
        if each < best - margin:
            best, count = float(each), 0
        elif at:
            count += 1
        since[at] = count
    return since


def _increase_percent(values: Array, window: int, _margin: float) -> Array:
    """How far the value is above the one a window before, in percent of that."""
    changes = 100 * (values[window:] - values[:-window]) / values[:-window]
    return np.concatenate([np.full(min(window, values.size), np.nan), changes])


def _decrease_percent(values: Array, window: int, margin: float) -> Array:
    fall = -_increase_percent(values, window, margin)
    return np.where(fall >= 0, fall, np.nan)


def _step_ratio(values: Array, _window: int, _margin: float) -> Array:
    """The larger over the smaller of a value and the one before, if both are above zero."""
    before = _shifted(values)
    ratio = np.maximum(values / before, before / values)
    return np.where((values > 0) & (before > 0), ratio, np.nan)


def _outliers(values: Array, _window: int, margin: float) -> Array:
    """How many of the values so far are further from their mean than a number of deviations."""
    means = _mean_so_far(values)
    deviations = np.sqrt(np.fmax(_mean_so_far(values**2) - means**2, 0.0))
    outside = np.abs(values[None, :] - means[:, None]) > (margin * deviations)[:, None]
    so_far = np.tri(values.size, dtype=bool)
    counts: Array = (outside & so_far).sum(axis=1).astype(np.float64)
    return counts


STATISTICS: Final[dict[str, Statistic]] = {
    "value": lambda values, *_: values,
    "positive": lambda values, *_: np.where(values > 0, values, np.nan),
    "not_finite": lambda values, *_: (~np.isfinite(values)).astype(np.float64),
    "is_nan": lambda values, *_: np.isnan(values).astype(np.float64),
    "not_finite_so_far": lambda values, *_: np.maximum.accumulate(~np.isfinite(values)).astype(
        np.float64
    ),
    "largest_so_far": lambda values, *_: np.fmax.accumulate(values),
    "smallest_so_far": lambda values, *_: np.fmin.accumulate(values),
    # told of zeros alone
    "share_zero": lambda values, *_: np.where(values == 0, _mean_so_far(values == 0), np.nan),
    "range": lambda values, window, _: _of_last(values, window, lambda last: np.ptp(last, axis=1)),
    # beyond a margin, as a share of the smallest of the last values
    "relative_range": lambda values, window, margin: _of_last(
        values, window, lambda last: (np.ptp(last, axis=1) - margin) / np.abs(last).min(axis=1)
    ),
    # of the values before it, of which there must be a whole window
    "over_mean": lambda values, window, _: values / _shifted(_mean_of_last(values, window)),
    "over_all_before": lambda values, *_: values / _shifted(_mean_so_far(values)),
    "jump": _jump,
    "share_above_first": _share_above_first,
    "looks_since_best": _looks_since_best,
    "increase_percent": _increase_percent,
    "decrease_percent": _decrease_percent,
    "step_ratio": _step_ratio,
    "outliers": _outliers,
}


Relation = Literal["above", "at_least", "below", "at_most"]
BEYOND: Final[dict[Relation, Callable[..., Any]]] = {
    "above": np.greater,
    "at_least": np.greater_equal,
    "below": np.less,
    "at_most": np.less_equal,
}
Scope = Literal["exact", "mapped", "not_applicable"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

# columns of a table of alarms; its key is all but ``step``. A rule that never fires has no row.
ALARM_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "peer": pl.String(),
        "rule": pl.String(),
        "factor": pl.Float64(),  # of all thresholds of the peer; 1 as documented
        "step": pl.Int32(),  # at which it first fires
    }
)


class Condition(Record):
    """A threshold, and what is held against it."""

    signal: str
    statistic: str
    window: int = 0
    margin: float = 0.0
    relation: Relation
    threshold: float
    looks: int
    every: int

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for name, known in ((self.signal, SIGNALS), (self.statistic, STATISTICS)):
            if name not in known:
                raise ValueError(f"{name!r} is none of {', '.join(known)}.")
        return self

    def measured(self, signal: Signal) -> Signal:
        """The statistic of a run's signal at each look."""
        if signal.values.size == 0:
            return signal
        with np.errstate(all="ignore"):  # what is no number is beyond no threshold
            values = STATISTICS[self.statistic](signal.values, self.window, self.margin)
        looked = np.arange(self.every - 1, values.size, self.every)
        return Signal(signal.steps[looked], values[looked])

    def holds(self, measured: Signal, factor: float) -> Mask:
        """Whether the condition holds at each look: whether the last so many looks agree."""
        is_upper = self.relation in ("above", "at_least")
        threshold = self.threshold * factor if is_upper else self.threshold / factor
        beyond: Mask = BEYOND[self.relation](measured.values, threshold)
        if self.looks == 1 or beyond.size == 0:
            return beyond
        return np.convolve(beyond, np.ones(self.looks, np.int64))[: beyond.size] >= self.looks


class PeerRule(Record):
    """A documented rule."""

    peer: str
    name: str
    issue: str
    scope: Scope
    conditions: tuple[Condition, ...]
    missing: str = ""
    mapped: str = ""
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _says_what_it_is_held_against(self) -> Self:
        if self.peer not in standards():
            raise ValueError(f"{self.peer!r} is no peer.")
        if bool(self.missing) == self.applies or bool(self.mapped) != (self.scope == "mapped"):
            raise ValueError("says too little or too much of its signal.")
        return self

    @property
    def applies(self) -> bool:
        """Whether it is held against anything."""
        return self.scope != "not_applicable"

    def first_firings(
        self, signals: Mapping[str, Signal], factors: Sequence[float] = (1.0,)
    ) -> tuple[int | None, ...]:
        """The first step at which all conditions hold; nothing after it is read."""
        measured = [condition.measured(signals[condition.signal]) for condition in self.conditions]
        steps = np.unique(np.concatenate([each.steps for each in measured]))
        last = [np.searchsorted(each.steps, steps, side="right") for each in measured]
        firings = []
        for factor in factors:
            together = np.ones(steps.size, dtype=bool)
            for condition, of, looked in zip(self.conditions, measured, last, strict=True):
                # before its first look a condition does not hold
                together &= np.append(False, condition.holds(of, factor))[looked]
            firings.append(int(steps[together.argmax()]) if together.any() else None)
        return tuple(firings)


@cache
def peer_rules() -> tuple[PeerRule, ...]:
    """All rules, in the order of the file, which is that in which alarms of one step count."""
    rules: dict[tuple[str, str], PeerRule] = {}
    for row in rows_of("rules.csv"):
        rule = rule_of(row)
        known = rules.setdefault((rule.peer, rule.name), rule)
        if known is rule:
            continue
        if not rule.applies or (known.issue, known.scope) != (rule.issue, rule.scope):
            raise ValueError(f"{rule.peer}: rows of {rule.name!r} are of two rules.")
        both = known.conditions + rule.conditions
        rules[rule.peer, rule.name] = known.model_copy(update={"conditions": both})
    return tuple(rules.values())


def rule_of(row: Mapping[str, str]) -> PeerRule:
    """A row of the file as a rule of one condition, or of none."""
    condition = {name: row[name] for name in Condition.model_fields if name in row}
    rest = {name: value for name, value in row.items() if name not in (*condition, "rule")}
    conditions = [condition] if condition else []
    return PeerRule.model_validate({**rest, "name": row["rule"], "conditions": conditions})


def rules_of(peer: str) -> tuple[PeerRule, ...]:
    """The rules of a peer that apply; none if it has no rules, or none that applies."""
    return tuple(rule for rule in peer_rules() if rule.peer == peer and rule.applies)


def rule_peers() -> tuple[str, ...]:
    """Peers that have rules, in the order of the file."""
    return tuple(dict.fromkeys(rule.peer for rule in peer_rules()))


def alarm_table(telemetry: Telemetry, factors: Sequence[float]) -> pl.DataFrame:
    """Hold every rule that applies against every run."""
    parameters = dict(telemetry.runs.select("run_id", "parameters").iter_rows())
    rules = [rule for rule in peer_rules() if rule.applies]
    rows = []
    for (run,), steps in telemetry.steps.group_by("run_id", maintain_order=True):
        signals = rule_signals(steps.sort("step"), parameters[run])
        rows += [
            (run, rule.peer, rule.name, factor, step)
            for rule in rules
            for factor, step in zip(factors, rule.first_firings(signals, factors), strict=True)
            if step is not None
        ]
    table = pl.DataFrame(rows, schema=ALARM_SCHEMA, orient="row")
    return table.sort("run_id", "peer", "rule", "factor")


def watched(alarms: pl.DataFrame, runs: pl.Series, factors: Sequence[float]) -> pl.DataFrame:
    """What each peer with rules says of each run, if all of its alarms count, by the factor.

    The ``step`` is the first alarm's, the ``prediction`` "abstain" or the first category named.
    To check it takes the rule's conditions, and of every other rule one that fails.
    """
    rows = []
    for rule in (rule for rule in peer_rules() if rule.applies):
        conditions = len(rules_of(rule.peer)) - 1 + len(rule.conditions)
        category = mapping()[rule.peer, rule.issue].category
        rows.append((rule.peer, rule.name, category, conditions))
    columns = {"peer": pl.String, "rule": pl.String, "category": pl.String, "conditions": pl.Int64}
    rules = pl.DataFrame(rows, columns, orient="row").with_row_index("order")
    pointing = pl.col("conditions").filter(pl.col("category").is_not_null())
    first = (
        alarms.join(rules, on=["peer", "rule"])
        .sort("step", "order")
        .group_by("run_id", "peer", "factor", maintain_order=True)
        .agg(
            step=pl.col("step").first(),
            prediction=pl.col("category").drop_nulls().first(),
            conditions=pl.coalesce(pointing.first(), pl.col("conditions").first()),
        )
    )
    peers = rules.group_by("peer", maintain_order=True).agg(rules=pl.len())
    every = (
        pl.DataFrame({"run_id": runs})
        .join(peers, how="cross")
        .join(pl.DataFrame({"factor": list(factors)}, schema={"factor": pl.Float64}), how="cross")
    )
    said = every.join(first, on=["run_id", "peer", "factor"], how="left")
    return said.select(
        *("run_id", "peer", "factor"),
        detected=pl.col("step").is_not_null(),
        step="step",
        prediction=pl.col("prediction").fill_null(str(ABSTAIN)),
        conditions=pl.coalesce("conditions", "rules").cast(pl.Int32),
    ).sort("run_id", "peer", "factor")
