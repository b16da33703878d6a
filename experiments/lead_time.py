"""Stage lead_time: how early the cause of a failure can be diagnosed, and at what cost.

Early accuracy is of runs that are cut some steps before their failure. Early diagnosis is of runs
that are looked at every few steps: one counts as diagnosed at the first look at which an alarm has
been raised, the diagnosis is right, and so is that of every later look before the failure. A run
that fails before that happens is not censored, for it can no longer be diagnosed early: failure is
a competing event. As every run is watched until its failure, the estimator of the cumulative
incidence of Aalen and Johansen (1978, "An empirical transition matrix for non-homogeneous Markov
chains") is the plain share of all runs.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench import study as st
from shared import lead_time as design
from shared.lead_time import LeadTimeSettings

PREDICTIONS = Path("data/predictions/lead_time")
MEASUREMENTS = Path("data/measurements/lead_time")

RULES = "improved_rules"
"""The paper's framework, whose accuracies before the failure it reports."""
FLOORED, LAST = (10, 50), 100
"""Steps of which the paper says what accuracy is above, and those of which it gives a number."""
ALARM, POSSIBLE = "alarm", "possible"
"""Rows that stand beside the methods: any alarm, and runs whose onset lies that far back."""

ONSET, FAILURE = pl.col("onset_step"), pl.col("failure_step")
FIGURES = {
    "ahead": "probability that a new run is diagnosed right for good at least {} steps before its "
    "failure, after an alarm",
    "within": "probability that a new run is diagnosed right for good within {} steps of its onset "
    "and before its failure, after an alarm",
}


GAIN = (
    "how much more probable a right diagnosis is of a failing run than of its healthy twin cut at "
    "the same step"
)
NAMED = "probability that the method names a cause of a healthy run cut at the same step"
FALSE = "probability that a new healthy run raises an alarm at any step"


def estimates(
    predictions: pl.DataFrame,
    runs: pl.DataFrame,
    scores: pl.DataFrame,
    healthy_scores: pl.DataFrame,
    main_study: pl.DataFrame,
    settings: LeadTimeSettings,
    intervals: st.ScenarioIntervalSettings,
    workers: int = 1,
) -> tuple[pl.DataFrame, dict[str, float]]:
    """How methods, the alarm alone and the possible do before the failure; the alarm's limit."""
    predicted = set(predictions["method"])
    methods = [method for method in (*design.METHODS, *design.ON_KNOWN) if method in predicted]
    early = [
        (predictions.filter(method=method, steps_ahead=steps), runs, intervals, method, steps)
        for method, steps in product(methods, settings.steps)
    ]
    limits, calibrating, others = calibrated(healthy_scores, settings)
    raised = pl.when(pl.col("alarm") >= ONSET).then("alarm")
    divided = (runs.join(first_alarms(scores, limit), on="run_id", how="left") for limit in limits)
    numbered = (each.with_columns(repeat=pl.lit(place)) for place, each in enumerate(divided))
    alarmed = pl.concat(numbered).with_columns(at=raised)
    looks = predictions.filter(subset=design.LOOK)
    events = {method: diagnosed(alarmed, looks.filter(method=method)) for method in methods}
    possible = pl.when(FAILURE > ONSET).then("onset_step")
    events |= {ALARM: alarmed, POSSIBLE: runs.with_columns(repeat=pl.lit(0), at=possible)}
    steps = tuple(step for step in settings.steps if step > 0)
    late = [(part, steps, intervals, name) for name, part in events.items()]
    rates = pl.concat(
        [
            *st.parallel_map(early_rates, early, workers),
            *st.parallel_map(late_rates, late, workers),
            false_alarms(others, intervals),
            *main_study_rates(main_study, predictions, intervals),
        ]
    )
    # how late it is possible to be right says nothing: at onset, or never
    trivial = (pl.col("method") == POSSIBLE) & (pl.col("metric") == "diagnosed_within")
    limit = {"value": float(np.median(limits)), "lowest": min(limits), "highest": max(limits)}
    return rates.filter(~trivial), {**limit, "n": float(calibrating)}


def accuracy(
    name: str, predictions: pl.DataFrame, intervals: st.ScenarioIntervalSettings, **keys: Any
) -> pl.DataFrame:
    renamed = replace(st.METRICS["accuracy"], name=name)
    return st.of_scenarios(predictions, (renamed,), intervals, **keys)


def early_rates(
    predictions: pl.DataFrame,
    runs: pl.DataFrame,
    intervals: st.ScenarioIntervalSettings,
    method: str,
    steps: int,
) -> pl.DataFrame:
    """How often a method is right at one number of steps before failure, and what that is worth."""
    failing, twins, healthy = (
        predictions.filter(subset=subset)
        for subset in (design.FAILING, design.TWIN, design.HEALTHY)
    )
    columns = ("category", "scenario", "run_id", "repeat", "prediction")
    cut = runs.with_columns(prediction=pl.lit(st.ABSTAIN), last_step=FAILURE - steps)
    # what had not begun has nothing to show yet
    repeats = failing.select("repeat").unique()
    undiagnosed = cut.filter(pl.col("last_step") < 0).join(repeats, how="cross")
    everyone = pl.concat([failing.select(columns), undiagnosed.select(columns)])
    # the runs of a scenario are its seeds: there is a single architecture
    everyone = everyone.with_columns(seed="run_id")
    past_onset = cut.filter(pl.col("last_step") >= pl.max_horizontal(0, "onset_step"))
    # a run and its twin differ by the fault alone
    beside = pl.concat([failing, twins]).with_columns(study="subset", run_id="scenario")
    gain = st.study_difference(beside, design.FAILING, design.TWIN, intervals, GAIN)
    # a fallback has no evidence
    names = st.over_scenarios(healthy, pl.col("evidence") & (pl.col("prediction") != st.ABSTAIN))
    named = st.proportion("named_on_healthy", names, NAMED)
    keys: dict[str, Any] = {"method": method, "steps": steps}
    switched_on = everyone.join(past_onset, on="run_id", how="semi")
    return pl.concat(
        [
            accuracy("accuracy", everyone, intervals, **keys),
            accuracy("accuracy_past_onset", switched_on, intervals, **keys),
            accuracy("twin_accuracy", twins, intervals, **keys),
            st.estimate_rows({"gain_over_twin": gain}, **keys),
            st.of_scenarios(healthy, (), intervals, (named,), **keys),
        ]
    )


def main_study_rates(
    main_study: pl.DataFrame, predictions: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> Iterable[pl.DataFrame]:
    """Accuracy in the main study, over all repeats and over as many as here."""
    whole = main_study.filter(feature_set=st.PRIMARY_SET)
    equal = st.same_repeats(whole, predictions.with_columns(feature_set=pl.lit(st.PRIMARY_SET)))
    for method in equal["method"].unique().sort():
        for name, part in (("", whole), ("_equal_repeats", equal)):
            rows = part.filter(method=method)
            yield accuracy(f"main_study_accuracy{name}", rows, intervals, method=method, steps=0)


def calibrated(
    healthy_scores: pl.DataFrame, settings: LeadTimeSettings
) -> tuple[list[float], int, pl.DataFrame]:
    """Limits of the alarm, the runs that one rests on, and the healthy runs that it is tried on.

    So low a rate of false alarms rests on the few healthy runs that stray the furthest, and a
    single division of them into those that give the limit and those that it is tried on would leave
    the result to the luck of the draw. There are several divisions of the scenarios of each
    category, and figures are means over them, as they are over the repeats of folds.
    """
    rng = np.random.default_rng(settings.seed)
    limits, others = [], []
    for _ in range(settings.divisions):
        chosen: list[str] = []
        for group in healthy_scores.partition_by("category", maintain_order=True):
            names = group["scenario"].unique(maintain_order=True).to_list()
            order = rng.permutation(len(names))[: round(settings.calibration_share * len(names))]
            chosen += [names[position] for position in order]
        inside = pl.col("scenario").is_in(chosen)
        calibrating = healthy_scores.filter(inside)
        limits.append(st.alarm_limit(calibrating["score"].to_numpy(), settings.false_alarms))
        tried = healthy_scores.filter(~inside)
        others.append(tried.with_columns(false=pl.col("score") > limits[-1]))
    return limits, calibrating.height, pl.concat(others)


def false_alarms(others: pl.DataFrame, intervals: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """How often the alarm is false: the value of a run is its mean over divisions that try it."""
    # the runs of a scenario are its seeds
    rows = others.with_columns(seed="run_id", repeat=pl.lit(0), prediction=pl.lit(st.ABSTAIN))
    rate = st.proportion("false_alarms", st.over_scenarios(rows, pl.col("false")), FALSE)
    return st.of_scenarios(rows, (), intervals, (rate,), method=ALARM, steps=0)


def first_alarms(scores: pl.DataFrame, limit: float) -> pl.DataFrame:
    """The step at which each run first exceeds the limit: ``run_id``, ``alarm`` (null: never)."""
    above = pl.col("step").filter(pl.col("score") > limit)
    return scores.group_by("run_id").agg(above.min().alias("alarm")).sort("run_id")


def diagnosed(alarmed: pl.DataFrame, looks: pl.DataFrame) -> pl.DataFrame:
    """When each run was diagnosed right for good; divisions of the runs count as repeats."""
    each = alarmed.rename({"repeat": "division", "at": "raised"})
    last_wrong = pl.col("step").filter(~st.right()).max().fill_null(-1)
    unit = ["run_id", "repeat", "division"]
    settled = (
        looks.join(each.select("run_id", "division", "raised"), on="run_id")
        .filter(pl.col("step") > last_wrong.over(unit), pl.col("step") >= pl.col("raised"))
        .group_by(unit)
        .agg(at=pl.col("step").min())
    )
    everyone = each.join(looks.select("repeat").unique(), how="cross")
    number = pl.col("repeat") * each["division"].n_unique() + pl.col("division")
    return everyone.join(settled, on=unit, how="left").with_columns(repeat=number)


def late_rates(
    events: pl.DataFrame,
    steps: tuple[int, ...],
    intervals: st.ScenarioIntervalSettings,
    method: str,
) -> pl.DataFrame:
    """Shares of runs by steps ahead, the same as ``1 - `` the incidence from the failure's side."""
    # the runs of a scenario are its seeds: there is a single architecture
    rows = events.with_columns(prediction=pl.lit(st.ABSTAIN), seed="run_id")
    figures = []
    for side, count in product(FIGURES, steps):
        at = pl.col("at")
        happened = FAILURE - at >= count if side == "ahead" else at - ONSET <= count
        values, what = st.over_scenarios(rows, happened.fill_null(value=False)), FIGURES[side]
        figures.append(st.proportion(f"{count}/diagnosed_{side}", values, what.format(count)))
    found = st.of_scenarios(rows, (), intervals, tuple(figures), method=method)
    return st.by_path(found, "steps").with_columns(pl.col("steps").cast(pl.Int64))


def numbers(
    found: st.Estimates, main_study: pl.DataFrame, predictions: pl.DataFrame, paper: st.Reported
) -> dict[str, object]:
    methods = found.distinct("method")
    return {
        "repeats": main_study["repeat"].n_unique(),
        "equal_repeats": predictions["repeat"].n_unique(),
        "on_known": not set(design.ON_KNOWN).isdisjoint(methods),
        "development": " ".join(st.development_note(methods)),
        "reported_last": reported_accuracies(paper)[LAST],
    }


def reported_accuracies(paper: st.Reported) -> dict[int, float]:
    """Of the paper's framework by steps; at those in ``FLOORED`` it is above the number."""
    floor = st.reported_number(paper, "lead_time_floor")
    at_last = st.reported_number(paper, "lead_time_100")
    at_failure = st.reported_number(paper, "improved_rules_accuracy")
    return {0: at_failure, LAST: at_last, **dict.fromkeys(FLOORED, floor)}


def lead_time_table(found: st.Estimates, said: st.Captions, paper: st.Reported) -> st.Table:
    """The failure itself and the paper's steps, of every method that has a rate there."""
    rates = found.frame.filter(pl.col("metric") != "false_alarms")
    known = set(rates.select("method", "steps").rows())
    methods = st.in_label_order(set(found.distinct("method")) - {ALARM, POSSIBLE})
    labels = {method: st.method_label(method) for method in methods}
    accuracies = reported_accuracies(paper)
    body = []
    for method, label in (labels | {ALARM: "Any alarm", POSSIBLE: "Possible"}).items():
        for step in (0, *FLOORED, LAST):
            reported = f"{'> ' if step in FLOORED else ''}{st.percent(accuracies[step])}"
            texts = (label, f"{step}", reported if method == RULES and step else st.ABSENT)
            if (method, step) in known:
                body.append(st.Row(texts, {"method": method, "steps": step}))
    return st.table("lead_time", found, None, body, said)


BOUNDS = ("ci_low", "ci_high")
DRAWN = ("improved_rules", "random_forest", "invariants")
"""A method of each kind; the points have all."""
STYLES = {name: st.METHOD_STYLES[name] for name in DRAWN} | {
    ALARM: st.MethodStyle("any alarm, whatever the diagnosis", st.BLACK, "", line="-"),
    POSSIBLE: st.MethodStyle("fault switched on", st.BLACK, "", line=":"),
}
TWINS = Line2D([], [], color=st.GREY, linestyle="--", label="healthy twins, best method")
PANELS = {
    "accuracy": "category right, given the log so far",
    "diagnosed_ahead": "alarmed, and right from then on",
}


def draw(points: pl.DataFrame, paper: st.Reported, figure: Figure) -> None:
    """Over steps before the failure: right when cut there, and right from there on."""
    panels = figure.subplots(1, len(PANELS), sharex=True, sharey=True)
    for axes, (metric, title) in zip(panels, PANELS.items(), strict=True):
        for name, style in STYLES.items():
            rates = points.filter(method=name, metric=metric).sort("steps", descending=True)
            value, low, high = (100 * rates[name].to_numpy() for name in ("value", *BOUNDS))
            axes.plot(rates["steps"], value, linestyle=style.line, **style.look)
            if style.marker:
                axes.fill_between(rates["steps"], low, high, color=style.colour, alpha=0.15, lw=0)
        axes.set_title(title)
    draw_beside(panels[0], points, paper)
    steps = points["steps"].drop_nulls().cast(pl.Int64)
    panels[0].set(xlim=(max(steps) + 3, -3), ylim=(0, 100), ylabel="percent of runs")
    (size,) = points.filter(metric="accuracy", steps=0)["n"].unique()
    figure.supxlabel(f"steps before the failure (n = {size} scenarios)")
    shown = [style for name, style in STYLES.items() if name in set(points["method"])]
    reported = replace(st.REPORTED_LEVEL, label="reported by the original (arrow: above)")
    lines = [style.line_handle for style in shown]
    st.legend_outside(
        figure, [*lines, TWINS, reported, *st.marks_explained(DRAWN)], columns=2, handlelength=2.6
    )


def draw_beside(axes: Axes, points: pl.DataFrame, paper: st.Reported) -> None:
    """The best that any method reaches on healthy twins, and the original's snapshots."""
    twins = points.filter(metric="twin_accuracy").group_by("steps").agg(pl.col("value").max())
    twins = twins.sort("steps")
    axes.plot(twins["steps"], 100 * twins["value"], color=TWINS.get_color(), linestyle="--")
    for step, accuracy in reported_accuracies(paper).items():
        level = 100 * accuracy
        axes.plot(step, level, clip_on=False, **st.REPORTED_LEVEL.look)
        if step in FLOORED:
            arrow = {"arrowstyle": "->", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (step, level + 9), (step, level), arrowprops=arrow)


def main() -> None:
    said = st.Captions.read("lead_time")
    paper = st.read_reported()
    settings = st.read_section("lead_time", LeadTimeSettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    asked = design.methods_asked(st.read_names("methods"))
    predictions = st.read_outputs(PREDICTIONS, asked, design.EARLY_SCHEMA)
    main_study = st.read_main_study(asked)
    runs, scores, healthy_scores = (
        st.read_output(MEASUREMENTS / f"{name}.parquet", schema)
        for name, schema in design.MEASURED.items()
    )
    measured = (runs, scores, healthy_scores, main_study)
    rates, limit = estimates(predictions, *measured, settings, intervals, st.workers())
    found = st.Estimates.of(rates)
    at_steps = rates.with_columns(steps=pl.format("steps_{}", "steps"))
    metrics = st.nest(at_steps, "method", "metric", "steps")
    metrics[ALARM]["limit"] = {"all_steps": limit}
    named = numbers(found, main_study, predictions, paper)
    said = said.with_numbers(metrics, intervals, settings, paper, named)
    shown = partial(draw, found.frame, paper)
    st.publish(
        "lead_time",
        metrics=metrics,
        points=found.frame,
        tables=[lead_time_table(found, said, paper)],
        figures={"lead_time": said.picture("figure", 2.9, shown)},
        summary=found.frame.filter(pl.col("steps").is_in((0, *FLOORED, LAST))).select(
            "method", "steps", "metric", "value", "ci_low", "ci_high", "n"
        ),
    )


if __name__ == "__main__":
    st.run(main)
