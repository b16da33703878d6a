"""Stage abstention: why the improved rules and the monitor abstain, and what it is worth."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.typing import LineStyleType

from failbench import study as st
from shared.abstention import AbstentionSettings

INNER = Path("data/predictions/abstention/improved_rules.parquet")

KEYS = ("part", "key", "metric")
REASONS: dict[st.Reason, tuple[str, str]] = {
    "low_confidence": ("Low confidence", st.SKY),
    "conflict": ("Conflict", st.VERMILLION),
    "missing": ("Missing", st.GREY),
}
"""Label and colour, in the order of the paper's Figure 5."""

ROWS = {"reported": "All, reported", "all": "All, measured"} | {**st.CATEGORY_LABELS}
NEVER = 2.0
"""A tau that no confidence reaches: with it, everything is abstained from."""


def estimates(
    predictions: pl.DataFrame,
    inner: pl.DataFrame,
    monitored: pl.DataFrame,
    model: pl.DataFrame,
    settings: AbstentionSettings,
    intervals: st.ScenarioIntervalSettings,
) -> pl.DataFrame:
    """Reasons of the abstentions, a sweep of tau, tau by fold, and every method that may abstain.

    The tau of a fold is the lowest one with which the rules reach the precision on the scenarios
    that the fold trains on.
    """
    main = predictions.filter(feature_set=settings.feature_set)
    per_fold, chosen = at_chosen_thresholds(main, inner, settings)
    asked = model.filter(feature_set=settings.feature_set)
    sure, _ = at_chosen_thresholds(asked, on_training_sides(asked), settings)
    may_abstain = pl.concat([main, sure, monitored.filter(feature_set=settings.feature_set)])
    by_category = {"all": main} | {name: main.filter(category=name) for name in st.CATEGORIES}
    parts = [
        why(part, intervals, part="reasons", key=key)
        for key, part in by_category.items()
        if part.height
    ]
    parts.append(sweep(main, settings.taus, intervals))
    for key, part in (("as_measured", main), ("per_fold", per_fold)):
        parts.append(worth(part, intervals, part="chosen", key=key))
    parts += choices(chosen)
    for (method,), part in may_abstain.group_by("method", maintain_order=True):
        parts += [of(part, intervals, part="methods", key=method) for of in (worth, why)]
    return pl.concat(parts)


def at_chosen_thresholds(
    answers: pl.DataFrame, inner: pl.DataFrame, settings: AbstentionSettings
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers at the lowest tau that reaches the precision on the inner ones of a fold, and it."""
    chosen = st.lowest_thresholds(inner, settings.taus, settings.precision, ("repeat", "fold"))
    tuned = answers.join(chosen.select("repeat", "fold", "tau"), on=("repeat", "fold"), how="left")
    return st.at_threshold(tuned, pl.col("tau").fill_null(NEVER)).drop("tau"), chosen


def on_training_sides(answers: pl.DataFrame) -> pl.DataFrame:
    """Answers of a method that learns nothing, on the scenarios that each fold trains on."""
    folds = answers.select("repeat", "fold").unique()
    others = answers.join(folds, on="repeat", suffix="_tested")
    trained = others.filter(pl.col("fold") != pl.col("fold_tested"))
    return trained.with_columns(fold="fold_tested").drop("fold_tested")


def worth(
    predictions: pl.DataFrame, settings: st.ScenarioIntervalSettings, **keys: object
) -> pl.DataFrame:
    return st.of_scenarios(predictions, (), settings, st.commitment(predictions), **keys)


def why(
    predictions: pl.DataFrame, settings: st.ScenarioIntervalSettings, **keys: object
) -> pl.DataFrame:
    """How often it is abstained from these scenarios, and the share of each reason in that."""
    abstained = pl.col("prediction") == st.ABSTAIN
    shares = tuple(
        st.proportion(
            f"share_{reason}",
            st.over_those(predictions, pl.col("reason").eq_missing(pl.lit(reason)), abstained),
            "ratio of two probabilities: that a run of a new scenario is left undecided as "
            f"{reason.replace('_', ' ')}, over that it is left undecided",
        )
        for reason in get_args(st.Reason)
        if predictions.select(abstained.any()).item()
    )
    return st.of_scenarios(predictions, (st.METRICS["abstention_rate"],), settings, shares, **keys)


def sweep(
    predictions: pl.DataFrame, taus: st.Array, settings: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """What the rules are worth at each tau; all rates at once, as they share their resamples."""
    rates = [
        (tau, rate) for tau in taus for rate in st.commitment(st.at_threshold(predictions, tau))
    ]
    named = tuple(replace(rate, name=f"{tau:.2f}/{rate.name}") for tau, rate in rates)
    return st.by_path(st.of_scenarios(predictions, (), settings, named, part="thresholds"), "key")


def choices(chosen: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The chosen thresholds: the share of folds that have one, and their median and range."""
    keys = {"part": "chosen", "key": "per_fold"}
    taus: st.Array = chosen["tau"].drop_nulls().to_numpy()
    share = len(taus) / chosen.height
    yield st.over_folds(
        "folds_with_a_threshold",
        (share, share, share),
        chosen.height,
        "share of folds in which some threshold reaches the precision on the training side",
        **keys,
    )
    if len(taus):
        yield st.over_folds(
            "tau",
            (float(np.median(taus)), float(taus.min()), float(taus.max())),
            len(taus),
            "threshold chosen on the training side of a fold: median, lowest and highest",
            **keys,
        )


def printed(paper: st.Reported) -> Iterator[dict[str, Any]]:
    """What the paper prints, as rows of the same frame."""
    number = partial(st.reported_number, paper)
    n, rate = number("scenarios"), number("improved_rules_abstention")
    shares = {f"share_{reason}": number(f"abstention_{reason}") for reason in REASONS}
    yield from st.reported(
        n, keys={"part": "reasons", "key": "reported"}, abstention_rate=rate, **shares
    )
    yield from st.reported(
        n,
        keys={"part": "chosen", "key": "reported"},
        coverage=1 - rate,
        accuracy_when_committed=number("improved_rules_committed_accuracy"),
        accuracy=number("improved_rules_accuracy"),
    )


def numbers(found: st.Estimates, paper: st.Reported) -> dict[str, object]:
    """What captions and the finding name beside settings and estimates."""
    number = partial(st.reported_number, paper)
    n, rate = number("scenarios"), number("improved_rules_abstention")
    folds = found.row(part="chosen", key="per_fold", metric="folds_with_a_threshold")
    assert folds is not None
    shares = {
        label: found.row(part="reasons", key="all", metric=f"share_{reason}")
        for reason, (label, _) in REASONS.items()
    }
    measured = {label: share["value"] for label, share in shares.items() if share is not None}
    most = max(measured, key=lambda label: measured[label], default="")
    return {
        "cases": f"{rate * n:.0f}",
        "counts": " and ".join(
            f"{number(f'abstention_{reason}') * round(rate * n):.2f}" for reason in REASONS
        ),
        "folds": folds["n"],
        "reached": folds["value"] * folds["n"],
        "most": most.lower(),
        "most_share": measured.get(most, 0.0),
    }


def tables(
    found: st.Estimates, said: st.Captions, paper: st.Reported, tau: float, target: float
) -> Iterator[st.Table]:
    """Reasons by category, thresholds, and methods that may abstain."""
    known = set(found.where(part="reasons").distinct("key"))
    labels = {key: label for key, label in ROWS.items() if key in known}
    yield st.table("abstention", found, None, st.rows("key", labels, part="reasons"), said)

    spread = found.row(part="chosen", key="per_fold", metric="tau")
    chosen = st.ABSENT
    if spread is not None:
        chosen = f"{spread['value']:.2f} ({spread['ci_low']:.2f} to {spread['ci_high']:.2f})"
    aimed = f"{st.reported_number(paper, 'improved_rules_threshold'):.2f}"
    swept = sorted(found.where(part="thresholds").distinct("key"))
    body = [
        st.Row(("Reported", aimed), {"part": "chosen", "key": "reported"}),
        st.Row(("Measured", f"{tau:.2f}"), {"part": "chosen", "key": "as_measured"}),
        st.Row((f"Chosen for {100 * target:g} %", chosen), {"part": "chosen", "key": "per_fold"}),
        *(st.Row(("Sweep", key), {"part": "thresholds", "key": key}) for key in swept),
    ]
    yield st.table("abstention_threshold", found, None, body, said)

    methods = st.in_label_order(found.where(part="methods").distinct("key"))
    body = st.rows("key", {name: st.method_label(name) for name in methods}, part="methods")
    notes = st.development_note(methods)
    yield st.table("abstention_methods", found, None, body, said, *notes)


CURVES: dict[str, tuple[str, str, LineStyleType]] = {
    "accuracy_when_committed": ("selective accuracy", st.BLUE, "-"),
    "coverage": ("coverage", st.BLACK, "--"),
    "accuracy": ("accuracy", st.GREEN, ":"),
}
"""Label, colour and line of each quantity of the sweep."""

CHOSEN: dict[str, Any] = {"color": st.GREY, "alpha": 0.25, "linewidth": 0}
"""Band of the thresholds that reach the aim in training."""


def draw(found: st.Estimates, tau: float, target: float, figure: Figure) -> None:
    """Left why the rules abstain, right what they are worth at other thresholds."""
    left, right = figure.subplots(1, 2)
    draw_reasons(left, found.where(part="reasons"))
    draw_sweep(right, found, tau, target)
    patches = [Patch(color=colour, label=label.lower()) for label, colour in REASONS.values()]
    lines = [
        Line2D([], [], color=colour, linestyle=line, label=label)
        for label, colour, line in CURVES.values()
    ]
    chosen = Patch(label="tau that reaches the aim in training", **CHOSEN)
    st.legend_outside(figure, [*patches, *lines, chosen], columns=4, handlelength=1.6)


def draw_reasons(axes: Axes, reasons: st.Estimates) -> None:
    drawn = [key for key in ROWS if reasons.row(key=key, metric="share_conflict")]
    labels = []
    for place, key in enumerate(drawn):
        rate = reasons.row(key=key, metric="abstention_rate")
        assert rate is not None
        decimals = 0 if key == "reported" else 1
        labels.append(f"{ROWS[key]}\n{rate['value'] * rate['n']:.{decimals}f} of {rate['n']:.0f}")
        start = 0.0
        for reason, (_, colour) in REASONS.items():
            share = reasons.value(key=key, metric=f"share_{reason}")
            axes.barh(place, 100 * share, left=100 * start, color=colour)
            if share >= 0.08:  # smaller segments have no room for their number
                middle = 100 * (start + share / 2)
                axes.text(middle, place, f"{100 * share:.0f}", ha="center", va="center")
            start += share
    axes.set_yticks(range(len(drawn)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(0, 100), ylim=(len(drawn) - 0.5, -0.5), title="why the improved rules abstain")
    axes.set_xlabel("percent of the abstentions (of n scenarios)")


def draw_sweep(axes: Axes, found: st.Estimates, tau: float, target: float) -> None:
    swept = found.where(part="thresholds").frame.with_columns(pl.col("key").cast(pl.Float64))
    for metric, (_, colour, line) in CURVES.items():
        at = swept.filter(metric=metric).sort("key")
        low, high = 100 * at["ci_low"], 100 * at["ci_high"]
        axes.fill_between(at["key"], low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(at["key"], 100 * at["value"], color=colour, linestyle=line)
    axes.axhline(100 * target, color=st.GREY, linewidth=0.6)
    axes.text(0.01, 100 * target + 1, f"aim: {100 * target:g} %")
    axes.axvline(tau, color=st.GREY, linewidth=0.6)
    axes.text(tau - 0.01, 1, f"tau {tau:g}", ha="right")
    spread = found.row(part="chosen", key="per_fold", metric="tau")
    if spread is not None:
        axes.axvspan(spread["ci_low"], spread["ci_high"], **CHOSEN)
    n = " / ".join(str(size) for size in sorted(set(swept["n"])))
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 102.0))
    axes.set(xlabel="threshold of confidence, tau", ylabel=f"percent of n = {n} scenarios")
    axes.set_title("what another threshold is worth")


def main() -> None:
    paper = st.read_reported()
    settings = st.read_section("abstention", AbstentionSettings)
    intervals = st.read_statistics(st.ScenarioIntervalSettings)
    tau = st.read_section("improved_rules", st.ImprovedRulesSettings).tau
    target = settings.precision
    rules = st.read_main_study(["improved_rules"])
    monitored = st.read_main_study(["invariants", "invariants_abstaining"])
    inner = st.read_output(INNER, st.PREDICTION_SCHEMA)
    model = st.read_recorded_model()
    measured = estimates(rules, inner, monitored, model, settings, intervals)
    found = st.Estimates.of(measured).plus(*printed(paper))
    named = numbers(found, paper)
    said = st.Captions.read("abstention", found.nested(*KEYS), intervals, settings, paper, named)
    st.publish_estimates(
        "abstention",
        measured,
        KEYS,
        tables=tables(found, said, paper, tau, target),
        figures={"abstention": said.picture("figure", 2.9, partial(draw, found, tau, target))},
    )


if __name__ == "__main__":
    st.run(main)
