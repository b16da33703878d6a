"""Stage human_baseline: what a simulation of people can say, and what the paper's can mean."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from pydantic import Field

from failbench import study as st
from shared import human_baseline_people as simulated

HYBRID = Path("data/predictions/nested_cv/hybrid.parquet")
DIFFICULTY = Path("data/measurements/difficulty")

SCENARIO_SCHEMA = pl.Schema({"scenario": pl.String, "measured": pl.String, "ease": pl.Float64})
SHARE_SCHEMA = pl.Schema({"view": pl.String, "name": pl.String})
"""What is read of the two tables that the study of difficulty saves."""

LABELS = {
    "person_a_scenario": ("a person a scenario", "studies of {n} scenarios with a person each"),
    "fold": ("the same, in one fold", "folds of {n} scenarios with a person each"),
    "one_person": ("one person for all", "people who answer all {n} scenarios"),
    "panel": ("a panel for all", "panels that answer all {n} scenarios"),
}
"""Who answers what in a design, and what its spread is between."""

GROUPS = {
    "accuracy_all": "all",
    **{f"accuracy_{level}": f"measured {level}" for level in st.DIFFICULTIES},
    "accuracy_handed_over": "handed over by the hybrid",
}
"""Scenarios that people are looked at on: all, by measured level, and what a hybrid gives them."""


class HumanBaselineSettings(st.ScenarioIntervalSettings):
    """How people are simulated; the section ``human_baseline`` of params.yaml."""

    feature_set: str
    studies: int = Field(ge=100)
    couplings: tuple[float, ...] = Field(min_length=1)
    folds: int = Field(ge=1)
    panel: int = Field(ge=1)


def handed_over(difficulty: pl.DataFrame, hybrid: pl.DataFrame) -> pl.DataFrame:
    """A row per scenario, in the order of categories, with ease, level and share handed over."""
    routes = hybrid.group_by("category", "scenario").agg(
        handed_over=(pl.col("route") == "human").mean().fill_null(0.0)
    )
    missing = routes.join(difficulty, on="scenario", how="anti").sort("scenario")
    if missing.height:
        problem = f"{missing['scenario'][0]!r} has no measured difficulty."
        place, remedy = DIFFICULTY / "scenarios.parquet", "Run `dvc repro measure_difficulty`."
        raise st.BadInputError(place, "scenario", problem, remedy)
    if routes["handed_over"].sum() == 0:
        problem = "the hybrid hands no run to a person."
        remedy = "Take the three-way hybrid, and run `dvc repro hybrids`."
        raise st.BadInputError("predictions", "route", problem, remedy)
    order = pl.col("category").cast(pl.Enum(st.CATEGORIES))
    return routes.join(difficulty.select(*SCENARIO_SCHEMA), on="scenario").sort(order, "scenario")


def simulated_studies(
    people: Mapping[float, simulated.Population], settings: HumanBaselineSettings, aim: float
) -> pl.DataFrame:
    """What studies of each design find: mean, central range, spread with the simulation's error."""
    found = []
    tail = (1 - settings.confidence) / 2
    for coupling, group in people.items():
        n = group.right.shape[1]
        sizes = {"fold": max(n // settings.folds, 1), "panel": settings.panel}
        for number, design in enumerate(simulated.DESIGNS):
            rng, size = np.random.default_rng([settings.seed, number]), sizes.get(design, 1)
            accuracies = simulated.simulate(group, design, size, settings.studies, rng)
            quantiles = np.quantile(accuracies, (tail, 1 - tail))
            bounds = simulated.spread_bounds(accuracies, settings.confidence)
            found.append(
                {
                    "people": f"coupling_{coupling:g}_{design}",
                    "coupling": coupling,
                    "design": design,
                    "n": size if design == "fold" else n,
                    "accuracy": accuracies.mean(),
                    **dict(zip(("low", "high"), quantiles, strict=True)),
                    "deviation": accuracies.std(),
                    "formula": simulated.spread(group, design, size),
                    "reaching": (accuracies >= aim).mean(),
                    **dict(zip(("deviation_low", "deviation_high"), bounds, strict=True)),
                }
            )
    return pl.DataFrame(found)


def estimates_of(studies: pl.DataFrame, simulated: int) -> pl.DataFrame:
    """The same as rows of the frame; the spread is of so many simulated studies."""
    bounds = {
        "accuracy": {"ci_low": "low", "ci_high": "high", "n": "n"},
        "deviation": {"ci_low": "deviation_low", "ci_high": "deviation_high", "n": "simulated"},
    }
    counted = studies.with_columns(simulated=pl.lit(simulated, pl.Int64))
    parts = [
        counted.select("people", metric=pl.lit(metric), value=metric, **bounds.get(metric, {}))
        for metric in ("accuracy", "deviation", "formula", "reaching")
    ]
    return pl.concat(parts, how="diagonal")


def by_group(
    coupling: float,
    right: st.Array,
    scenarios: pl.DataFrame,
    hybrid: pl.DataFrame,
    settings: HumanBaselineSettings,
) -> pl.DataFrame:
    """Accuracy of people over groups of scenarios, resampled by scenario.

    What is averaged are probabilities of the simulation and no answers: where they are all alike
    there is nothing that more scenarios would tell, and the interval is a point.
    """
    known = scenarios.with_columns(right=pl.Series(right))
    weights = {
        "accuracy_all": pl.lit(1.0),
        **{f"accuracy_{level}": pl.col("measured") == level for level in st.DIFFICULTIES},
        "accuracy_handed_over": pl.col("handed_over"),
    }
    counts = {name: known.filter(weight > 0).height for name, weight in weights.items()}
    values = tuple(
        st.ValueMetric(
            name,
            st.weighted_mean(known, pl.col("right"), weight),
            f"how often a person drawn at random is right on a new scenario: {GROUPS[name]}",
        )
        for name, weight in weights.items()
        if counts[name]
    )
    # people are simulated by scenario, so that seeds are taken together
    together = hybrid.with_columns(seed=pl.lit(0))
    found = st.of_scenarios(together, (), settings, values, people=f"coupling_{coupling:g}")
    return found.with_columns(n=pl.col("metric").replace_strict(counts))


def skill_curves(
    people: Mapping[float, simulated.Population],
    levels: Mapping[str, st.SkillLevel],
    scenarios: pl.DataFrame,
) -> pl.DataFrame:
    """How often people of each level are right on each scenario, by coupling."""
    return pl.concat(
        scenarios.select(
            *(pl.lit(coupling).alias("coupling"), pl.lit(level).alias("level")),
            *("category", "scenario", "ease", pl.Series("right", right)),
        )
        for coupling, group in people.items()
        for level, right in zip(levels, group.right, strict=True)
    )


def numbers(
    studies: pl.DataFrame, levels: Mapping[str, st.SkillLevel], accuracy: float, deviation: float
) -> dict[str, object]:
    """The mixture, and the designs whose spread is nearest to the reported one, if all is alike."""
    skills = np.array([level.accuracy for level in levels.values()])
    anyone = simulated.Population(
        np.array([level.share for level in levels.values()]), skills[:, None]
    )
    alike = studies.filter(pl.col("coupling") == pl.col("coupling").min())
    named: dict[str, object] = {
        "reported": accuracy,
        "spread": deviation,
        "mean": float(anyone.marginal.mean()),
        "plain": float(skills.mean()),
        "skill": simulated.skill_spread(anyone),
        "simulated_mean": float(alike["accuracy"].to_numpy().mean()),
    }
    for column in ("formula", "deviation"):
        nearest = alike.sort((pl.col(column) - deviation).abs(), "design").row(0, named=True)
        named[f"nearest_{column}"] = LABELS[nearest["design"]][1].format(n=nearest["n"])
        named[f"{column}_value"] = nearest[column]
    return named


def tables(
    found: st.Estimates, studies: pl.DataFrame, said: st.Captions, couplings: tuple[float, ...]
) -> Iterator[st.Table]:
    """What simulated studies find, and how well people do where it is hard."""
    body = [st.Row(("Reported", st.ABSENT, st.ABSENT), {"people": "reported"})]
    for row in studies.rows(named=True):
        reach = f"[{st.percent(row['low'])}, {st.percent(row['high'])}]"
        texts = (LABELS[row["design"]][0], f"{row['coupling']:g}", reach)
        body.append(st.Row(texts, {"people": row["people"]}))
    yield st.table("human_baseline", found, None, body, said)
    measured = set(found.frame["metric"])
    felt = [{"people": f"coupling_{coupling:g}"} for coupling in couplings]
    columns: list[st.Text | st.Of] = [
        st.Text("Scenarios"),
        *(
            st.Of("", f"{coupling:g}", "Difficulty felt", keys=keys)
            for coupling, keys in zip(couplings, felt, strict=True)
        ),
        st.n_of("", **felt[0]),
    ]
    groups = {name: label for name, label in GROUPS.items() if name in measured}
    yield st.table("human_difficulty", found, columns, st.rows("metric", groups), said)


PERSON = st.METHOD_STYLES["simulated_human"]
LEFT = 35.0
"""Left end of the axis of accuracies, in percent."""

UNFELT: dict[str, Any] = {"color": st.BLACK, "linewidth": 0.6, "linestyle": ":"}
"""Line of people to whom all scenarios are alike."""


def draw(
    studies: pl.DataFrame,
    curves: pl.DataFrame,
    accuracy: float,
    deviation: float,
    confidence: float,
    figure: Figure,
) -> None:
    """On the left what studies find, on the right how often people tell a scenario."""
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    alike = studies.filter(pl.col("coupling") == pl.col("coupling").min())
    draw_studies(left, alike, 100 * accuracy, 100 * deviation, confidence)
    draw_skills(right, curves)
    printed = f"reported: {100 * accuracy:.0f} ± {100 * deviation:.0f} %"
    weakest, *_, strongest = curves["coupling"].unique().sort().to_list()
    handles = [
        replace(PERSON, label="simulated people").handle,
        Patch(color=st.GREY, alpha=0.3, linewidth=0, label=printed),
        Line2D([], [], color=PERSON.colour, label=f"difficulty felt: {strongest:g}"),
        Line2D([], [], **UNFELT, label=f"difficulty felt: {weakest:g}"),
    ]
    st.legend_outside(figure, handles, columns=4)


def draw_studies(
    axes: Axes, studies: pl.DataFrame, mean: float, deviation: float, confidence: float
) -> None:
    axes.axvspan(mean - deviation, mean + deviation, color=st.GREY, alpha=0.3, linewidth=0)
    axes.axvline(mean, color=st.BLACK, linewidth=0.8)
    for at, row in enumerate(studies.rows(named=True)):
        centre, reach = 100 * row["accuracy"], 100 * row["deviation"]
        axes.plot([100 * row["low"], 100 * row["high"]], [at, at], color=PERSON.colour)
        axes.plot([centre - reach, centre + reach], [at, at], color=PERSON.colour, linewidth=3)
        axes.plot(centre, at, **{**PERSON.look, "markersize": 6})
        axes.annotate(f"± {reach:.1f}", (LEFT, at), xytext=(2, 3), textcoords="offset points")
    labels = [f"{LABELS[design][0]}\n(n = {n})" for design, n in studies["design", "n"].rows()]
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(LEFT, 100), ylim=(len(labels) - 0.6, -0.7), title="simulated studies")
    what = "accuracy of a simulated study, percent:\nmean, ± sd (thick)"
    axes.set_xlabel(f"{what}, {100 * confidence:g} % (thin)")


def draw_skills(axes: Axes, curves: pl.DataFrame) -> None:
    """A line per skill, named where it begins, where difficulty is felt most; dotted where not."""
    strongest = curves.filter(pl.col("coupling") == pl.col("coupling").max())
    for level in curves["level"].unique(maintain_order=True):
        felt = strongest.filter(level=level).sort("ease", "scenario")
        ease, right = (100 * felt[name].to_numpy() for name in ("ease", "right"))
        axes.plot(ease, right, color=PERSON.colour, linewidth=st.THICK)
        axes.plot(ease, right, ".", color=PERSON.colour, markersize=2.5)
        flat = 100 * float(curves.filter(level=level)["right"].to_numpy().mean())
        axes.axhline(flat, **UNFELT)
        axes.text(102, flat, st.words(level), va="center")
    ticks = np.linspace(0, 100, 5)
    axes.set(xticks=ticks, yticks=ticks, xlim=(-2, 101), ylim=(0, 101), title="assumed skills")
    n = strongest["scenario"].n_unique()
    axes.set_xlabel(f"percent of methods that\ntell the scenario (n = {n})")
    axes.set_ylabel("simulated person right, percent")


def main() -> None:
    paper = st.read_reported()
    settings = st.read_with_statistics("human_baseline", HumanBaselineSettings)
    levels = st.read_section("simulated_human", st.SimulatedHumanSettings).levels
    difficulty = st.read_output(DIFFICULTY / "scenarios.parquet", SCENARIO_SCHEMA)
    shares = st.read_output(DIFFICULTY / "shares.parquet", SHARE_SCHEMA)
    hybrid = st.read_output(HYBRID, st.PREDICTION_SCHEMA).filter(feature_set=settings.feature_set)
    scenarios = handed_over(difficulty, hybrid)
    cells = int(shares.group_by("view").agg(pl.col("name").n_unique())["name"].product())
    logits = simulated.difficulties(scenarios["ease"].to_numpy(), cells)
    people = {
        coupling: simulated.population(levels, logits, coupling) for coupling in settings.couplings
    }

    accuracy, deviation = (
        st.reported_number(paper, f"human_{name}") for name in ("accuracy", "sd")
    )
    studies = st.rounded(simulated_studies(people, settings, accuracy))
    curves = st.rounded(skill_curves(people, levels, scenarios))
    groups = [
        by_group(coupling, group.marginal, scenarios, hybrid, settings)
        for coupling, group in people.items()
    ]
    measured = st.Estimates.of(estimates_of(studies, settings.studies), *groups)
    printed = st.reported(keys={"people": "reported"}, accuracy=accuracy, formula=deviation)
    named = numbers(studies, levels, accuracy, deviation)
    said = st.Captions.read("human_baseline", settings, named, {"studies": f"{settings.studies:,}"})
    drawn = partial(draw, studies, curves, accuracy, deviation, settings.confidence)
    picture = said.picture("figure", 2.2, drawn)
    points = studies.drop("people", "deviation_low", "deviation_high")
    st.publish(
        "human_baseline",
        metrics=st.nest(measured.frame.drop_nulls("ci_low"), "people", "metric"),
        points={"human_baseline": points, "human_skill": curves},
        tables=tables(measured.plus(*printed), studies, said, settings.couplings),
        figures={"human_baseline": picture},
        summary=points,
    )


if __name__ == "__main__":
    st.run(main)
