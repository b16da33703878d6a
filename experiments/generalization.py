"""Stage generalization: what methods are worth on other architectures and on known scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.base.methods import reads_known
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.stage import read_names, read_outputs
from failbench.base.studies import (
    KNOWN_SCENARIOS,
    LEFT_OUT,
    NESTED_CV,
    POOLED,
    SAME_REPEATS,
    across_architectures_files,
    same_repeats,
)
from failbench.base.vocabulary import PRIMARY_SET
from failbench.statistics.intervals import ScenarioIntervalSettings, estimate_rows
from failbench.statistics.metrics import OVERALL
from failbench.statistics.pairs import study_difference
from failbench.statistics.settings import read_statistics
from failbench.study.captions import Captions
from failbench.study.estimates import Estimates, of_groups, of_scenarios
from failbench.study.inputs import read_main_study, read_reported
from failbench.study.labels import (
    FEATURE_SET_LABELS,
    development_note,
    drawn_label,
    in_label_order,
    is_blind,
    label_inside,
    made_in_view,
    method_label,
    reads_true_category,
)
from failbench.study.paper_numbers import reported_accuracies
from failbench.study.picture import dot_panels, legend_outside
from failbench.study.plain_table import Table
from failbench.study.publication import publish_estimates, run
from failbench.study.style import GREY, REPORTED, method_styles
from failbench.study.tables import Of, Row, Text, table

ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")

ASKED = {
    NESTED_CV: "in the one architecture that it was trained on",
    POOLED: "in the architectures that it was trained on together",
    LEFT_OUT: "in an architecture that it was not trained on",
    KNOWN_SCENARIOS: "in an architecture that it was not trained on, the scenarios being known "
    "from the others and from other seeds",
    SAME_REPEATS: "in the one architecture that it was trained on, in the repeats of the other "
    "studies",
}
"""Where each study asks a method; the last is the main study at as many repeats as the others."""

GAIN = "gain_of_known_scenarios"
GAIN_ESTIMAND = (
    "how much more probable a right diagnosis is of a scenario that was trained on in other "
    "architectures and with other seeds"
)
KEYS = ("study", "feature_set", "method")


def estimates(predictions: pl.DataFrame, settings: ScenarioIntervalSettings) -> pl.DataFrame:
    """Rates of every method in every study, and what knowing the scenarios adds."""
    main, pooled = (predictions.filter(study=study) for study in (NESTED_CV, POOLED))
    predictions = pl.concat([predictions, same_repeats(main, pooled)])
    left_out = predictions.filter(
        pl.col("study").is_in([LEFT_OUT, KNOWN_SCENARIOS]),
        (pl.col("study") == KNOWN_SCENARIOS).any().over(KEYS[1:]),
    )
    parts = [of_groups(predictions, KEYS, partial(rates, settings))]
    if left_out.height:
        parts.append(of_groups(left_out, KEYS[1:], partial(gain, settings)))
    return pl.concat(parts)


def rates(
    settings: ScenarioIntervalSettings, part: pl.DataFrame, study: str, **keys: Any
) -> pl.DataFrame:
    found = of_scenarios(part, OVERALL, settings, study=study, **keys)
    asked = pl.format("{}; {}", "estimand", pl.lit(ASKED[study]))
    return sized(found.with_columns(estimand=asked), part)


def gain(settings: ScenarioIntervalSettings, part: pl.DataFrame, **keys: str) -> pl.DataFrame:
    gained = study_difference(part, KNOWN_SCENARIOS, LEFT_OUT, settings, GAIN_ESTIMAND)
    return sized(estimate_rows({GAIN: gained}, study=KNOWN_SCENARIOS, **keys), part)


def sized(found: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """With how many runs and repeats the estimates are of."""
    sizes = {"runs": part["run_id"].n_unique(), "repeats": part["repeat"].n_unique()}
    return found.with_columns(pl.lit(size).alias(name) for name, size in sizes.items())


NEW, KNOWN = "new scenarios", "known scenarios"
COLUMNS = {
    NESTED_CV: ("Reference architecture", NEW),
    SAME_REPEATS: ("Reference architecture, equal repeats", NEW),
    POOLED: ("All architectures", NEW),
    LEFT_OUT: ("Architecture left out", NEW),
    KNOWN_SCENARIOS: ("Architecture left out", KNOWN),
}


def tables(found: Estimates, said: Captions) -> Iterator[Table]:
    """Accuracy of every method that another study than the main one has, in every study."""
    body = []
    for method in in_label_order(found.distinct("method")):
        for feature_set, features in FEATURE_SET_LABELS.items():
            keys = {"method": method, "feature_set": feature_set}
            accuracy = found.where(metric="accuracy", **keys).frame
            if set(accuracy["study"]) - {NESTED_CV, SAME_REPEATS}:
                repeats = dict(accuracy.select("study", "repeats").iter_rows())
                sizes = (
                    *(sorted(set(accuracy[size])) for size in ("n", "runs")),
                    [repeats[study] for study in COLUMNS if study in repeats],
                )
                texts = (" / ".join(map(str, size)) for size in sizes)
                body.append(Row((method_label(method), features, *texts), keys))
    columns: list[Text | Of] = [
        *(Text("Method"), Text("Features")),
        *(Of("accuracy", *heading, keys={"study": study}) for study, heading in COLUMNS.items()),
        Of(GAIN, "Gain of knowing", keys={"study": KNOWN_SCENARIOS}),
        *(Text(heading, align="right") for heading in ("Scenarios", "Runs", "Repeats")),
    ]
    notes = development_note(found.distinct("method"))
    yield table("generalization", found, columns, body, said, *notes)


PANELS = {
    NESTED_CV: "reference\narchitecture,\nnew scenarios",
    POOLED: "all\narchitectures,\nnew scenarios",
    LEFT_OUT: "architecture\nleft out,\nnew scenarios",
    KNOWN_SCENARIOS: "architecture\nleft out, known\nscenarios",
}


def points(found: Estimates) -> pl.DataFrame:
    """What is drawn: as in the table, methods that only the main study has are left out."""
    return found.where(feature_set=PRIMARY_SET, metric="accuracy").frame.filter(
        pl.col("study").is_in(list(PANELS)), (pl.col("study") != NESTED_CV).any().over("method")
    )


def numbers(found: Estimates) -> dict[str, object]:
    """The best methods that saw nothing of the scenarios on architectures that were left out."""
    blind = points(found).filter(pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean))
    best = blind.sort("value", "method", descending=[True, False])
    (new, at_new), (known, at_known) = (
        best.filter(study=study).select("method", "value").row(0)
        for study in (LEFT_OUT, KNOWN_SCENARIOS)
    )
    return {
        "of_monitor": reads_known(found.distinct("method")),
        "best_new": label_inside(new),
        "new": at_new,
        "best_known": label_inside(known),
        "known": at_known,
    }


def draw(drawn: pl.DataFrame, reported: dict[str, float], figure: Figure) -> None:
    """A panel per study and a row per method.

    Below a line stand methods whose rules were made with the scenarios in view, and below another
    those that are handed the true category.
    """
    methods = in_label_order(drawn["method"])
    developed = [method for method in methods if made_in_view(method)]
    truth_told = [method for method in methods if reads_true_category(method)]
    ordered = [*(method for method in methods if is_blind(method)), *developed, *truth_told]
    grid = dot_panels(
        figure,
        drawn.rename({"study": "panel"}).with_columns(row="method", mark="method"),
        {method: drawn_label(method) for method in ordered},
        method_styles(ordered),
        PANELS,
        spread=0.0,
        heavy_above=(*developed[:1], *truth_told[:1]),
    )
    for position, method in enumerate(ordered):
        if method in reported:
            grid[0].plot(100 * reported[method], position, **REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    first = Line2D([], [], color=GREY, label="value of the first panel")
    hollow = Line2D([], [], color=GREY, linestyle="none", marker="o", markerfacecolor="white")
    hollow.set_label("hollow: handed the true category")
    legend_outside(figure, [REPORTED.handle, first, hollow], columns=3)


def main() -> None:
    settings, files = read_statistics(ScenarioIntervalSettings), read_names("methods")
    across = across_architectures_files(files)
    others = read_outputs(ACROSS_ARCHITECTURES, across, PREDICTION_SCHEMA)
    measured = estimates(pl.concat([read_main_study(), others]), settings)
    found = Estimates.of(measured)
    said = Captions.read("generalization", found.nested(*KEYS, "metric"), settings, numbers(found))
    drawn = points(found)
    height = 0.95 + 0.19 * drawn["method"].n_unique()
    drawing = partial(draw, drawn, reported_accuracies(read_reported()))
    publish_estimates(
        "generalization",
        measured,
        (*KEYS, "metric"),
        tables=tables(found, said),
        figures={
            "generalization": said.picture("figure", height, drawing, methods=drawn["method"])
        },
        summary=found.where(metric="accuracy").frame.select(*KEYS, "value", "ci_low", "ci_high"),
    )


if __name__ == "__main__":
    run(main)
