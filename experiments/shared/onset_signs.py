"""Signs: the first deviation of a run that persists, and how long before the failure it began.

Each step of a run is held against successful runs of the same setting: a Shewhart chart (Shewhart,
1931, "Economic control of quality of manufactured product") of four signals that every training can
log, each against its mean among the successful runs at the same step. Its distance from that is in
their standard deviations, to either side. The definitions were fixed before any result was seen:

* A step is outside the healthy band in a signal where its distance exceeds a limit.
* A deviation persists if a signal is outside for ``persistence`` steps on end, or from some step
  up to the last before the failure. In the first band, *sds*, limits are the ``healthy_sds``
  standard deviations of the paper's equation 2. In the second, *reach*, they are what successful
  runs did: the largest distance that any kept up for ``persistence`` steps, and for the shorter
  deviations that end in the failure the largest that any had at a single step. The first was made
  the main one because fewer healthy twins leave it, before a failing run was looked at. The third,
  *untimed*, is the first without the times of steps, which the load of a machine moves, too.
* The sign of a run is the first step of its first persisting deviation, over all signals. The step
  of the failure itself is no sign of it: signs lie before.
* The *lead* is the number of steps from the sign to the failure. A failure is ``sudden`` if it is
  at most k, ``gradual`` if it is more, and has ``none`` if there is no sign before the end.
* By the second reading, *rise*, a failure is sudden where the deviation itself is abrupt: where the
  distance of the signal reaches half of its later maximum within k steps of the sign.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view
from pydantic import Field

from failbench import study as st
from failbench.features.feature_table import to_frame
from failbench.methods.healthy import healthy_band
from failbench.methods.rules import ErrorMatches
from failbench.methods.simple_rules import SIMPLE_RULES

KINDS = ("gradual", "sudden", "none")
BANDS = ("sds", "reach", "untimed")
READINGS = ("lead", "rise")
HEAD_STEPS = 20
"""The first steps of a run, whose median its step times are measured in."""
FEWEST_RUNS = 10
"""Successful runs that a mean and a standard deviation are taken of, at least."""
SIGNALS = {
    "loss": pl.col("loss").cast(pl.Float64),
    "gradient_norm": pl.col("gradient_norm").cast(pl.Float64).log10(),
    "memory": pl.col("memory_bytes") / pl.col("capacity_bytes"),
    "step_seconds": (pl.col("step_seconds") / pl.col("head_seconds")).cast(pl.Float64).log10(),
}
"""Training loss in nats, decimal logarithm of the gradient norm before clipping, memory as a share
of the capacity, and decimal logarithm of the time of a step: norms and times are spread over orders
of magnitude.

Times are relative to the run's own first steps, as in the detector: absolute ones tell when a run
was recorded, and by them nearly all healthy twins of one setting would stray from its successful
runs. That was seen on healthy runs, before a failing one was looked at."""
SIGNS = pl.Schema({"run_id": pl.String, "sign_step": pl.Int64, "lead": pl.Int64, "rise": pl.Int64})
TEXT_RULES = tuple(
    (rule.category, rule.conditions[0])
    for rule in SIMPLE_RULES
    if isinstance(rule.conditions[0], ErrorMatches)
)
"""The patterns of error text among the simple rules, in their order: what a search for words in a
message comes to. They were written from documentation before a failure was recorded."""


class OnsetSettings(st.ScenarioIntervalSettings):
    """How kinds of onset are told and tested; the section ``onset`` of params.yaml.

    Nothing here was chosen by results: the band rests on successful runs alone, and every number of
    steps that counts as near is reported.
    """

    persistence: int = Field(ge=2)
    near_steps: int = Field(ge=1)
    other_near_steps: tuple[int, ...]
    healthy_sds: float = Field(gt=0)
    growth: float = Field(gt=1)
    growth_history: int = Field(ge=1)
    permutations: int = Field(ge=1)
    equivalence_margin: float = Field(gt=0, lt=1)


class Limits(NamedTuple):
    """Distances of one signal beyond which it is outside: kept up, and at single steps."""

    lasting: float
    single: float


def observed_runs(
    telemetry: st.Telemetry,
    scenarios: Sequence[st.Scenario],
    features: pl.DataFrame,
    settings: OnsetSettings,
    simple: st.SimpleRulesSettings,
) -> pl.DataFrame:
    """What is seen of each failing run and each twin of one setting, a row each."""
    defined = pl.DataFrame(
        [(each.id, each.category, each.fault.onset == "mid_run") for each in scenarios],
        schema={"scenario": pl.String, "category": pl.String, "switched_on": pl.Boolean},
        orient="row",
    )
    runs = telemetry.runs.filter(pl.col("kind").is_in(["failure", "twin"]))
    runs = runs.join(defined, on="scenario", how="inner").sort("run_id")
    distances = step_distances(telemetry)
    keys = ("run_id", "category", "scenario", "seed", "kind", "switched_on")
    since_onset = (pl.col("failure_step") - pl.col("onset_step")).cast(pl.Int64)
    table = runs.select(*keys, since_onset=since_onset)
    successes = telemetry.runs.filter(kind="success").select("run_id")
    healthy = distances.join(successes, on="run_id", how="semi")
    for band in BANDS:
        limits = dict.fromkeys(SIGNALS, Limits(settings.healthy_sds, settings.healthy_sds))
        if band == "reach":
            limits = healthy_reach(healthy, settings.persistence)
        if band == "untimed":
            del limits["step_seconds"]
        signs = first_signs(distances, runs, limits, settings.persistence)
        named = signs.select("run_id", pl.exclude("run_id").name.prefix(f"{band}_"))
        table = table.join(named, on="run_id", how="left", maintain_order="left")
    of_setting = features.join(telemetry.runs.select("run_id"), on="run_id", how="semi")
    norms = exceeded(of_setting, simple), grown(telemetry.steps, runs, settings)
    for seen in (*norms, texts(of_setting)):
        table = table.join(seen, on="run_id", how="left")
    return table.with_columns(pl.col("norm_grew").fill_null(value=False)).sort("run_id")


def step_distances(telemetry: st.Telemetry) -> pl.DataFrame:
    """Distances of all steps of all runs of one setting from its successful runs."""
    successes = telemetry.runs.filter(kind="success")
    if successes.height < FEWEST_RUNS:
        found = f"a setting has {successes.height} successful runs"
        problem = f"{found}; a healthy course takes {FEWEST_RUNS}."
        remedy = (
            "Raise its successes in record.settings of params.yaml, and run `failbench record`."
        )
        raise st.BadInputError("data/telemetry/runs.parquet", "kind", problem, remedy)
    head = pl.col("step_seconds").filter(pl.col("step") < HEAD_STEPS).median().over("run_id")
    values = (
        telemetry.steps.with_columns(head_seconds=head)
        .join(telemetry.runs.select("run_id", "capacity_bytes"), on="run_id")
        .select("run_id", "step", **SIGNALS)
    )
    healthy = values.join(successes.select("run_id"), on="run_id", how="semi")
    finite = {name: pl.col(name).filter(pl.col(name).is_finite()) for name in SIGNALS}
    course = (
        healthy.group_by("step")
        .agg(
            pl.len().alias("runs"),
            *(column.mean().alias(f"mean_{name}") for name, column in finite.items()),
            *(column.std().alias(f"sd_{name}") for name, column in finite.items()),
        )
        .filter(pl.col("runs") * 2 >= healthy["run_id"].n_unique())
    )
    # later steps are held against the last that half of the successful runs reached
    at = pl.col("step").clip(upper_bound=pl.lit(course["step"].max()))
    return (
        values.with_columns(at=at)
        .join(course, left_on="at", right_on="step", how="left")
        .select("run_id", "step", **{signal: distance(signal) for signal in SIGNALS})
        .sort("run_id", "step")
    )


def distance(signal: str) -> pl.Expr:
    """What is not finite is infinitely far, and what is missing or never varies says nothing."""
    value, spread = pl.col(signal), pl.col(f"sd_{signal}")
    return (
        pl.when(value.is_null() | spread.is_null() | (spread == 0.0))
        .then(0.0)
        .when(~value.is_finite())
        .then(float("inf"))
        .otherwise((value - pl.col(f"mean_{signal}")).abs() / spread)
    )


def healthy_reach(distances: pl.DataFrame, persistence: int) -> dict[str, Limits]:
    """How far successful runs stray at most, by signal."""
    reach = {}
    for signal in SIGNALS:
        runs = [run[signal].to_numpy() for run in distances.partition_by("run_id")]
        kept = [
            sliding_window_view(run, persistence).min(-1).max()
            for run in runs
            if len(run) >= persistence
        ]
        reach[signal] = Limits(float(max(kept, default=0.0)), max(float(run.max()) for run in runs))
    return reach


def first_signs(
    distances: pl.DataFrame, ends: pl.DataFrame, limits: Mapping[str, Limits], persistence: int
) -> pl.DataFrame:
    """The sign of each run, its lead and its rise; ``ends`` has ``run_id`` and ``failure_step``."""
    ends = ends.select("run_id", "failure_step").sort("run_id")
    seen = distances.join(ends, on="run_id").filter(pl.col("step") < pl.col("failure_step"))
    runs = {str(key[0]): run for key, run in seen.group_by("run_id", maintain_order=True)}
    rows = []
    for run_id, failure_step in ends.iter_rows():
        sign = first_sign(runs[run_id], limits, persistence) if run_id in runs else None
        at, rise = sign or (None, None)
        rows.append((run_id, at, None if at is None else failure_step - at, rise))
    return pl.DataFrame(rows, schema=SIGNS, orient="row")


def first_sign(
    run: pl.DataFrame, limits: Mapping[str, Limits], persistence: int
) -> tuple[int, int] | None:
    """The first persisting deviation: its first step, and the steps to half of its height.

    Of those that begin at the same step it is the first signal's. The first infinite distance is
    all of a height.
    """
    steps = run["step"].to_numpy()
    signs = []
    for signal, limit in limits.items():
        away = run[signal].to_numpy()
        at = persisting(away, limit, persistence)
        if at is not None:
            signs.append((int(steps[at]), int((away[at:] >= away[at:].max() / 2).argmax())))
    return min(signs, key=lambda sign: sign[0], default=None)


def persisting(distance: st.Array, limit: Limits, persistence: int) -> int | None:
    """Position of the first deviation that persists, or None.

    >>> persisting(np.array([0.0, 4.0, 0.0, 4.0, 4.0, 4.0, 0.0]), Limits(3.0, 9.0), 3)
    3
    >>> persisting(np.array([0.0, 0.0, 4.0, 4.0]), Limits(3.0, 9.0), 3)
    >>> persisting(np.array([0.0, 0.0, 4.0, 10.0]), Limits(3.0, 9.0), 3)
    3
    """
    if len(distance) >= persistence:
        whole = sliding_window_view(distance > limit.lasting, persistence).all(-1)
        if whole.any():
            return int(whole.argmax())
    inside = np.flatnonzero(~(distance > limit.single))
    after = int(inside[-1]) + 1 if len(inside) else 0
    return after if after < len(distance) else None


def with_kind(
    observed: pl.DataFrame, band: str, near_steps: int, reading: str = "lead"
) -> pl.DataFrame:
    """Failing runs with their kind of ``onset`` when so many steps count as near, in one band."""
    kind = (
        pl.when(pl.col(reading) <= near_steps).then(pl.lit("sudden")).otherwise(pl.lit("gradual"))
    )
    kind = pl.when(pl.col(reading).is_null()).then(pl.lit("none")).otherwise(kind)
    of_band = {f"{band}_{name}": name for name in SIGNS if name != "run_id"}
    return observed.filter(kind="failure").rename(of_band).with_columns(onset=kind)


def exceeded(features: pl.DataFrame, simple: st.SimpleRulesSettings) -> pl.DataFrame:
    """Whether the largest gradient norm exceeds the paper's threshold and the healthy one."""
    feature = "max_gradient_norm"
    successes = to_frame(features.filter(kind="success"))
    healthy = healthy_band(successes, (feature,)).upper(feature, simple.healthy_sds)
    norm = pl.col(feature).fill_null(0.0).fill_nan(0.0)
    return features.select(
        "run_id", norm_above_paper=norm > simple.gradient_norm, norm_above_healthy=norm > healthy
    )


def grown(steps: pl.DataFrame, ends: pl.DataFrame, settings: OnsetSettings) -> pl.DataFrame:
    """Whether a gradient norm was so many times the median of the steps right before it."""
    seen = (
        steps.join(ends.select("run_id", "failure_step"), on="run_id")
        .filter(pl.col("step") <= pl.col("failure_step"))
        .with_columns(pl.col("gradient_norm").cast(pl.Float64))
        .filter(pl.col("gradient_norm").is_finite())
    )
    rows, history = [], settings.growth_history
    for (run_id,), run in seen.group_by("run_id", maintain_order=True):
        norms = run["gradient_norm"].to_numpy()
        grew = False
        if len(norms) > history:
            before = np.median(sliding_window_view(norms[:-1], history), axis=-1)
            grew = bool((norms[history:] >= settings.growth * before).any())
        rows.append((run_id, grew))
    return pl.DataFrame(rows, {"run_id": pl.String, "norm_grew": pl.Boolean}, orient="row")


def texts(features: pl.DataFrame) -> pl.DataFrame:
    """What the error text of failing runs says by itself."""
    failing = features.filter(kind="failure")
    frame = to_frame(failing)
    named: list[str | None] = [None] * len(frame)
    for category, condition in reversed(TEXT_RULES):
        holds = condition.holds(frame).tolist()
        named = [category if held else name for name, held in zip(named, holds, strict=True)]
    text = pl.format("{}: {}", "error_type", pl.col("error_message").fill_null(""))
    has_text = pl.col("error_type").is_not_null()
    categories = pl.col("category").n_unique().over(text.str.replace_all(r"\d+", "#"))
    return failing.select(
        "run_id",
        has_text=has_text,
        named=pl.Series(named, dtype=pl.String),
        shared_text=has_text & (categories > 1),
    )
