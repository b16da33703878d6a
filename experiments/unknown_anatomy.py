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

from failbench.base.errors import BadInputError
from failbench.base.predictions import NEIGHBOUR_SCHEMA, PREDICTION_SCHEMA
from failbench.base.scenarios import Scenario
from failbench.base.slices import PARTNER_SCHEMA
from failbench.base.stage import read_output, read_section
from failbench.base.vocabulary import ABSTAIN, CATEGORIES, PRIMARY_SET, Category
from failbench.statistics.confidence import entropy, separation
from failbench.statistics.intervals import ScenarioIntervalSettings, estimate_rows, wilson
from failbench.statistics.metrics import METRICS, ValueMetric
from failbench.statistics.paired_tests import fewest_signs, sign_test
from failbench.statistics.scenario_values import over_scenarios, right
from failbench.statistics.settings import StatisticsSettings, read_statistics
from failbench.statistics.significance import Comparison, compare_all, contrasts_of
from failbench.study import (
    Captions,
    Estimates,
    Of,
    Row,
    Text,
    of_scenarios,
    publish_estimates,
    read_main_study,
    read_reported,
    rounded,
    rows,
    run,
    table,
)
from failbench.study.cells import ABSENT, words
from failbench.study.labels import in_label_order, method_label
from failbench.study.notes import development_note
from failbench.study.paper_numbers import Reported, reported_number
from failbench.study.picture import legend_outside
from failbench.study.plain_table import Table
from failbench.study.style import CATEGORY_COLOURS
from recordings import read_scenarios_of
from shared.unknown_anatomy import ADDED, MEASURED_SETS, UNKNOWN, UnknownAnatomyDesign

FOREST = Path("data/predictions/unknown_anatomy/random_forest.parquet")
MEASUREMENTS = Path("data/measurements/unknown_anatomy")
SCENARIOS = Path("data/scenarios")

KEYS = ("group", "metric")
MEASURED = "measured"
"""What stands in the place of a feature set where feature sets stand in that of methods."""

SET_LABELS = {
    "19": "19",
    "19+step_times": "19 + step times",
    "19+ending": "19 + ending",
    "19+both": "19 + both",
}
LETTERS = {
    "memory_hardware": "M",
    "optimization": "O",
    "data_pipeline": "D",
    "model_software": "S",
    UNKNOWN: "U",
    ABSTAIN: "a",
}
SETTLING = {
    "truly_ambiguous": ("kernel log, records of the scheduler", "how the run ended"),
    "insufficient_signal": ("waiting for input and output", "step times"),
    "conservative_labelling": ("swap activity", "step times"),
}
"""By why a scenario is unknown: what would settle it and is not recorded, and what is instead."""

CONFLICTING = ("activations_paged_exponentially", "weights_paged_exponentially")
"""Unknown scenarios that docs/categories.md would place elsewhere."""

ARBITRARY = ("reads_slow_exponentially",)
"""Unknown by a convention that could have been another."""

REPORTED_CASES = 8
"""Unknown cases of the paper."""


def estimates(
    answers: pl.DataFrame, forest: pl.DataFrame, settings: StatisticsSettings
) -> Iterator[pl.DataFrame]:
    """Every method on unknown scenarios, and a forest with more to go by or less."""
    for (method,), part in answers.sort("method").group_by("method", maintain_order=True):
        yield from of_method(part, settings, f"method_{method}")
    for name in MEASURED_SETS:
        part, group = forest.filter(feature_set=name), f"forest_{name}"
        yield of_scenarios(part, (METRICS["accuracy"],), settings, group=group)
        yield unknown_rate(part, right(), settings, group=group, metric="recall_unknown")


def of_method(
    predictions: pl.DataFrame, settings: ScenarioIntervalSettings, group: str
) -> Iterator[pl.DataFrame]:
    """How one method does on unknown scenarios, and whether it knows that it does not know."""
    unknown = pl.col("category") == UNKNOWN
    parts = {"entropy_unknown": unknown, "entropy_labelled": ~unknown}
    figures = tuple(
        ValueMetric(name, over_scenarios(predictions, pl.when(each).then(entropy())), "entropy")
        for name, each in parts.items()
    )
    names = predictions.group_by("scenario").agg(pl.col("category").first())
    sizes = {name: names.filter(each).height for name, each in parts.items()}
    rate = partial(unknown_rate, predictions, settings=settings, group=group)
    yield rate(right(), metric="recall")
    yield rate(pl.col("prediction") == ABSTAIN, metric="abstained")
    found = of_scenarios(predictions, (), settings, figures, group=group)
    yield found.with_columns(n=pl.col("metric").replace_strict(sizes))
    area = separation(predictions, entropy(), UNKNOWN, settings)
    yield estimate_rows({"separation": area}, group=group)


def unknown_rate(
    predictions: pl.DataFrame, happened: pl.Expr, settings: ScenarioIntervalSettings, **keys: str
) -> pl.DataFrame:
    """A rate over unknown scenarios, of which there are few, with Wilson's interval.

    A scenario counts by the share of its predictions; for such means Wilson's interval is an
    approximation.
    """
    scenarios = predictions.filter(category=UNKNOWN).group_by("scenario")
    # sorted, since a sum in another order differs in its last bit, which may round otherwise
    shares = scenarios.agg(share=happened.cast(pl.Float64).mean()).sort("scenario")["share"]
    rate = float(shares.to_numpy().mean())
    low, high = wilson(rate, len(shares), settings.confidence)
    return pl.DataFrame([{**keys, "value": rate, "ci_low": low, "ci_high": high, "n": len(shares)}])


def contrasts(forest: pl.DataFrame, settings: StatisticsSettings) -> Sequence[Comparison]:
    """Each larger feature set less the paper's, over all scenarios, as methods are compared.

    Holm's adjustment is over these contrasts. The feature sets take the place of methods.
    """
    renamed = forest.with_columns(method=pl.col("feature_set"), feature_set=pl.lit(MEASURED))
    pairs = tuple((name, PRIMARY_SET) for name in ADDED)
    return list(contrasts_of(compare_all(renamed, settings.named(MEASURED, pairs))))


def added(found: Sequence[Comparison]) -> pl.DataFrame:
    """Differences in accuracy; a point where all resamples agree, which hides the spread."""
    rows = []
    for each in found:
        keys, low, high = {"group": f"added_{each.left}"}, each.ci_low, each.ci_high
        bounds = {
            "ci_low": each.difference if low is None else low,
            "ci_high": each.difference if high is None else high,
        }
        rows.append({**keys, "metric": "accuracy", "value": each.difference, **bounds, "n": each.n})
    return pl.DataFrame(rows)


def gains(forest: pl.DataFrame, found: Sequence[Comparison]) -> Iterator[dict[str, Any]]:
    """What each measurement changes, with tests over unknown scenarios and over all of them."""
    unknown = forest.filter(category=UNKNOWN)
    shares = unknown.group_by("scenario", "feature_set").agg(share=right().mean())
    wide = shares.pivot("feature_set", index="scenario", values="share")
    for each in found:
        group = {"group": f"forest_{each.left}"}
        better, worse, p = sign_test((wide[each.left] - wide[PRIMARY_SET]).to_numpy())
        values = {
            "better": better,
            "worse": worse,
            "p_signs": p,
            "p": each.p,
            "p_holm": each.reported_p,
            "p_equivalence": each.p_equivalence,
            "detectable": each.detectable_difference,
        }
        for metric, value in values.items():
            yield {**group, "metric": metric, "value": None if value is None else float(value)}
        bounds = {"ci_low": each.ci_low, "ci_high": each.ci_high}
        yield {**group, "metric": "difference", "value": each.difference, **bounds}


def answers_to_unknown(predictions: pl.DataFrame) -> pl.DataFrame:
    """The answer that each method gives most often to each unknown scenario."""
    unknown = predictions.filter(category=UNKNOWN)
    if unknown.is_empty():
        raise BadInputError(
            "predictions", "category", "there is no unknown scenario.", "Predict all scenarios."
        )
    keys = ("scenario", "method")
    given = unknown.group_by(*keys, answer="prediction").len("count")
    order = given.sort(*keys, "count", "answer", descending=[False, False, True, False])
    most = order.group_by(keys, maintain_order=True).first()
    means = unknown.group_by(keys).agg(pl.len(), right=right().mean(), entropy=entropy().mean())
    share = (pl.col("count") / pl.col("len")).alias("share")
    joined = most.join(means, on=keys).sort(keys)
    return joined.select(*keys, "answer", share, "right", "entropy")


def points_of(scenarios: Sequence[Scenario], forest: pl.DataFrame) -> pl.DataFrame:
    """What a forest makes of the unknown scenarios, by why they are unknown."""
    why = [(each.ambiguity, each.id) for each in scenarios if each.ambiguity is not None]
    kinds = pl.DataFrame(why, ["ambiguity", "scenario"], orient="row")
    unknown = forest.filter(category=UNKNOWN).group_by("feature_set", "scenario")
    probabilities = pl.col([f"p_{category}" for category in CATEGORIES]).mean()
    posteriors = unknown.agg(probabilities, right=right().mean(), entropy=entropy().mean())
    joined = kinds.join(posteriors, on="scenario")
    keys = ("ambiguity", "scenario", "feature_set")
    return joined.select(*keys, pl.exclude(keys)).sort(keys)


def numbers(
    points: pl.DataFrame, found: Sequence[Comparison], repeats: int, alpha: float, paper: Reported
) -> dict[str, object]:
    kinds = points.select("scenario", "ambiguity").unique()
    called = {
        name: points.filter(pl.col("right") > 0.5, feature_set=name).height for name in PANELS
    }
    return {
        "unknown": kinds.height,
        "scenarios": found[0].n,
        "folds": found[0].folds // repeats,
        "fewest": fewest_signs(kinds.height, alpha) or "all",
        "reported": {kind: reported_number(paper, f"unknown_{kind}") for kind in SETTLING},
        "here": {kind: kinds.filter(ambiguity=kind).height / kinds.height for kind in SETTLING},
        "called": called,
        "conflicts": len(CONFLICTING),
        "conflicting": ", ".join(map(words, CONFLICTING)),
        "conventions": len(ARBITRARY),
        "arbitrary": ", ".join(map(words, ARBITRARY)),
        "reported_cases": REPORTED_CASES,
    }


def tables(
    found: Estimates,
    answers: pl.DataFrame,
    points: pl.DataFrame,
    neighbours: pl.DataFrame,
    partners: pl.DataFrame,
    paper: Reported,
    said: Captions,
) -> Iterator[Table]:
    """What is answered to unknown scenarios, what they look like, and what would settle them."""
    methods = in_label_order(answers["method"])
    scenarios = points.select("scenario", "ambiguity").unique(maintain_order=True).rows()
    named = {
        (each["scenario"], each["method"]): f"{LETTERS[each['answer']]} {100 * each['share']:.0f}"
        for each in answers.to_dicts()
    }
    yield table(
        "unknown_answers",
        found,
        [Text("Scenario"), *(Text(method_label(method)) for method in methods)],
        [
            Row((words(scenario), *(named[scenario, method] for method in methods)))
            for scenario, _ in scenarios
        ],
        said,
        *development_note(methods),
    )

    number = partial(reported_number, paper)
    recognised = {
        "improved_rules": REPORTED_CASES - number("unknown_assigned"),
        "mistral_7b": number("unknown_right_mistral"),
        "llama_3_8b": number("unknown_right_llama"),
    }
    reported = {name: f"{count:.0f} of {REPORTED_CASES}" for name, count in recognised.items()}
    yield table(
        "unknown_methods",
        found,
        [
            Text("Method"),
            Text("Told (reported)", align="right"),
            Of("recall", "Unknown"),
            Of("abstained", "Abstained"),
            Of("entropy_unknown", "on unknown", "Entropy", "two"),
            Of("entropy_labelled", "on labelled", "Entropy", "two"),
            Of("separation", "Told apart by it", form="two"),
        ],
        [
            Row((method_label(name), reported.get(name, ABSENT)), {"group": f"method_{name}"})
            for name in in_label_order((*methods, *recognised))
        ],
        said,
        *development_note(methods),
    )

    told = points.select(group="scenario", metric="feature_set", value="right")
    yield table(
        "unknown_scenarios",
        Estimates(told),
        [
            *map(Text, ("Scenario", "Why unknown", "Would settle it (not recorded)", "Recorded")),
            *(Of(name, label, "Right") for name, label in SET_LABELS.items()),
        ],
        [
            Row((words(scenario), words(kind), *SETTLING[kind]), {"group": scenario})
            for scenario, kind in scenarios
        ],
        said,
    )

    near: dict[str, list[str]] = {name: [] for name, _ in scenarios}
    for each in neighbours.sort("rank").to_dicts():
        letter = LETTERS[each["neighbour_category"]]
        near[each["scenario"]].append(
            f"{words(each['neighbour'])} ({letter}, {each['distance']:.2f})"
        )
    alike: dict[str, list[str]] = {name: [] for name, _ in scenarios}
    for each in partners.to_dicts():
        alike[each["scenario"]].append(
            f"{words(each['partner'])} ({LETTERS[each['partner_category']]})"
        )
    yield table(
        "unknown_neighbours",
        found,
        map(Text, ("Scenario", "Nearest labelled runs", "Same surface")),
        [
            Row((words(name), ", ".join(near[name]), ", ".join(alike[name]) or ABSENT))
            for name, _ in scenarios
        ],
        said,
    )

    those, everything = "Unknown scenarios", "All scenarios"
    yield table(
        "unknown_measurements",
        found,
        [
            Text("Features"),
            Of("recall_unknown", "told", those),
            Of("better", "better", those, "count"),
            Of("worse", "worse", those, "count"),
            Of("p_signs", "p", those, "three"),
            Of("accuracy", "Accuracy", everything),
            Of("difference", "Difference", everything),
            Of("p", "p", everything, "three"),
            Of("p_holm", "p, Holm", everything, "three"),
            Of("p_equivalence", "Equivalence", everything, "three"),
            Of("detectable", "Detectable", everything),
        ],
        rows("group", {f"forest_{name}": label for name, label in SET_LABELS.items()}),
        said,
    )


PANELS = {"19": "19 features", "19+both": "with step times and ending"}
"""Feature sets that have a panel each, with its title."""

ROW_HEIGHT = 0.3
"""Inches per scenario."""

BAR = 0.62
"""Height of a bar, in rows."""


def draw(points: pl.DataFrame, figure: Figure) -> None:
    """Mean probabilities of the categories, a bar per scenario: without and with measurements."""
    panels = figure.subplots(1, len(PANELS), sharex=True, sharey=True)
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        draw_panel(axes, points.filter(feature_set=name))
        axes.set_title(title)
    panels[0].set_xlim(0, 100)
    figure.supxlabel(
        "mean probability, percent; at the end of a bar, percent of answers that say unknown "
        f"(n = {points['scenario'].n_unique()})"
    )
    handles = [Patch(**look(category), label=words(category)) for category in CATEGORIES]
    legend_outside(figure, handles, columns=5, handlelength=1.4)


def draw_panel(axes: Axes, points: pl.DataFrame) -> None:
    ticks, top = {}, 0.0
    for (ambiguity,), group in points.group_by("ambiguity", maintain_order=True):
        axes.text(0.0, top, words(str(ambiguity)), style="italic", va="center")
        top += 0.75
        for row in group.to_dicts():
            shares = 100 * np.array([row[f"p_{category}"] for category in CATEGORIES])
            starts = np.concatenate([[0.0], shares.cumsum()[:-1]])
            for category, start, share in zip(CATEGORIES, starts, shares, strict=True):
                axes.barh(top, share, height=BAR, left=start, **look(category))
            axes.text(101, top, f"{100 * row['right']:.0f}", va="center", clip_on=False)
            ticks[top] = words(row["scenario"])
            top += 1
    axes.set_yticks([*ticks], [*ticks.values()])
    axes.set_ylim(top - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def look(category: Category) -> dict[str, Any]:
    """How a category is filled; what is right is hatched, for eyes and printers without colours."""
    hatch = "////" if category == UNKNOWN else None
    filled = {"facecolor": CATEGORY_COLOURS[category], "hatch": hatch}
    return {**filled, "edgecolor": "white", "linewidth": 0.4}


def main() -> None:
    design = read_section("unknown_anatomy", UnknownAnatomyDesign)
    settings = read_statistics(StatisticsSettings)
    predictions, paper = read_main_study(), read_reported()
    forest = read_output(FOREST, PREDICTION_SCHEMA)
    neighbours = read_output(MEASUREMENTS / "neighbours.parquet", NEIGHBOUR_SCHEMA)
    partners = read_output(MEASUREMENTS / "partners.parquet", PARTNER_SCHEMA)
    scenarios = read_scenarios_of(predictions, SCENARIOS)
    counted = predictions.filter(~pl.col("method").is_in(design.left_out), feature_set=PRIMARY_SET)
    if counted.is_empty():
        raise BadInputError(
            "params.yaml",
            "unknown_anatomy.left_out",
            "leaves no method.",
            "Leave out simulations of people and hybrids alone.",
        )
    answers = answers_to_unknown(counted)
    compared = contrasts(forest, settings)
    measured = pl.concat(
        [*estimates(counted, forest, settings), added(compared)], how="diagonal_relaxed"
    )
    found = Estimates(measured).plus(*gains(forest, compared))
    points = rounded(points_of(scenarios, forest))
    alpha = 1 - settings.confidence
    said = Captions.read(
        "unknown_anatomy", design, settings, numbers(points, compared, design.repeats, alpha, paper)
    )
    groups = points["ambiguity"].n_unique()
    height = 0.75 + ROW_HEIGHT * (points["scenario"].n_unique() + 0.6 * groups)
    publish_estimates(
        "unknown_anatomy",
        measured,
        KEYS,
        points={"unknown_anatomy": points, "unknown_answers": answers},
        tables=tables(found, answers, points, neighbours, partners, paper, said),
        figures={"unknown_anatomy": said.picture("figure", height, partial(draw, points))},
    )


if __name__ == "__main__":
    run(main)
