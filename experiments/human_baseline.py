"""Stage human_baseline: what a simulation of people can say, and what the paper's can mean."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
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
ASSUMED = st.Mark("assumed skill, with the share of people", st.BLACK, "D", size=3.0)
LEFT = 35.0
"""Left end of the axis of accuracies, in percent."""


def draw(
    studies: pl.DataFrame,
    levels: Mapping[str, st.SkillLevel],
    accuracy: float,
    deviation: float,
    confidence: float,
    figure: Figure,
) -> None:
    """The skills that are assumed, and what studies of such people find."""
    axes = figure.subplots()
    alike = studies.filter(pl.col("coupling") == pl.col("coupling").min())
    low, high = 100 * (accuracy - deviation), 100 * (accuracy + deviation)
    axes.axvspan(low, high, color=st.GREY, alpha=0.3, linewidth=0)
    axes.axvline(100 * accuracy, color=st.BLACK, linewidth=0.8)
    for level, skill in levels.items():
        axes.plot(100 * skill.accuracy, 0.2, **ASSUMED.look)
        text = f"{st.words(level)} {100 * skill.share:.0f} %"
        axes.annotate(text, (100 * skill.accuracy, -0.02), ha="center", va="bottom")
    for at, row in enumerate(alike.rows(named=True), 1):
        centre, reach = 100 * row["accuracy"], 100 * row["deviation"]
        axes.hlines(at, 100 * row["low"], 100 * row["high"], color=PERSON.colour)
        axes.hlines(at, centre - reach, centre + reach, color=PERSON.colour, linewidth=3)
        axes.plot(centre, at, **{**PERSON.look, "markersize": 6})
        axes.annotate(f"± {reach:.1f}", (LEFT + 0.5, at), va="center")
    labels = [f"{LABELS[design][0]} (n = {n})" for design, n in alike["design", "n"].rows()]
    rows = dict(zip(("assumed", *alike["design"]), ("assumed skills", *labels), strict=True))
    st.rule_rows(axes, rows, heavy_above=alike["design"][:1].to_list())
    axes.set(
        xlim=(LEFT, 100), xlabel=f"percent right: mean, ± sd (thick), {100 * confidence:g} % (thin)"
    )
    printed = f"reported: {100 * accuracy:.0f} ± {100 * deviation:.0f} %"
    band = Patch(color=st.GREY, alpha=0.3, linewidth=0, label=printed)
    st.legend_outside(figure, [ASSUMED, replace(PERSON, label="simulated study"), band], columns=3)


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
    groups = [
        by_group(coupling, group.marginal, scenarios, hybrid, settings)
        for coupling, group in people.items()
    ]
    measured = st.Estimates.of(estimates_of(studies, settings.studies), *groups)
    printed = st.reported(keys={"people": "reported"}, accuracy=accuracy, formula=deviation)
    named = numbers(studies, levels, accuracy, deviation)
    said = st.Captions.read("human_baseline", settings, named, {"studies": f"{settings.studies:,}"})
    drawn = partial(draw, studies, levels, accuracy, deviation, settings.confidence)
    picture = said.picture("figure", 1.75, drawn)
    points = studies.drop("people", "deviation_low", "deviation_high")
    st.publish(
        "human_baseline",
        metrics=st.nest(measured.frame.drop_nulls("ci_low"), "people", "metric"),
        points=points,
        tables=tables(measured.plus(*printed), studies, said, settings.couplings),
        figures={"human_baseline": picture},
        summary=points,
    )


if __name__ == "__main__":
    st.run(main)
