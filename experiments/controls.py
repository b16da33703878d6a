"""Stage controls: negative controls at chance, and a planted leak that must be detected.

Each is answered by a small forest over all seeds, with folds by scenario, and scored by balanced
accuracy, whose chance level is one in five whatever the counts of the categories. Of permuted
labels there is nothing to learn, so the mean over permutations shows the bias of the procedure
itself: it rises above chance if runs of a scenario sit on both sides of a split. One permutation
would be passed or failed by luck; the mean has a standard error, and a one-sided t test holds it
against chance. All others are tested by permuting labels over scenarios and refitting.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType
from scipy import stats

from failbench import study as st
from shared import controls as design
from shared.controls import CHANCE

PREDICTIONS = Path("data/predictions/controls")
MEASUREMENTS = Path("data/measurements/controls")

LEAK, RAW_TWINS = "planted_leak", "raw_twins"
ALARM = {True: "found, as it must be", False: "not found, which is an alarm"}
"""What is said of a leak that was planted."""

KNOWN_FROM = 0.95
"""Accuracy from which labels in all rows count as read: a tree of depth 4 can part five labels."""

LEAVES = (*st.ESTIMATE, "p", "permutations", "verdict")
Verdict = Literal["pass", "inconclusive", "fail"]


class ControlSettings(design.ControlDesign, st.ScenarioIntervalSettings):
    """How the controls are run, and how what they give gets intervals."""


def estimates(
    predictions: pl.DataFrame,
    permuted: pl.DataFrame,
    twins: pl.DataFrame,
    planted: pl.DataFrame,
    settings: ControlSettings,
) -> pl.DataFrame:
    """Balanced accuracy of every control, its test, what follows from both, and what is shown."""
    rows = []
    for (control,), part in permuted.group_by("control", maintain_order=True):
        accuracies: st.Array = part["balanced_accuracy"].to_numpy()
        if control == design.PERMUTED_LABELS:
            found = mean_over_permutations(accuracies, settings.confidence)
            found["n"] = part["scenarios"][0]
        else:
            found = balanced_accuracy(predictions.filter(control=control), settings)
            found["p"] = permutation_p(found["value"], accuracies)
        judged = verdict(found["p"], found["ci_high"], settings)
        shown = ALARM[judged == "fail"] if control == LEAK else judged
        tested = {"permutations": len(accuracies), "verdict": judged, "shown": shown}
        rows.append({"control": control, **found, **tested})
    found = balanced_accuracy(twins, settings)
    shown = twins_verdict(found["ci_low"], found["ci_high"], settings.upper_bound)
    rows.append({"control": RAW_TWINS, **found, "shown": shown})
    n, leak = planted["scenario"].n_unique(), leak_test(planted)
    same = "pass: no prediction changes" if leak["identical_predictions"] else "fail: some change"
    rows.append({"control": design.TESTED_LABELS, "n": n, "shown": same})
    known = leak["positive_control_accuracy"]
    shown = ALARM[known >= KNOWN_FROM]
    rows.append({"control": design.ALL_LABELS, "value": known, "n": n, "shown": shown})
    return pl.DataFrame(rows).select("control", *LEAVES, "shown")


def balanced_accuracy(
    predictions: pl.DataFrame, settings: st.ScenarioIntervalSettings
) -> dict[str, Any]:
    """With an interval that resamples scenarios within categories."""
    interval = st.of_scenarios(predictions, (st.METRICS["balanced_accuracy"],), settings)
    return interval.select(st.ESTIMATE).row(0, named=True)


def mean_over_permutations(accuracies: st.Array, confidence: float) -> dict[str, Any]:
    """Whether the procedure itself scores above chance when there is nothing to learn."""
    low, high = stats.ttest_1samp(accuracies, CHANCE).confidence_interval(confidence)
    p = stats.ttest_1samp(accuracies, CHANCE, alternative="greater").pvalue
    return {"value": accuracies.mean(), "ci_low": low, "ci_high": high, "p": p}


def permutation_p(observed: float, permuted: st.Array) -> float:
    """One-sided p of a permutation test, counting the observed labelling as one of them.

    Phipson and Smyth (2010): (1 + number at least as large) / (1 + number of permutations), which
    is never zero.
    """
    at_least = np.sum(permuted >= observed - 1e-12)
    return float((1 + at_least) / (1 + len(permuted)))


def verdict(p: float, ci_high: float, settings: ControlSettings) -> Verdict:
    """Fail if the test finds the label; pass if it does not and the interval is narrow enough."""
    if p <= settings.significance:
        return "fail"
    return "pass" if ci_high <= settings.upper_bound else "inconclusive"


def twins_verdict(ci_low: float, ci_high: float, upper_bound: float) -> str:
    """Of a control with an interval and no test: whether it holds chance and is narrow enough."""
    if ci_low > CHANCE:
        return "fail: the interval lies above chance"
    return "pass, by the interval" if ci_high <= upper_bound else "inconclusive"


def leak_test(predictions: pl.DataFrame) -> dict[str, Any]:
    """Whether anything of the tested runs reaches the training."""
    constant, labelled, known = (
        predictions.filter(pl.col(design.PLANTED) == what).drop(design.PLANTED)
        for what in (design.NOTHING, design.TESTED_LABELS, design.ALL_LABELS)
    )
    accuracy = known.select((pl.col("prediction") == pl.col("category")).mean()).item()
    same = constant.equals(labelled)
    return {"identical_predictions": same, "positive_control_accuracy": accuracy}


def controls_table(found: pl.DataFrame, said: st.Captions) -> st.Table:
    """What each control reads and finds, the planted leak and the leak test included."""
    rows, labels = [], said.labels("controls")
    for row in found.iter_rows(named=True):
        accuracy = st.ABSENT if row["value"] is None else st.estimate_text(row)
        test = (st.ABSENT, st.ABSENT)
        if row["p"] is not None:
            test = (str(row["permutations"]), st.written(row["p"], "three"))
        rows.append((*labels[row["control"]], accuracy, str(row["n"]), *test, row["shown"]))
    return st.sheet("controls", rows, said)


MARKS = {
    "control": st.Mark("must stay at chance", st.BLUE, "o"),
    "leak": st.Mark("must be found: a leak planted by us", st.VERMILLION, "s"),
}
LIMITS: dict[LineStyleType, str] = {"-": "chance", ":": "limit of the interval of a control"}
ROOM = 1.62
"""Width of the axis over its last value: the verdicts stand beyond."""


def draw(
    points: pl.DataFrame, labels: Mapping[str, Sequence[str]], limit: float, figure: Figure
) -> None:
    """Balanced accuracy of each control beside chance and the limit, and its verdict."""
    axes = figure.subplots()
    sizes = points.select("row", "n").iter_rows()
    rows = {name: f"{labels[name][0]} (n = {n})" for name, n in sizes}
    st.dot_plot(axes, points, rows, MARKS, spread=0.0, heavy_above=[LEAK])
    for place, line in zip((CHANCE, limit), LIMITS, strict=True):
        axes.axvline(100 * place, color=st.MARK, linestyle=line, linewidth=0.7, zorder=0)
    last = 100 * max(points["ci_high"].to_list())
    axes.set_xlim(0.0, ROOM * last)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0.0 <= tick <= last])
    for position, text in enumerate(points["verdict"]):
        axes.text(1.06 * last, position, text, verticalalignment="center_baseline")
    axes.set_xlabel("balanced accuracy in percent, with interval")
    look: dict[str, Any] = {"color": st.MARK, "linewidth": 0.7}
    lines = (Line2D([], [], linestyle=line, label=label, **look) for line, label in LIMITS.items())
    st.legend_outside(figure, [*MARKS.values(), *lines], columns=2)


def main() -> None:
    settings = st.read_with_statistics("controls", ControlSettings)
    planted = st.read_output(PREDICTIONS / "decision_tree.parquet", design.PLANTED_SCHEMA)
    found = estimates(
        st.read_output(PREDICTIONS / "forest.parquet", design.CONTROL_SCHEMA),
        st.read_output(MEASUREMENTS / "permuted_accuracies.parquet", design.PERMUTED_SCHEMA),
        st.read_output(PREDICTIONS / "raw_series.parquet", st.PREDICTION_SCHEMA),
        planted,
        settings,
    )
    measured = found.filter(pl.col("ci_low").is_not_null())
    metrics = st.nest(measured, "control", leaves=LEAVES)
    mark = pl.when(control=LEAK).then(pl.lit("leak")).otherwise(pl.lit("control"))
    points = st.rounded(measured.sort(pl.col("control") == LEAK, maintain_order=True)).select(
        row="control", mark=mark, **{name: name for name in st.ESTIMATE}, verdict="shown"
    )
    controls = points.filter(mark="control")
    numbers = {
        "chance": CHANCE,
        "smallest": 1 / (1 + settings.permutations),
        "controls": controls.height,
        "passed": controls.filter(pl.col("verdict").str.starts_with("pass")).height,
        "found": metrics[LEAK]["verdict"] == "fail",
    }
    said = st.Captions.read("controls", settings, metrics, numbers)
    height = 0.75 + 0.2 * points.height
    drawing = partial(draw, points, said.labels("controls"), settings.upper_bound)
    st.publish(
        "controls",
        metrics={**metrics, "leak_test": leak_test(planted)},
        points=points,
        tables=[controls_table(found, said)],
        figures={"controls": said.picture("figure", height, drawing)},
        summary=found,
    )


if __name__ == "__main__":
    st.run(main)
