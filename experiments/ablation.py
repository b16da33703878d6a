"""Stage ablation: what is left of methods with some groups of signals, scored and compared."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import stats

from failbench import study as st
from shared.ablation import ABLATION_SCHEMA, FOREST, METHODS, REDUCED, RULES, AblationDesign

IMPORTANCE = Path("data/plots/importance.csv")
PREDICTIONS = Path("data/predictions/ablation")

IMPORTANCE_SCHEMA = pl.Schema(
    dict.fromkeys(("feature_set", "method", "kind", "name"), pl.String()) | {"value": pl.Float64()}
)
"""What is read of the points of importance."""

KEYS = ("feature_set", "method", "subset", "metric")
VARIANTS = {
    (st.PRIMARY_SET, RULES): (st.METHOD_LABELS[RULES], "19 + error text"),
    (st.PRIMARY_SET, REDUCED): (f"{st.METHOD_LABELS[RULES]}, reduced tree", "19 + error text"),
    **{
        (name, FOREST): (st.METHOD_LABELS[FOREST], label)
        for name, label in st.FEATURE_SET_LABELS.items()
    },
}
"""Feature sets and methods in the order of tables, with their labels."""

PRINTED = (f"{st.METHOD_LABELS[RULES]}, reported", st.ABSENT)

REPORTED_ROWS = {
    "memory": "memory",
    "perplexity": "perplexity",
    "vocabulary": "vocabulary",
    "memory+perplexity": "memory_and_perplexity",
    st.ALL_GROUPS: "full",
}
"""The subsets that the paper has, with the keys of its table."""

LEAVES = (*st.ESTIMATE, "p", "own", "verdict")
"""What the metrics file holds of an interaction; ``own`` is the baseline of the method itself."""

Baseline = Literal["nothing", "chance", "majority"]


class AblationSettings(AblationDesign, st.ScenarioIntervalSettings, st.ComparisonSettings):
    """What is taken away, and how results are scored and compared."""


def variant(
    predictions: pl.DataFrame, feature_set: str, method: str, settings: AblationSettings
) -> tuple[pl.DataFrame, dict[str, object], pl.DataFrame]:
    """Rates with each subset, differences of accuracy to all signals, and the interaction."""
    # the runs of a scenario are its seeds: there is a single architecture
    predictions = predictions.with_columns(seed="run_id")
    subsets = predictions["subset"].unique().sort().to_list()
    asked = (st.METRICS["accuracy"], st.METRICS["abstention_rate"])
    keys: dict[str, Any] = {"feature_set": feature_set, "method": method}
    rates = pl.concat(
        st.of_scenarios(predictions.filter(subset=name), asked, settings, **keys, subset=name)
        for name in subsets
    )
    # subsets take the place of methods in what compares methods
    by_subset = predictions.with_columns(method="subset")
    against_all = tuple((name, st.ALL_GROUPS) for name in subsets if name != st.ALL_GROUPS)
    compared = st.compare_all(by_subset, settings.named(feature_set, against_all))
    differences = st.comparisons_table(compared).select(
        pl.col("left").alias("subset"),
        pl.lit("accuracy").alias("metric"),
        "difference",
        pl.col("ci_low", "ci_high").name.map(lambda name: name.replace("ci", "difference")),
        *("p", "p_holm", "equivalent", "smallest_margin", "detectable_difference"),
    )
    # without any signal a forest names the largest category, and rules abstain
    own: Baseline = "majority" if method == FOREST else "nothing"
    scores = st.paired_scores(by_subset)
    gained = measured_interaction(scores, settings.superadditive, settings, own=own)
    return (
        rates.join(differences, on=("subset", "metric"), how="left", maintain_order="left"),
        st.difference_metrics(compared),
        gained.with_columns(**{name: pl.lit(value) for name, value in keys.items()}),
    )


def measured_interaction(
    scores: st.PairedScores, parts: tuple[str, str], settings: st.ComparisonSettings, own: Baseline
) -> pl.DataFrame:
    r"""What two groups of signals gain together, less what each of them gains alone.

    With v the accuracy of a method on some signals and b a baseline,

    .. math:: I = (v(AB) - b) - (v(A) - b) - (v(B) - b) = v(AB) - v(A) - v(B) + b,

    which with b = v(no signal) is the interaction of two players in a cooperative game (Grabisch
    and Roubens, 1999, "An axiomatic approach to the concept of interaction among players in
    cooperative games"). It rises with the baseline: what gives two bad answers gets to subtract the
    same baseline twice.
    """
    first, second = parts
    both = "+".join(parts)
    total = (pl.col(first) + pl.col(second)).alias("sum")  # no group of signals has that name
    summed = replace(scores, methods=(both, "sum"), seeds=scores.seeds.with_columns(total))
    (bounds,) = st.difference_bounds(summed, [(both, "sum")], settings)
    values = [float(scores.scenario_scores(name).mean()) for name in (first, second, both)]
    largest = scores.scenarios["category"].value_counts()["count"].to_numpy().max()
    of_folds = scores.fold_scores(both) - scores.fold_scores(first) - scores.fold_scores(second)
    found = interaction(values, bounds, scores.n, float(largest / scores.n), own)
    tests = [
        st.resampled_mean(of_folds + baseline, scores.tested, scores.n - scores.tested).p_value
        for baseline in found["baseline"]
    ]
    return found.with_columns(p=pl.Series(tests))


def reported_interaction(paper: st.Reported, confidence: float) -> pl.DataFrame:
    """The interaction of memory and perplexity in the paper's own figures.

    Which scenarios the three accuracies share is not known, so the normal interval takes their
    answers for independent: the variance is the sum of three binomial ones. Answers that agree make
    it narrower or wider, which a reader of the report cannot tell.
    """
    printed = paper.tables.ablation.rows
    subsets = ("memory", "perplexity", "memory+perplexity")
    values = [printed[REPORTED_ROWS[subset]].accuracy for subset in subsets]
    n = int(st.reported_number(paper, "scenarios"))
    rates = np.array(values)
    deviation = float(np.sqrt((rates * (1 - rates) / n).sum()))
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * deviation
    surplus = values[2] - values[0] - values[1]
    majority = st.reported_number(paper, "scenarios_memory_hardware") / n
    bounds = (surplus - reach, surplus + reach)
    found = interaction(values, bounds, n, majority, "nothing")
    untested = pl.lit(None, pl.Float64)
    return found.with_columns(p=untested, feature_set=pl.lit(""), method=pl.lit(RULES))


def interaction(
    values: Sequence[float],
    bounds: tuple[float, float] | None,
    n: int,
    majority: float,
    own: Baseline,
) -> pl.DataFrame:
    """Accuracies of the parts and of both, and the surplus, which a baseline shifts."""
    first, second, both = values
    surplus = both - first - second
    low, high = bounds or (surplus, surplus)
    baselines = {"nothing": 0.0, "chance": 1 / len(st.CATEGORIES), "majority": majority}
    return pl.DataFrame(
        {
            "over": f"over_{name}",
            "baseline": baseline,
            "own": name == own,
            "first": first,
            "second": second,
            "both": both,
            "value": surplus + baseline,
            "ci_low": low + baseline,
            "ci_high": high + baseline,
            "n": n,
            "verdict": verdict(low + baseline, high + baseline),
        }
        for name, baseline in baselines.items()
    )


def verdict(low: float, high: float) -> str:
    """What an interval of the interaction shows."""
    if low > st.ROUNDING:
        return "superadditive"
    return "subadditive" if high < -st.ROUNDING else "not shown"


def subset_label(subset: str) -> str:
    if subset.startswith("without_"):
        return f"without {st.GROUP_LABELS[subset.removeprefix('without_')]}"
    return " + ".join(st.GROUP_LABELS[group] for group in subset.split("+"))


def kept_subsets(points: pl.DataFrame) -> list[str]:
    """The subsets that keep groups, in the order of the groups; all signals come last."""
    names = {name for name in points["subset"] if not name.startswith("without_")} - {st.ALL_GROUPS}

    def position(subset: str) -> tuple[int, list[int]]:
        groups = subset.split("+")
        return len(groups), [st.SIGNAL_GROUPS.index(group) for group in groups]

    return [*sorted(names, key=position), st.ALL_GROUPS]


LEFT_OUT = [*(f"without_{group}" for group in st.SIGNAL_GROUPS), st.ALL_GROUPS]


def with_differences(points: pl.DataFrame, paper: st.Reported) -> st.Estimates:
    """Differences and their tests as rows of their own, and the paper's beside both readings."""
    bounds = {"ci_low": "difference_low", "ci_high": "difference_high"}
    rows = {"less_all": {"value": "difference", **bounds}}
    for name in ("p_holm", "smallest_margin", "detectable_difference"):
        rows[name] = {"value": name}
    accuracy = points.filter(metric="accuracy")
    parts = [
        accuracy.select(*KEYS[:3], pl.lit(name).alias("metric"), **columns)
        for name, columns in rows.items()
    ]
    found = st.Estimates(pl.concat([points, *parts], how="diagonal_relaxed"))
    for subset, name in REPORTED_ROWS.items():
        row = paper.tables.ablation.rows[name]
        values = {"reported_accuracy": row.accuracy}
        values |= {} if row.drop is None else {"reported_drop": row.drop}
        for method in (RULES, REDUCED):
            keys = {"feature_set": st.PRIMARY_SET, "method": method, "subset": subset}
            found = found.plus(*st.reported(keys=keys, **values))
    return found


def tables(found: st.Estimates, said: st.Captions) -> Iterator[st.Table]:
    """With some groups of signals only, and without one group."""
    accuracy = found.where(metric="accuracy").frame
    known = set(accuracy.select(KEYS[:3]).iter_rows())

    def body(subsets: Sequence[str]) -> list[st.Row]:
        return [
            st.Row((*labels, subset_label(subset)), dict(zip(KEYS[:3], key, strict=True)))
            for variant, labels in VARIANTS.items()
            for subset in subsets
            if (key := (*variant, subset)) in known
        ]

    yield st.table("ablation", found, None, body(kept_subsets(accuracy)), said)
    yield st.table("ablation_left_out", found, None, body(LEFT_OUT), said)


def surplus_table(surplus: pl.DataFrame, parts: Sequence[str], said: st.Captions) -> st.Table:
    """A row per method; the verdict stands where the baseline is the method's own."""
    body = []
    for variant, texts in {("", RULES): PRINTED, **VARIANTS}.items():
        over = surplus.filter(feature_set=variant[0], method=variant[1]).to_dicts()
        accuracies = [st.percent(over[0][name]) for name in ("first", "second", "both")]
        cells = [
            st.estimate_text(row, "points") + (f", {row['verdict']}" if row["own"] else "")
            for row in over
        ]
        body.append((*texts, *accuracies, *cells, str(over[0]["n"])))
    # the baselines of the last row are measured, as the headings are
    baselines = [
        f"{row['over'].removeprefix('over_').capitalize()} ({st.percent(row['baseline'])})"
        for row in over
    ]
    columns = [
        *map(st.Text, ("Method", "Features")),
        *(st.Column(st.GROUP_LABELS[part].capitalize(), "accuracy") for part in parts),
        st.Column("Both", "accuracy"),
        *(st.Column(baseline, "surplus over") for baseline in baselines),
        st.Column("n"),
    ]
    return st.sheet("superadditivity", body, said, columns=columns)


def draw(accuracy: pl.DataFrame, paper: st.Reported, figure: Figure) -> None:
    """Accuracy with each subset of the signals, the original's beside it."""
    drawn = accuracy.with_columns(
        row="subset", mark=pl.concat_str("feature_set", "method", separator="/")
    )
    marks = {}
    for (feature_set, method), labels in VARIANTS.items():
        if method != REDUCED:
            mark = replace(st.METHOD_STYLES[method], label=", ".join(labels))
            halved = replace(mark, fill="left", size=st.HALF_SIZE)
            marks[f"{feature_set}/{method}"] = mark if feature_set == st.PRIMARY_SET else halved
    left, right = figure.subplots(1, 2, sharex=True)
    kept = kept_subsets(drawn)
    panels = (left, kept, "these signals only"), (right, LEFT_OUT, "all signals but one group")
    chance = 100 / len(st.CATEGORIES)
    for axes, subsets, title in panels:
        axes.axvline(chance, color=st.GREY, linewidth=0.8, linestyle=":")
        # the last row has all signals, which the others lack
        rows = {name: subset_label(name) for name in subsets}
        st.dot_plot(axes, drawn, rows, marks, heavy_above=subsets[-1:])
        axes.set_title(title)
    left.set_xlim(-3, 100)
    for position, subset in enumerate(kept):
        if subset in REPORTED_ROWS:
            printed = paper.tables.ablation.rows[REPORTED_ROWS[subset]].accuracy
            left.plot(100 * printed, position, **st.REPORTED.look)
    sizes = " or ".join(str(n) for n in drawn["n"].unique().sort())
    figure.supxlabel(f"accuracy, percent of n = {sizes} scenarios, with interval")
    handles = [
        *(mark.handle for mark in marks.values()),
        replace(st.REPORTED, label="Improved rules, reported").handle,
        Line2D([], [], color=st.GREY, linestyle=":", label=f"chance, {chance:g} %"),
    ]
    st.legend_outside(figure, handles, columns=2)


def numbers(
    accuracy: pl.DataFrame, importance: pl.DataFrame, parts: Sequence[str]
) -> dict[str, object]:
    replaced = importance.filter(
        feature_set="19+keywords+trend", method=FOREST, kind="group", name=st.ERROR_TEXT_SIGNAL
    )
    forest = accuracy.filter(feature_set=st.PRIMARY_SET, method=FOREST)
    values = dict(forest.select("subset", "value").iter_rows())
    without = {name: value for name, value in values.items() if name.startswith("without_")}
    costliest = min(without, key=lambda name: (without[name], name))
    first, second = (st.GROUP_LABELS[part] for part in parts)
    return {
        "first": first,
        "second": second,
        "tests": accuracy.filter(method=RULES)["subset"].n_unique() - 1,
        "replaced": -replaced["value"].item(),
        "costliest": subset_label(costliest),
        "least": without[costliest],
    }


def main() -> None:
    settings = st.read_with_statistics("ablation", AblationSettings)
    predictions = st.read_outputs(PREDICTIONS, METHODS, ABLATION_SCHEMA)
    importance, paper = st.read_points(IMPORTANCE, IMPORTANCE_SCHEMA), st.read_reported()
    ordered = predictions.sort("feature_set", "method", "subset", "repeat", "fold", "run_id")
    groups = ordered.group_by("feature_set", "method", maintain_order=True)
    tasks = [(part, str(name), str(method), settings) for (name, method), part in groups]
    rates, compared, surplus = zip(*st.parallel_map(variant, tasks, st.workers()), strict=True)
    points = pl.concat(rates, how="vertical_relaxed")
    measured, printed = pl.concat(surplus), reported_interaction(paper, settings.confidence)
    differences: dict[str, dict[str, object]] = {}
    for (_, feature_set, method, _), each in zip(tasks, compared, strict=True):
        differences.setdefault(feature_set, {})[method] = each
    found = with_differences(points, paper)
    accuracy = points.filter(metric="accuracy")
    named = numbers(accuracy, importance, settings.superadditive)
    said = st.Captions.read("ablation", settings, paper, found.nested(*KEYS), named)
    height = 0.85 + 0.31 * max(len(kept_subsets(accuracy)), len(LEFT_OUT))
    st.publish(
        "ablation",
        metrics={
            "rates": st.nest(points, *KEYS),
            "less_all": differences,
            "interaction": {
                "measured": st.nest(measured, "feature_set", "method", "over", leaves=LEAVES),
                "reported": st.nest(printed, "over", leaves=LEAVES),
            },
        },
        points=st.rounded(points),
        tables=[
            *tables(found, said),
            surplus_table(pl.concat([printed, measured]), settings.superadditive, said),
        ],
        figures={"ablation": said.picture("figure", height, partial(draw, accuracy, paper))},
        summary=accuracy.select(*KEYS[:3], "value", "ci_low", "ci_high", "p_holm", "n"),
    )


if __name__ == "__main__":
    st.run(main)
