"""Stage unknown_anatomy: what is answered to unknown scenarios, and what would settle them.

The paper's section 6.12 names what was not measured: waits for input and output, swap activity and
other knowledge of the system. That is not recorded here either. What is recorded beyond the
features, the seconds of each step and the way a run ended, is added to them, to see what such a
claim is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from failbench import study as st
from failbench.base.slices import PARTNER_SCHEMA
from recordings import read_scenarios_of
from shared.unknown_anatomy import ADDED, MEASURED_SETS, UNKNOWN, UnknownAnatomyDesign

FOREST = Path("data/predictions/unknown_anatomy/random_forest.parquet")
MEASUREMENTS = Path("data/measurements/unknown_anatomy")
SCENARIOS = Path("data/scenarios")

KEYS = ("group", "metric")
MEASURED = "measured"
"""What stands in the place of a feature set where feature sets stand in that of methods."""

SET_LABELS = {name: st.words(name).replace("+", " + ") for name in MEASURED_SETS}
LETTERS = dict(zip((*st.CATEGORIES, st.ABSTAIN), "MODSUa", strict=True))
CONFLICTING = ("activations_paged_exponentially", "weights_paged_exponentially")
"""Unknown scenarios that docs/categories.md would place elsewhere."""

ARBITRARY = ("reads_slow_exponentially",)
"""Unknown by a convention that could have been another."""

REPORTED_CASES = 8
"""Unknown cases of the paper."""


def estimates(
    answers: pl.DataFrame, forest: pl.DataFrame, settings: st.StatisticsSettings
) -> Iterator[pl.DataFrame]:
    """Every method on unknown scenarios, and a forest with more to go by or less."""
    for (method,), part in answers.sort("method").group_by("method", maintain_order=True):
        yield from of_method(part, settings, f"method_{method}")
    for name in MEASURED_SETS:
        part, group = forest.filter(feature_set=name), f"forest_{name}"
        yield st.of_scenarios(part, (st.METRICS["accuracy"],), settings, group=group)
        yield unknown_rate(part, st.right(), settings, group=group, metric="recall_unknown")


def of_method(
    predictions: pl.DataFrame, settings: st.ScenarioIntervalSettings, group: str
) -> Iterator[pl.DataFrame]:
    """How one method does on unknown scenarios, and whether it knows that it does not know."""
    unknown = pl.col("category") == UNKNOWN
    parts = {"entropy_unknown": unknown, "entropy_labelled": ~unknown}
    entropies = {name: pl.when(each).then(st.entropy()) for name, each in parts.items()}
    figures = tuple(
        st.ValueMetric(name, st.over_scenarios(predictions, each), "entropy")
        for name, each in entropies.items()
    )
    names = predictions.group_by("scenario").agg(pl.col("category").first())
    sizes = {name: names.filter(each).height for name, each in parts.items()}
    rate = partial(unknown_rate, predictions, settings=settings, group=group)
    yield rate(st.right(), metric="recall")
    yield rate(pl.col("prediction") == st.ABSTAIN, metric="abstained")
    found = st.of_scenarios(predictions, (), settings, figures, group=group)
    yield found.with_columns(n=pl.col("metric").replace_strict(sizes))
    area = st.separation(predictions, st.entropy(), UNKNOWN, settings)
    yield st.estimate_rows({"separation": area}, group=group)


def unknown_rate(
    predictions: pl.DataFrame, happened: pl.Expr, settings: st.ScenarioIntervalSettings, **keys: str
) -> pl.DataFrame:
    """A rate over the few unknown scenarios, each by its share, with Wilson's interval."""
    unknown = predictions.filter(category=UNKNOWN)
    share = st.wilson_share(unknown, happened, "scenario", settings.confidence)
    return pl.DataFrame([keys | share])


def contrasts(forest: pl.DataFrame, settings: st.StatisticsSettings) -> Sequence[st.Comparison]:
    """Each larger feature set, in the place of a method, less the paper's; Holm's is over them."""
    renamed = forest.with_columns(method=pl.col("feature_set"), feature_set=pl.lit(MEASURED))
    pairs = tuple((name, st.PRIMARY_SET) for name in ADDED)
    return st.compare_all(renamed, settings.named(MEASURED, pairs))


def added(found: Sequence[st.Comparison]) -> pl.DataFrame:
    """Differences in accuracy; a point where all resamples agree, which hides the spread."""
    group, metric = pl.format("added_{}", "left").alias("group"), pl.lit("accuracy").alias("metric")
    bounds = pl.col("ci_low", "ci_high").fill_null(pl.col("value"))
    differences = st.of_differences(found).filter(metric="difference")
    return differences.select(group, metric, "value", bounds, "n")


def gains(forest: pl.DataFrame, found: Sequence[st.Comparison]) -> Iterator[dict[str, Any]]:
    """What each measurement changes, with tests over unknown scenarios and over all of them."""
    unknown = forest.filter(category=UNKNOWN)
    shares = unknown.group_by("scenario", "feature_set").agg(share=st.right().mean())
    wide = shares.pivot("feature_set", index="scenario", values="share")
    for each in found:
        signs = st.sign_test((wide[each.left] - wide[st.PRIMARY_SET]).to_numpy())
        for metric, value in zip(("better", "worse", "p_signs"), signs, strict=True):
            yield {"group": f"forest_{each.left}", "metric": metric, "value": float(value)}
    tested = st.of_differences(found).with_columns(group=pl.format("forest_{}", "left"))
    yield from tested.select("group", "metric", "value", "ci_low", "ci_high").to_dicts()


def answers_to_unknown(predictions: pl.DataFrame) -> pl.DataFrame:
    """The answer that each method gives most often to each unknown scenario."""
    unknown = predictions.filter(category=UNKNOWN)
    if unknown.is_empty():
        problem = "there is no unknown scenario."
        raise st.BadInputError("predictions", "category", problem, "Predict all scenarios.")
    keys = ("scenario", "method")
    most = pl.col("prediction").mode().sort().first()
    shares = {"share": pl.col("prediction") == most, "right": st.right(), "entropy": st.entropy()}
    given = unknown.group_by(keys)
    return given.agg(answer=most, **{name: each.mean() for name, each in shares.items()}).sort(keys)


def points_of(scenarios: Sequence[st.Scenario], forest: pl.DataFrame) -> pl.DataFrame:
    """What a forest makes of the unknown scenarios, by why they are unknown."""
    why = [(each.ambiguity, each.id) for each in scenarios if each.ambiguity is not None]
    kinds = pl.DataFrame(why, ["ambiguity", "scenario"], orient="row")
    unknown = forest.filter(category=UNKNOWN).group_by("feature_set", "scenario")
    probabilities = pl.col([f"p_{category}" for category in st.CATEGORIES]).mean()
    posteriors = unknown.agg(probabilities, right=st.right().mean(), entropy=st.entropy().mean())
    joined = kinds.join(posteriors, on="scenario")
    keys = ("ambiguity", "scenario", "feature_set")
    return joined.select(*keys, pl.exclude(keys)).sort(keys)


def numbers(
    points: pl.DataFrame, found: Sequence[st.Comparison], repeats: int, alpha: float
) -> dict[str, object]:
    kinds = points.select("scenario", "ambiguity").unique()
    called = points.filter(pl.col("right") > 0.5)
    shares = kinds.group_by("ambiguity").agg(pl.len() / kinds.height)
    return {
        "unknown": kinds.height,
        "scenarios": found[0].n,
        "folds": found[0].folds // repeats,
        "fewest": st.fewest_signs(kinds.height, alpha) or "all",
        "here": dict(shares.iter_rows()),
        "called": {name: called.filter(feature_set=name).height for name in PANELS},
        "conflicts": len(CONFLICTING),
        "conflicting": ", ".join(map(st.words, CONFLICTING)),
        "conventions": len(ARBITRARY),
        "arbitrary": ", ".join(map(st.words, ARBITRARY)),
        "reported_cases": REPORTED_CASES,
    }


def tables(
    found: st.Estimates,
    answers: pl.DataFrame,
    points: pl.DataFrame,
    neighbours: pl.DataFrame,
    partners: pl.DataFrame,
    paper: st.Reported,
    said: st.Captions,
) -> Iterator[st.Table]:
    """What is answered to unknown scenarios, what they look like, and what would settle them."""
    methods = st.in_label_order(answers["method"])
    scenarios = points.select("scenario", "ambiguity").unique(maintain_order=True).rows()
    named = {
        (each["scenario"], each["method"]): f"{LETTERS[each['answer']]} {100 * each['share']:.0f}"
        for each in answers.to_dicts()
    }
    columns = [st.Text("Scenario"), *(st.Text(st.method_label(method)) for method in methods)]
    rows = [
        (st.words(scenario), *(named[scenario, method] for method in methods))
        for scenario, _ in scenarios
    ]
    notes = st.development_note(methods)
    yield st.sheet("unknown_answers", rows, said, *notes, columns=columns)

    number = partial(st.reported_number, paper)
    recognised = {
        "improved_rules": REPORTED_CASES - number("unknown_assigned"),
        "mistral_7b": number("unknown_right_mistral"),
        "llama_3_8b": number("unknown_right_llama"),
    }
    reported = {name: f"{count:.0f} of {REPORTED_CASES}" for name, count in recognised.items()}
    body = []
    for name in st.in_label_order((*methods, *recognised)):
        texts = (st.method_label(name), reported.get(name, st.ABSENT))
        body.append(st.Row(texts, {"group": f"method_{name}"}))
    yield st.table("unknown_methods", found, None, body, said, *notes)

    told = st.Estimates(points.select(group="scenario", metric="feature_set", value="right"))
    # what would settle it and is not recorded, and what is instead
    settling = said.labels("unknown_scenarios")
    body = [
        st.Row((st.words(scenario), st.words(kind), *settling[kind]), {"group": scenario})
        for scenario, kind in scenarios
    ]
    yield st.table("unknown_scenarios", told, None, body, said)

    near, alike = ({name: list[str]() for name, _ in scenarios} for _ in range(2))
    for each in neighbours.sort("rank").to_dicts():
        place = f"{LETTERS[each['neighbour_category']]}, {each['distance']:.2f}"
        near[each["scenario"]].append(f"{st.words(each['neighbour'])} ({place})")
    for each in partners.to_dicts():
        letter = LETTERS[each["partner_category"]]
        alike[each["scenario"]].append(f"{st.words(each['partner'])} ({letter})")
    rows = [
        (st.words(name), ", ".join(near[name]), ", ".join(alike[name]) or st.ABSENT)
        for name, _ in scenarios
    ]
    yield st.sheet("unknown_neighbours", rows, said)

    body = st.rows("group", {f"forest_{name}": label for name, label in SET_LABELS.items()})
    yield st.table("unknown_measurements", found, None, body, said)


PANELS = {"19": "19 features", "19+both": "with step times and ending"}
"""Feature sets that have a panel each, with its title."""

BAR = 0.62
"""Height of a bar, in rows."""


def draw(points: pl.DataFrame, figure: Figure) -> None:
    """Mean probabilities of the categories, a bar per scenario: without and with measurements."""
    panels = figure.subplots(1, len(PANELS), sharex=True, sharey=True)
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        draw_panel(axes, points.filter(feature_set=name))
        axes.set_title(title)
    panels[0].set_xlim(0, 100)
    figure.supxlabel(f"mean probability, percent (n = {points['scenario'].n_unique()} scenarios)")
    handles = [Patch(**look(category), label=st.words(category)) for category in st.CATEGORIES]
    st.legend_outside(figure, handles, columns=5, handlelength=1.4)


def draw_panel(axes: Axes, points: pl.DataFrame) -> None:
    ticks, top = {}, 0.0
    for (ambiguity,), group in points.group_by("ambiguity", maintain_order=True):
        axes.text(0.0, top, st.words(str(ambiguity)), style="italic", va="center")
        top += 0.75
        for row in group.to_dicts():
            shares = 100 * np.array([row[f"p_{category}"] for category in st.CATEGORIES])
            starts = np.concatenate([[0.0], shares.cumsum()[:-1]])
            for category, start, share in zip(st.CATEGORIES, starts, shares, strict=True):
                axes.barh(top, share, height=BAR, left=start, **look(category))
            axes.text(101, top, f"{100 * row['right']:.0f}", va="center", clip_on=False)
            ticks[top] = st.words(row["scenario"])
            top += 1
    axes.text(101, 0.0, "answered\nunknown, %", va="center", clip_on=False)
    axes.set_yticks([*ticks], [*ticks.values()])
    axes.set_ylim(top - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def look(category: st.Category) -> dict[str, Any]:
    """How a category is filled; what is right is hatched, for eyes and printers without colours."""
    hatch = "////" if category == UNKNOWN else None
    filled = {"facecolor": st.CATEGORY_COLOURS[category], "hatch": hatch}
    return {**filled, "edgecolor": "white", "linewidth": 0.4}


def main() -> None:
    design = st.read_section("unknown_anatomy", UnknownAnatomyDesign)
    settings = st.read_statistics(st.StatisticsSettings)
    predictions, paper = st.read_main_study(), st.read_reported()
    forest = st.read_output(FOREST, st.PREDICTION_SCHEMA)
    neighbours = st.read_output(MEASUREMENTS / "neighbours.parquet", st.NEIGHBOUR_SCHEMA)
    partners = st.read_output(MEASUREMENTS / "partners.parquet", PARTNER_SCHEMA)
    scenarios = read_scenarios_of(predictions, SCENARIOS)
    is_counted = ~pl.col("method").is_in(design.left_out)
    counted = predictions.filter(is_counted, feature_set=st.PRIMARY_SET)
    if counted.is_empty():
        problem = "leaves no method."
        remedy = "Leave out simulations of people and hybrids alone."
        raise st.BadInputError("params.yaml", "unknown_anatomy.left_out", problem, remedy)
    answers = answers_to_unknown(counted)
    compared = contrasts(forest, settings)
    parts = [*estimates(counted, forest, settings), added(compared)]
    measured = pl.concat(parts, how="diagonal_relaxed")
    found = st.Estimates(measured).plus(*gains(forest, compared))
    points = st.rounded(points_of(scenarios, forest))
    named = numbers(points, compared, design.repeats, 1 - settings.confidence)
    said = st.Captions.read("unknown_anatomy", design, settings, paper, named)
    groups = points["ambiguity"].n_unique()
    height = 0.75 + 0.3 * (points["scenario"].n_unique() + 0.6 * groups)
    st.publish_estimates(
        "unknown_anatomy",
        measured,
        KEYS,
        points={"unknown_anatomy": points, "unknown_answers": answers},
        tables=tables(found, answers, points, neighbours, partners, paper, said),
        figures={"unknown_anatomy": said.picture("figure", height, partial(draw, points))},
    )


if __name__ == "__main__":
    st.run(main)
