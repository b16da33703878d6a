"""Stage importance: signals that two classifiers use, and shape functions of the glassbox."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator, SymmetricalLogLocator
from scipy import stats

from failbench import study as st
from failbench.features.catalogue import FEATURES
from shared import importance as design
from shared.importance import ImportanceDesign

PREDICTIONS = Path("data/predictions/importance")
ABLATION = Path("data/predictions/ablation/random_forest.parquet")
MEASUREMENTS = Path("data/measurements/importance")
ABLATION_SCHEMA = pl.Schema({**st.PREDICTION_SCHEMA, "subset": pl.String()})

FIT = ("feature_set", "method", "repeat", "fold")
UNIT = ("feature_set", "method", "kind", "name")
KEYS = ("feature_set", "method", "kinds", "name", "metric")
SUMMARY = ("feature_set", "method", "name", "value", "ci_low", "ci_high", "share", "own", "n")
SET_LABELS = {design.TABLE_SIX: "19 + keywords + trend", st.PRIMARY_SET: "19"}
"""Feature sets in the order of the table."""

INTACT = "nothing"
"""The kind under which intact runs stand beside those with a unit replaced."""

LEADING = 10
"""Features whose common share the paper gives (its Figure 3)."""

LEADING_FLAGS = 20
"""Flags of the table of what the monitor knows, which has many more."""

Printed = Mapping[str, st.ReportedImportance]
"""What the paper prints of each group of signals."""


class ImportanceSettings(ImportanceDesign, st.BootstrapSettings):
    """How signals are replaced, and how scenarios are resampled."""


def answers(
    predictions: pl.DataFrame, replacements: pl.DataFrame, source: design.Source
) -> pl.DataFrame:
    """How far each held-out run is right: intact, and with each unit replaced from one source."""
    correct = st.right().cast(pl.Float64)
    intact = predictions.with_columns(kind=pl.lit(INTACT), name=pl.lit(""), correct=correct)
    columns = (*FIT, "kind", "name", "run_id", "scenario", "category", "correct")
    replaced = replacements.filter(pl.col("source") == source)
    return pl.concat([intact.select(columns), replaced.select(columns)])


def importance(
    correct: pl.DataFrame, built_in: pl.DataFrame, settings: ImportanceSettings
) -> pl.DataFrame:
    """Drops and shares per feature set, method and unit: a feature, or a group of features."""
    found = st.of_groups(correct, ("feature_set", "method"), partial(drops, settings=settings))
    positive = pl.col("value").clip(lower_bound=0)
    total = positive.sum().over("feature_set", "method", "kind")
    own = own_shares(built_in)
    return found.join(own, on=UNIT, how="left", maintain_order="left").with_columns(
        share=pl.when(total > 0).then(positive / total)
    )


def drops(
    correct: pl.DataFrame, feature_set: str, method: str, settings: ImportanceSettings
) -> pl.DataFrame:
    """What replacing costs, of each feature in the order of its groups, and then of each group."""
    # units take the place of methods in what compares methods, and the runs of a scenario are its
    # seeds, as there is a single architecture
    scores = st.paired_shares(
        correct.with_columns(method=pl.format("{}:{}", "kind", "name"), seed="run_id")
    )
    intact = f"{INTACT}:"
    features = correct.filter(kind="feature")["name"].unique().sort()
    members = design.groups_of(features.to_list())
    units = {("feature", name): group for group, names in members.items() for name in names}
    units |= {("group", group): group for group in members}
    labels = [f"{kind}:{name}" for kind, name in units]
    pairs = [(intact, label) for label in labels]
    bounds = st.difference_bounds(scores, pairs, settings)
    accuracy = scores.scenario_scores(intact).mean()
    rows = []
    for ((kind, name), group), label, bound in zip(units.items(), labels, bounds, strict=True):
        value = float(accuracy - scores.scenario_scores(label).mean())
        unit = (feature_set, method, kind, name, group, float(accuracy))
        rows.append((*unit, value, *(bound or (value, value)), scores.n))
    return pl.DataFrame(rows, schema=[*UNIT, "group", "accuracy", *st.ESTIMATE], orient="row")


def own_shares(built_in: pl.DataFrame) -> pl.DataFrame:
    """Mean and spread over fits of each method's built-in importances, by feature and by group."""
    members = design.groups_of(built_in["feature"].unique().sort().to_list())
    groups = {name: group for group, names in members.items() for name in names}
    shares = built_in.with_columns(
        share=pl.col("value") / pl.col("value").sum().over(FIT),
        group=pl.col("feature").replace_strict(groups, return_dtype=pl.String),
    )
    sums = pl.col("share", "value").sum()
    by_group = shares.group_by(*FIT, "group", maintain_order=True).agg(sums)
    share, own_raw = pl.col("share"), pl.col("value").mean()
    fits = pl.len().cast(pl.Int64)
    return pl.concat(
        part.group_by(*UNIT[:2], kind=pl.lit(kind), name=kind).agg(
            own=share.mean(), own_sd=share.std(), own_raw=own_raw, fits=fits
        )
        for kind, part in {"feature": shares, "group": by_group}.items()
    )


def source_agreement(
    predictions: pl.DataFrame, replacements: pl.DataFrame
) -> dict[str, dict[str, dict[str, float]]]:
    """How much it matters where the values that replace a feature come from."""

    def drops_of(source: design.Source) -> pl.DataFrame:
        """The drop of each unit, without intervals."""
        mean, is_intact = pl.col("correct").mean(), pl.col("kind") == INTACT
        correct = answers(predictions, replacements, source)
        by_scenario = correct.group_by(*UNIT, "scenario", maintain_order=True).agg(mean)
        accuracies = by_scenario.group_by(UNIT, maintain_order=True).agg(mean)
        intact = accuracies.filter(is_intact).drop("kind", "name")
        both = accuracies.filter(~is_intact).join(intact, on=UNIT[:2], suffix="_intact")
        return both.select(*UNIT, drop=pl.col("correct_intact") - pl.col("correct"))

    first, second = map(drops_of, design.SOURCES)
    tested = float(predictions.group_by(FIT).len()["len"].to_numpy().mean())
    nested: dict[str, dict[str, dict[str, float]]] = {}
    both = first.join(second, on=UNIT, suffix="_test").sort(UNIT)
    for (feature_set, method), units in both.group_by("feature_set", "method", maintain_order=True):
        features = units.filter(kind="feature")
        training, test = features["drop"].to_numpy(), features["drop_test"].to_numpy()
        largest = (units["drop"] - units["drop_test"]).abs().to_numpy().max()
        nested.setdefault(str(feature_set), {})[str(method)] = {
            "rank_correlation": float(stats.spearmanr(training, test).statistic),
            "ratio": float(test.sum()) / float(training.sum()),
            "largest_difference": float(largest),
            "tested": tested,
            "n": features.height,
        }
    return nested


def leading_share(built_in: pl.DataFrame, feature_set: str) -> dict[str, float]:
    """Share of the forest's built-in importance in its leading features, fit by fit."""
    fits = built_in.filter(feature_set=feature_set, method="random_forest")
    shares = [
        np.sort(fit["value"].to_numpy())[::-1][:LEADING].sum() / fit["value"].sum()
        for _, fit in fits.group_by("repeat", "fold", maintain_order=True)
    ]
    value, sd = float(np.mean(shares)), float(np.std(shares, ddof=1))
    return {"value": value, "sd": sd, "fits": len(shares), "features": LEADING}


def removal(ablation: pl.DataFrame) -> float:
    """What a forest that never had the error text lacks, and learns from other signals instead."""
    right = st.right().cast(pl.Float64).mean()
    by_scenario = ablation.group_by("subset", "scenario").agg(right=right)
    by_subset = by_scenario.group_by("subset").agg(pl.col("right").mean())
    accuracies = dict(by_subset.iter_rows())
    return float(accuracies[f"without_{st.ERROR_TEXT_SIGNAL}"] - accuracies[st.ALL_GROUPS])


def long(units: pl.DataFrame) -> pl.DataFrame:
    """Drops, shares of the drops, and built-in shares as rows of their own."""
    keyed = units.with_columns(kinds=pl.col("kind") + "s")
    keys = KEYS[:4]
    return pl.concat(
        [
            keyed.select(*keys, *st.ESTIMATE, metric=pl.lit("drop")),
            keyed.select(*keys, "fits", metric=pl.lit("own_share"), value="own", sd="own_sd"),
            keyed.drop_nulls("share").select(*keys, metric=pl.lit("share_of_drops"), value="share"),
        ],
        how="diagonal",
    )


def tables(units: pl.DataFrame, printed: Printed, said: st.Captions) -> Iterator[st.Table]:
    """Importance by group, by feature, and of what the monitor knows where that was asked."""
    found = st.Estimates(long(units))

    def keyed(feature_set: str, kind: str) -> list[tuple[str, str, dict[str, str]]]:
        """Name, group and keys of each row."""
        rows = units.filter(feature_set=feature_set, kind=kind).select("name", "group")
        keys = {"feature_set": feature_set, "kinds": f"{kind}s"}
        unique = rows.unique(maintain_order=True).iter_rows()
        return [(name, group, {**keys, "name": name}) for name, group in unique]

    shares = {
        (design.TABLE_SIX, name): st.percent(row.share)
        if row.share is not None
        else f"below {st.percent(row.share_below or 0.0)}"
        for name, row in printed.items()
    }
    groups = [
        st.Row((label, st.GROUP_LABELS[name], shares.get((feature_set, name), st.ABSENT)), keys)
        for feature_set, label in SET_LABELS.items()
        for name, _, keys in keyed(feature_set, "group")
    ]
    yield st.table("importance", found, None, groups, said)
    parts = {name: st.percent(part) for row in printed.values() for name, part in row.parts.items()}
    features = [
        st.Row((name, parts.get(name, st.ABSENT), st.GROUP_LABELS[group]), keys)
        for name, group, keys in keyed(design.TABLE_SIX, "feature")
    ]
    yield st.table("importance_features", found, None, features, said)
    flags = units.filter(feature_set=design.KNOWN_SET, kind="feature")
    asked = [name for name in design.ON_KNOWN if name in set(flags["method"])]
    if not asked:
        return
    ranked = flags.group_by("name").agg(pl.col("value").max())
    ranked = ranked.sort("value", "name", descending=[True, False]).head(LEADING_FLAGS)
    place = {name: number for number, name in enumerate(ranked["name"])}
    leading = [each for each in keyed(design.KNOWN_SET, "feature") if each[0] in place]
    leading.sort(key=lambda each: place[each[0]])
    declared = st.columns_of("importance_invariants", said)
    heads = [each for each in declared if isinstance(each, st.Text) or each.keys["method"] in asked]
    shown = (*keyed(design.KNOWN_SET, "group"), *leading)
    body = [st.Row((st.words(name),), keys) for name, _, keys in shown]
    heads.append(st.n_of("drop", method=asked[0]))
    yield st.table("importance_invariants", found, heads, body, said, *st.development_note(asked))


FOREST = st.METHOD_STYLES["random_forest"]


def draw(units: pl.DataFrame, rows: Mapping[str, str], printed: Printed, figure: Figure) -> None:
    """Shares of the groups beside the original's, and the drop in accuracy by feature."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    forest = units.filter(feature_set=design.TABLE_SIX, method="random_forest")
    draw_shares(left, forest.filter(kind="group"), printed)
    row = pl.concat_str("kind", "name", separator="/")
    drawn = forest.with_columns(row=row, mark=pl.lit("measured"))
    right.axvline(0, color=st.BLACK, linewidth=0.6)
    st.dot_plot(right, drawn, rows, {"measured": FOREST})
    right.set_xlabel(f"drop in accuracy, points (n = {drawn['n'][0]})")
    right.set_title("by feature")
    label = f"{FOREST.label}, on {SET_LABELS[design.TABLE_SIX]} features"
    st.legend_outside(figure, (replace(FOREST, label=label), st.REPORTED), columns=2)


def draw_shares(axes: Axes, groups: pl.DataFrame, printed: Printed) -> None:
    """The groups in the original's order; an interval is the drop's, over the sum of all drops."""
    names = [name for name in printed if name in set(groups["name"])]
    names += [name for name in st.SIGNAL_GROUPS if name in set(groups["name"]) - set(names)]
    bounds = ("ci_low", "ci_high")
    of_drop = {name: pl.col("share") * pl.col(name) / pl.col("value") for name in bounds}
    measured = groups.filter(pl.col("value") != 0).select(
        row="name", value="share", mark=pl.lit("measured"), **of_drop
    )
    stated = [(name, printed[name].share, "reported") for name in names if name in printed]
    shares = pl.DataFrame(stated, ["row", "value", "mark"], orient="row")
    marks = {"measured": FOREST, "reported": st.REPORTED}
    points = pl.concat([measured, shares.drop_nulls("value")], how="diagonal")
    st.dot_plot(axes, points, {name: st.GROUP_LABELS[name] for name in names}, marks, spread=0.0)
    for position, name in enumerate(names):
        if name in printed and (bound := printed[name].share_below) is not None:
            text, at = f"reported: below {100 * bound:g}", ("axes fraction", "data")
            axes.annotate(text, (1.0, position), xycoords=at, ha="right", va="center")
    axes.set_xlim(left=-2)
    axes.set(xlabel="share of the drops, percent", title="by group of signals")


ACROSS = 3
"""Panels of shapes side by side."""

WIDE_RANGE = 1000
"""A feature whose largest value is so many times the smallest, or the typical, gets logarithms."""

UNITS = {feature.name: "" if feature.unit == "1" else feature.unit for feature in FEATURES}
"""Units of features; a pure number has none."""

LOOKS: dict[st.Category, dict[str, Any]] = {
    category: {"color": colour, "linestyle": st.CATEGORY_LINES[category], "linewidth": st.THICK}
    for category, colour in st.CATEGORY_COLOURS.items()
}
"""Of the lines of categories."""


def draw_shapes(panels: Sequence[pl.DataFrame], figure: Figure) -> None:
    """What the leading terms of the boosting machine add to the score of each category."""
    lines = -(-len(panels) // ACROSS)
    grid = figure.subplots(lines, ACROSS, sharey=True, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        draw_shape(axes, panel)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    figure.supylabel("added to the score, logits")
    handles = [Line2D([], [], **look, label=st.words(name)) for name, look in LOOKS.items()]
    st.legend_outside(figure, handles, columns=5, handlelength=2.6)


def draw_shape(axes: Axes, panel: pl.DataFrame) -> None:
    for category in st.CATEGORIES:
        bins = panel.filter(category=category).sort("low")
        edges = np.array([*bins["low"], bins["high"][-1]])
        axes.stairs(bins["score"].to_numpy(), edges, baseline=None, **LOOKS[category])
    axes.axhline(0, color=st.BLACK, linewidth=st.THIN)
    scale(axes, np.array([*panel["low"], *panel["high"]]))
    name = panel["feature"][0]
    axes.set_title(f"{st.words(name)} ({panel['contribution'][0]:.2f})", fontsize=st.LEAST_TEXT)
    axes.set_xlabel(UNITS[name])


def scale(axes: Axes, edges: st.Array) -> None:
    """Give values that span decades a logarithmic axis, linear around zero where they cross it."""
    sizes = np.abs(edges[edges != 0])
    typical = float(np.median(sizes))
    if edges.min() > 0 and edges.max() / edges.min() > WIDE_RANGE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    elif edges.min() <= 0 and sizes.max() / typical > WIDE_RANGE:
        decade = float(10 ** np.round(np.log10(typical)))
        axes.set_xscale("symlog", linthresh=decade)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=100, linthresh=decade))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.set_xlim(edges.min() - decade, 2 * edges.max())
    elif set(edges) <= {0.0, 0.5, 1.0}:
        axes.set_xticks([0, 1])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))


def numbers(units: pl.DataFrame, printed: Printed) -> dict[str, object]:
    forest = units.filter(pl.col("share").is_not_null(), kind="group", method="random_forest")
    ranked = forest.sort("share", "name", descending=[True, False])
    beside, without = (
        dict(ranked.filter(feature_set=name).select("name", "value").iter_rows())
        for name in (design.TABLE_SIX, st.PRIMARY_SET)
    )
    substitute = max(without, key=lambda name: (without[name] - beside[name], name))
    shares = dict(ranked.filter(feature_set=design.TABLE_SIX).select("name", "share").iter_rows())
    stated = {name: row.share for name, row in printed.items() if row.share is not None}
    shared = [name for name in shares if name in stated]
    furthest = max(shared, key=lambda name: (abs(shares[name] - stated[name]), name))
    return {
        "fits": int(units["fits"][0]),
        "total": sum(row.share for row in printed.values() if row.share is not None),
        "below": next(row.share_below for row in printed.values() if row.share_below is not None),
        "parts": sum(printed["training_dynamics"].parts.values()),
        "beside": beside,
        "substitute": st.GROUP_LABELS[substitute],
        "substitute_without": without[substitute],
        "substitute_beside": beside[substitute],
        "leading": st.GROUP_LABELS[next(iter(shares))],
        "leads_there": max(stated, key=lambda name: stated[name]) == next(iter(shares)),
        "furthest": st.GROUP_LABELS[furthest],
        "furthest_share": shares[furthest],
        "furthest_stated": stated[furthest],
    }


def main() -> None:
    settings = st.read_with_statistics("importance", ImportanceSettings)
    asked = design.methods_asked(st.read_names("methods"))
    predictions = st.read_outputs(PREDICTIONS, asked, st.PREDICTION_SCHEMA)
    replacements = st.read_output(MEASUREMENTS / "replacements.parquet", design.REPLACEMENT_SCHEMA)
    built_in = st.read_output(MEASUREMENTS / "built_in.parquet", design.BUILT_IN_SCHEMA)
    shapes = st.read_output(MEASUREMENTS / "shapes.parquet", design.SHAPE_SCHEMA)
    with_text = st.read_output(ABLATION, ABLATION_SCHEMA).filter(feature_set="19+keywords")
    paper = st.read_reported()
    printed = {  # the paper has the group under another name
        st.ERROR_TEXT_SIGNAL if name == "error_keywords" else name: row
        for name, row in paper.tables.importance.rows.items()
    }
    units = importance(answers(predictions, replacements, settings.source), built_in, settings)
    metrics = {
        "importance": st.nest(long(units), *KEYS, leaves=(*st.ESTIMATE, "sd", "fits")),
        "sources": source_agreement(predictions, replacements),
        "leading_features": {
            name: leading_share(built_in, name) for name in design.IMPORTANCE_SETS
        },
    }
    panels = shapes.partition_by("rank", maintain_order=True)
    term = panels[0].row(0, named=True)
    tested = metrics["sources"][design.TABLE_SIX]["random_forest"]["tested"]
    named = {
        settings.source: True,
        "kept": 1 - 1 / tested,
        "removal": removal(with_text),
        "removal_repeats": with_text["repeat"].n_unique(),
        "term": st.words(term["feature"]).capitalize(),
        "contribution": term["contribution"],
        "runs": term["runs"],
        "panels": len(panels),
    }
    of_units = numbers(units, printed)
    said = st.Captions.read("importance", settings, paper, metrics, named, of_units)
    # features by group, and the keywords together
    told = pl.col("group") != st.ERROR_TEXT_SIGNAL
    features = units.filter(told, feature_set=design.TABLE_SIX, kind="feature")["name"]
    rows = {f"feature/{name}": st.words(name) for name in features.unique(maintain_order=True)}
    rows[f"group/{st.ERROR_TEXT_SIGNAL}"] = st.GROUP_LABELS[st.ERROR_TEXT_SIGNAL]
    height, shapes_height = 0.75 + 0.155 * len(rows), 0.3 + 1.45 * -(-len(panels) // ACROSS)
    draw_units, draw_terms = partial(draw, units, rows, printed), partial(draw_shapes, panels)
    st.publish(
        "importance",
        metrics=metrics,
        points={"importance": units, "ebm_shapes": shapes},
        # ends of bins are in the units of features, and some are below a rate's last decimal
        exact=("low", "high"),
        tables=tables(units, printed, said),
        figures={
            "importance": said.picture("importance_figure", height, draw_units),
            "ebm_shapes": said.picture("shapes_figure", shapes_height, draw_terms),
        },
        summary=units.filter(kind="group").select(SUMMARY),
    )


if __name__ == "__main__":
    st.run(main)
