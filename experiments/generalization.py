"""Stage generalization: what methods are worth on other architectures and on known scenarios."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench import study as st

ASKED = {
    st.NESTED_CV: "in the one architecture that it was trained on",
    st.SAME_REPEATS: "in the one architecture that it was trained on, in the repeats of the other "
    "studies",
    st.POOLED: "in the architectures that it was trained on together",
    st.LEFT_OUT: "in an architecture that it was not trained on",
    st.KNOWN_SCENARIOS: "in an architecture that it was not trained on, the scenarios being learnt "
    "from the others and from other seeds",
}
"""Where each study asks a method; the second is the main study at the repeats of the others."""

GAIN = "gain_of_known_scenarios"
GAIN_ESTIMAND = (
    "how much more probable a right diagnosis is of a scenario that was trained on in other "
    "architectures and with other seeds"
)
KEYS = ("study", "feature_set", "method")


def estimates(predictions: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Rates of every method in every study, and what knowing the scenarios adds."""
    main, pooled = (predictions.filter(study=study) for study in (st.NESTED_CV, st.POOLED))
    predictions = pl.concat([predictions, st.same_repeats(main, pooled)])
    left_out = predictions.filter(
        pl.col("study").is_in([st.LEFT_OUT, st.KNOWN_SCENARIOS]),
        (pl.col("study") == st.KNOWN_SCENARIOS).any().over(KEYS[1:]),
    )
    parts = [st.of_groups(predictions, KEYS, partial(rates, settings))]
    if left_out.height:
        parts.append(st.of_groups(left_out, KEYS[1:], partial(gain, settings)))
    return pl.concat(parts)


def rates(
    settings: st.ScenarioIntervalSettings, part: pl.DataFrame, study: str, **keys: Any
) -> pl.DataFrame:
    found = st.of_scenarios(part, st.OVERALL, settings, study=study, **keys)
    asked = pl.format("{}; {}", "estimand", pl.lit(ASKED[study]))
    return sized(found.with_columns(estimand=asked), part)


def gain(settings: st.ScenarioIntervalSettings, part: pl.DataFrame, **keys: str) -> pl.DataFrame:
    gained = st.study_difference(part, st.KNOWN_SCENARIOS, st.LEFT_OUT, settings, GAIN_ESTIMAND)
    return sized(st.estimate_rows({GAIN: gained}, study=st.KNOWN_SCENARIOS, **keys), part)


def sized(found: pl.DataFrame, part: pl.DataFrame) -> pl.DataFrame:
    """With how many runs and repeats the estimates are of."""
    sizes = {"runs": part["run_id"].n_unique(), "repeats": part["repeat"].n_unique()}
    return found.with_columns(pl.lit(size).alias(name) for name, size in sizes.items())


def tables(found: st.Estimates, said: st.Captions) -> Iterator[st.Table]:
    """Accuracy of every method that another study than the main one has, in every study."""
    body = []
    for method in st.in_label_order(found.distinct("method")):
        for feature_set, features in st.FEATURE_SET_LABELS.items():
            keys = {"method": method, "feature_set": feature_set}
            accuracy = found.where(metric="accuracy", **keys).frame
            if set(accuracy["study"]) - {st.NESTED_CV, st.SAME_REPEATS}:
                repeats = dict(accuracy.select("study", "repeats").iter_rows())
                sizes = (
                    *(sorted(set(accuracy[size])) for size in ("n", "runs")),
                    [repeats[study] for study in ASKED if study in repeats],
                )
                texts = (" / ".join(map(str, size)) for size in sizes)
                body.append(st.Row((st.method_label(method), features, *texts), keys))
    notes = st.development_note(found.distinct("method"))
    yield st.table("generalization", found, None, body, said, *notes)


PANELS = {
    st.NESTED_CV: "reference\narchitecture,\nnew scenarios",
    st.POOLED: "all\narchitectures,\nnew scenarios",
    st.LEFT_OUT: "architecture\nleft out,\nnew scenarios",
    st.KNOWN_SCENARIOS: "architecture\nleft out, known\nscenarios",
}


def points(found: st.Estimates) -> pl.DataFrame:
    """What is drawn: as in the table, methods that only the main study has are left out."""
    return found.where(feature_set=st.PRIMARY_SET, metric="accuracy").frame.filter(
        pl.col("study").is_in(list(PANELS)), (pl.col("study") != st.NESTED_CV).any().over("method")
    )


def numbers(found: st.Estimates) -> dict[str, object]:
    """The best methods that saw nothing of the scenarios on architectures that were left out."""
    blind = points(found).filter(st.is_of_blind())
    best = blind.sort("value", "method", descending=[True, False])
    (new, at_new), (known, at_known) = (
        best.filter(study=study).select("method", "value").row(0)
        for study in (st.LEFT_OUT, st.KNOWN_SCENARIOS)
    )
    return {
        "of_monitor": st.reads_known(found.distinct("method")),
        "best_new": st.label_inside(new),
        "new": at_new,
        "best_known": st.label_inside(known),
        "known": at_known,
    }


def draw(drawn: pl.DataFrame, reported: dict[str, float], figure: Figure) -> None:
    """A panel per study and a row per method, those that are not blind below lines."""
    methods = st.in_label_order(drawn["method"])
    developed = [method for method in methods if st.made_in_view(method)]
    truth_told = [method for method in methods if st.reads_true_category(method)]
    ordered = [*(method for method in methods if st.is_blind(method)), *developed, *truth_told]
    grid = st.dot_panels(
        figure,
        drawn.rename({"study": "panel"}).with_columns(row="method", mark="method"),
        {method: st.drawn_label(method) for method in ordered},
        st.method_styles(ordered),
        PANELS,
        spread=0.0,
        heavy_above=(*developed[:1], *truth_told[:1]),
    )
    for position, method in enumerate(ordered):
        if method in reported:
            grid[0].plot(100 * reported[method], position, **st.REPORTED.look)
    grid[0].set_xlim(0, 100)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    first = Line2D([], [], color=st.GREY, label="value of the first panel")
    hollow = Line2D([], [], color=st.GREY, linestyle="none", marker="o", markerfacecolor="white")
    hollow.set_label("hollow: handed the true category")
    st.legend_outside(figure, [st.REPORTED.handle, first, hollow], columns=3)


def main() -> None:
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    predictions = pl.concat([st.read_main_study(), st.read_across_architectures()])
    measured = estimates(predictions, settings)
    found = st.Estimates.of(measured)
    metrics, drawn = found.nested(*KEYS, "metric"), points(found)
    said = st.Captions.read("generalization", metrics, settings, numbers(found))
    height = 0.95 + 0.19 * drawn["method"].n_unique()
    drawing = partial(draw, drawn, st.reported_accuracies(st.read_reported()))
    picture = said.picture("figure", height, drawing, methods=drawn["method"])
    st.publish_estimates(
        "generalization",
        measured,
        (*KEYS, "metric"),
        tables=tables(found, said),
        figures={"generalization": picture},
        summary=found.where(metric="accuracy").frame.select(*KEYS, "value", "ci_low", "ci_high"),
    )


if __name__ == "__main__":
    st.run(main)
