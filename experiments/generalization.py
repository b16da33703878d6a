"""Stage generalization: what methods are worth on other architectures and on known scenarios."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from failbench import study as st

ASKED = {
    st.NESTED_CV: "in the one architecture that it was trained on",
    st.SAME_REPEATS: "in the one architecture that it was trained on, in the repeats of the other "
    "studies",
    st.POOLED: "in the architectures that it was trained on together",
    st.LEFT_OUT: "in an architecture that it was not trained on",
    st.SAME_RUNS: "in an architecture that it was not trained on, on the runs of the study with "
    "known scenarios",
    st.KNOWN_SCENARIOS: "in an architecture that it was not trained on, the scenarios being learnt "
    "from the others and from other seeds",
}
"""Where each study asks a method; two are others at the repeats or runs of a third."""

GAIN = "gain_of_known_scenarios"
GAIN_ESTIMAND = (
    "how much more probable a right diagnosis is of a scenario that was trained on in other "
    "architectures and with other seeds"
)
KEYS = ("study", "feature_set", "method")


def estimates(predictions: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """Rates of every method in every study, and what knowing the scenarios adds."""
    main, pooled, left_out, known = (
        predictions.filter(study=study)
        for study in (st.NESTED_CV, st.POOLED, st.LEFT_OUT, st.KNOWN_SCENARIOS)
    )
    new = st.same_runs(left_out, known)
    predictions = pl.concat([predictions, st.same_repeats(main, pooled), new])
    parts = [st.of_groups(predictions, KEYS, partial(rates, settings))]
    if known.height:
        parts.append(st.of_groups(pl.concat([known, new]), KEYS[1:], partial(gain, settings)))
    return pl.concat(parts)


def rates(
    settings: st.ScenarioIntervalSettings, part: pl.DataFrame, study: str, **keys: Any
) -> pl.DataFrame:
    found = st.of_scenarios(part, st.OVERALL, settings, study=study, **keys)
    asked = pl.format("{}; {}", "estimand", pl.lit(ASKED[study]))
    return sized(found.with_columns(estimand=asked), part)


def gain(settings: st.ScenarioIntervalSettings, part: pl.DataFrame, **keys: str) -> pl.DataFrame:
    gained = st.study_difference(part, st.KNOWN_SCENARIOS, st.SAME_RUNS, settings, GAIN_ESTIMAND)
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


MARKS = {
    st.SAME_RUNS: st.Mark("new scenarios", st.BLUE, "o"),
    st.KNOWN_SCENARIOS: st.Mark("scenarios in the training data", st.VERMILLION, "D"),
}
"""Both on architectures that were left out, and on the same runs."""

GAIN_OF = ("symptom_baseline", "random_forest")


def points(found: st.Estimates) -> pl.DataFrame:
    """What is drawn: held-out methods on new scenarios, and on those in the training data."""
    accuracy = found.where(feature_set=st.PRIMARY_SET, metric="accuracy").frame.filter(
        st.is_of_blind(), pl.col("study").is_in(list(MARKS))
    )
    return accuracy.filter(pl.col("study").n_unique().over("method") == len(MARKS))


def numbers(found: st.Estimates) -> dict[str, object]:
    """What the scenarios in the training data add to a forest and to a baseline."""
    keys = {"feature_set": st.PRIMARY_SET, "metric": GAIN}
    rows = {method: found.row(method=method, **keys) for method in GAIN_OF}
    gains = {method: row["value"] for method, row in rows.items() if row}
    return {
        "of_monitor": st.reads_known(found.distinct("method")),
        "gains": gains if len(gains) == len(GAIN_OF) else {},
    }


def draw(drawn: pl.DataFrame, figure: Figure) -> None:
    """A row per method, and a mark for new scenarios and for those in the training data."""
    axes = figure.subplots()
    rows = {method: st.drawn_label(method) for method in st.in_label_order(drawn["method"])}
    st.dot_plot(axes, drawn.with_columns(row="method", mark="study"), rows, MARKS, spread=0.4)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    axes.set(xlim=(0, 100), xlabel=f"accuracy, percent of n = {sizes} scenarios, with interval")
    st.legend_outside(figure, MARKS.values(), columns=2)


def main() -> None:
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    predictions = pl.concat([st.read_main_study(), st.read_across_architectures()])
    measured = estimates(predictions, settings)
    found = st.Estimates.of(measured)
    metrics, drawn = found.nested(*KEYS, "metric"), points(found)
    said = st.Captions.read("generalization", metrics, settings, numbers(found))
    height = 0.75 + 0.2 * drawn["method"].n_unique()
    picture = said.picture("figure", height, partial(draw, drawn))
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
