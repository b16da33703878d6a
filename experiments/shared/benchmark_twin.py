"""The run that is drawn over its twin: chosen by a rule, with the signal that departs first."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from pydantic import Field

from failbench import study as st
from failbench.features.feature import bounded
from failbench.study.run_curves import SIGNIFICANT_DIGITS, logarithmic, mark_steps, pairs

REMEDY = "Choose another in the section benchmark of params.yaml."

Signal = Literal["learning_rate", "gradient_norm", "unknown_share", "mean_length", "sequences"]
"""What may be drawn beside the loss: of steps, and equal in run and twin to the bit before onset.

Memory and seconds measure the machine, and so differ everywhere."""


class TwinRule(st.Record):
    """Which failing run of the main study's setting is drawn over its twin.

    Of the runs with this ``seed``, ``onset`` and ``outcome``, the one in the middle when they are
    sorted by the steps from onset to failure, then by name; of an even number, the earlier of two.
    """

    seed: int = Field(ge=0)
    onset: st.OnsetKind
    outcome: st.Outcome


class BenchmarkSettings(st.Record):
    """The section ``benchmark`` of params.yaml, with the confidence of ``statistics``."""

    twin: TwinRule
    signals: Annotated[tuple[Signal, ...], Field(min_length=1)]
    before: int = Field(ge=1)
    after: int = Field(ge=1)
    prompt_steps: int = Field(ge=1)
    confidence: float = Field(gt=0, lt=1)


def twin_of(
    telemetry: st.Telemetry,
    scenarios: Sequence[st.Scenario],
    in_reference: pl.Expr,
    settings: BenchmarkSettings,
) -> tuple[dict[str, Any], pl.DataFrame]:
    """The run that the rule chooses by recordings alone, with its curves and its twin's."""
    rule = settings.twin
    candidates = (
        pairs(telemetry)
        .filter(
            in_reference,
            pl.col("seed") == rule.seed,
            pl.col("outcome") == rule.outcome,
            pl.col("scenario").is_in([s.id for s in scenarios if s.fault.onset == rule.onset]),
            pl.col("twin").is_not_null(),
            pl.col("onset_step").is_not_null(),
        )
        .sort(pl.col("failure_step") - pl.col("onset_step"), "run_id")
    )
    if candidates.is_empty():
        which = f"with seed {rule.seed} and onset {rule.onset}"
        problem = f"no recorded run of the main study {which} ended {rule.outcome}."
        raise st.BadInputError(st.PARAMS, "benchmark.twin", problem, REMEDY)
    chosen = candidates.row((candidates.height - 1) // 2, named=True)
    onset, failure = chosen["onset_step"], chosen["failure_step"]
    ids = [chosen["run_id"], chosen["twin"]]
    roles = pl.DataFrame({"run_id": ids, "role": ["failing", "twin"]})
    curves = (
        telemetry.steps.join(roles, on="run_id")
        .with_columns(
            unknown_share=pl.col("unknown_tokens") / pl.col("tokens"), loss=bounded(pl.col("loss"))
        )
        .select("role", "step", "loss", *settings.signals)
    )
    signal, departs = first_departure(curves, onset, settings.signals, chosen["run_id"])
    drawn = pl.col("step").is_between(onset - settings.before, failure + settings.after)
    columns = pl.col("loss", signal).cast(pl.Float64).round_sig_figs(SIGNIFICANT_DIGITS)
    points = curves.filter(drawn).select("role", "step", columns).sort("role", "step")
    scenario = next(each for each in scenarios if each.id == chosen["scenario"])

    def at(role: str, step: int, column: str) -> float:
        return float(points.filter(role=role, step=step)[column].item())

    return {
        "run_id": chosen["run_id"],
        "scenario": scenario.id,
        "title": scenario.title,
        "category": scenario.category,
        "root_cause": scenario.root_cause,
        "onset_step": onset,
        "failure_step": failure,
        "steps_to_failure": failure - onset,
        "candidates": candidates.height,
        "signal": signal,
        "departs_at": departs,
        "loss_at_failure": at("failing", failure, "loss"),
        "twin_loss_at_failure": at("twin", failure, "loss"),
        "signal_at_departure": at("failing", departs, signal),
        "twin_signal_at_departure": at("twin", departs, signal),
    }, points


def first_departure(
    curves: pl.DataFrame, onset: int, signals: Sequence[Signal], run_id: str
) -> tuple[Signal, int]:
    """The signal that first differs from the twin's, the earlier named at the same step."""
    of_run, of_twin = (
        curves.filter(pl.col("step") >= onset, role=role).drop("role")
        for role in ("failing", "twin")
    )
    both = of_run.join(of_twin, on="step", suffix="_twin").sort("step")
    departures = {}
    for signal in signals:
        apart = both.filter(pl.col(signal).ne_missing(pl.col(f"{signal}_twin")))["step"]
        if len(apart):
            departures[signal] = int(apart[0])
    if not departures:
        problem = f"none of them departs in {run_id!r} from what its twin has."
        raise st.BadInputError(st.PARAMS, "benchmark.signals", problem, REMEDY)
    first = min(departures, key=departures.__getitem__)
    return first, departures[first]


SIGNAL_LABELS: dict[Signal, str] = {
    "learning_rate": "Learning rate",
    "gradient_norm": "Gradient norm before clipping",
    "unknown_share": "Unknown tokens (share)",
    "mean_length": "Mean sequence length (tokens)",
    "sequences": "Batch size (sequences)",
}
ROOM = 0.16
"""Share of an axis above the curves, in which the two steps are named."""

SHADE = 0.35
LOGARITHMIC = 50
"""An axis whose largest value is so many times the smallest is logarithmic."""


def draw_twin(twin: Mapping[str, Any], points: pl.DataFrame, figure: Figure) -> None:
    """Loss and the telling signal of a failing run over those of its twin."""
    titles = {"loss": "Training loss (nats a token)", twin["signal"]: SIGNAL_LABELS[twin["signal"]]}
    grid = figure.subplots(1, 2, sharex=True)
    for axes, (column, title) in zip(grid, titles.items(), strict=True):
        draw_signal(axes, twin, points, column)
        axes.set(title=title, xlabel="step")
    labels = {st.LINE: "failing run", st.TWIN: "twin, fault never switched on"}
    handles = [
        Line2D([], [], color=colour, linewidth=st.THICK, label=label)
        for colour, label in labels.items()
    ]
    after = Patch(facecolor=st.PALE, alpha=SHADE, label="after failure: read by no method")
    st.legend_outside(figure, [*handles, after], above=False, columns=3)


def draw_signal(axes: Axes, twin: Mapping[str, Any], points: pl.DataFrame, column: str) -> None:
    for role, colour in (("failing", st.LINE), ("twin", st.TWIN)):
        curve = points.filter(role=role)
        axes.plot(curve["step"], curve[column], color=colour, linewidth=st.THICK)
    onset, failure = twin["onset_step"], twin["failure_step"]
    steps, values = points["step"].to_numpy(), points[column].drop_nulls().to_numpy()
    last = float(steps.max())
    axes.set_xlim(float(steps.min()), last)
    is_logarithmic = values.min() > 0 and values.max() > LOGARITHMIC * values.min()
    if is_logarithmic:
        logarithmic(axes)
    low, high = axes.get_ylim()
    top = high * (high / low) ** ROOM if is_logarithmic else high + ROOM * (high - low)
    axes.set_ylim(low, top)
    mark_steps(axes, onset, failure)
    axes.axvspan(failure, last, color=st.PALE, alpha=SHADE, linewidth=0, zorder=-1)
    for step, text, side, shift in (
        (onset, f"fault on: {onset}", "right", -3),
        (failure, f"failed: {failure}", "left", 3),
    ):
        place: dict[str, Any] = {"xytext": (shift, -1), "textcoords": "offset points"}
        look: dict[str, Any] = {"fontsize": st.LEAST_TEXT, "color": st.MARK, "ha": side}
        at = ("data", "axes fraction")
        axes.annotate(text, (step, 1.0), xycoords=at, va="top", **place, **look)
