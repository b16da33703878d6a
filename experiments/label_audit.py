"""Stage label_audit: the labels of the scenarios against raters that were told the causes."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Self

import polars as pl
from matplotlib.figure import Figure
from pydantic import BeforeValidator, Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, validated
from failbench.base.scenarios import Identifier, Scenario, read_scenarios
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.statistics.agreement import fleiss_kappa, kappa_interval
from failbench.statistics.intervals import ScenarioIntervalSettings, estimate_rows
from failbench.statistics.metrics import ValueMetric, proportion
from failbench.statistics.scenario_values import weighted_mean
from failbench.statistics.settings import read_statistics
from failbench.study.captions import Captions
from failbench.study.cells import ABSENT, words
from failbench.study.estimates import Estimates, of_scenarios, reported
from failbench.study.inputs import read_reported
from failbench.study.labels import CATEGORY_LABELS
from failbench.study.paper_numbers import reported_number
from failbench.study.picture import dot_plot, legend_outside
from failbench.study.plain_table import Column, Table
from failbench.study.publication import publish, run
from failbench.study.style import BLACK, BLUE, REPORTED, VERMILLION, Mark
from failbench.study.tables import Of, Row, Text, n_of, rows, table

RATINGS = Path("data/reported/label_raters.csv")
SCENARIOS = Path("data/scenarios")

KEYS = ("subject", "scope", "metric")
RATERS = ("rater_1", "rater_2")
ALL, BOTH = "all", "raters"
"""The scope of all scenarios, beside those of a label; and the raters held against one another."""

PAIRS = {
    RATERS[0]: ("category", RATERS[0], "the labels and rater 1"),
    RATERS[1]: ("category", RATERS[1], "the labels and rater 2"),
    BOTH: (*RATERS, "rater 1 and rater 2"),
}
"""Two sorts of answers to the same scenarios, and both in words, by subject."""

EVENLY_DIVIDED = 2
"""The highest contest: the rater expects engineers to be evenly divided."""

Contest = Annotated[int, Field(ge=0, le=EVENLY_DIVIDED)]
Choice = Annotated[Category | None, BeforeValidator(lambda text: text or None)]
REMEDY = "Restore it with git."
ASK = "Restore it with git, or add what both raters answer: see data/reported/README.md."


class Rating(Record):
    """What both raters answered for one scenario; a row of ``data/reported/label_raters.csv``.

    ``contest`` is 0 where a rater expects that no engineer would disagree, 1 where some would and 2
    where they would be evenly divided; ``second`` is the second choice, which 0 leaves out.
    """

    scenario: Identifier
    rater_1: Category
    contest_1: Contest
    second_1: Choice
    rater_2: Category
    contest_2: Contest
    second_2: Choice

    @model_validator(mode="after")
    def _second_choices_fit(self) -> Self:
        for answer, contest, second in (
            (self.rater_1, self.contest_1, self.second_1),
            (self.rater_2, self.contest_2, self.second_2),
        ):
            if (second is None) != (contest == 0):
                raise ValueError("a second choice must be given exactly where the contest is not 0")
            if second == answer:
                raise ValueError("a second choice must differ from the answer")
        return self


def read_ratings(path: Path, scenarios: Sequence[Scenario]) -> pl.DataFrame:
    """Read what the raters answered, beside the label of each scenario."""
    defined = {scenario.id: scenario for scenario in scenarios}
    ratings: dict[str, Rating] = {}
    for line, row in _rows(path):
        rating = validated(Rating, row, f"{path}, line {line}", REMEDY)
        name = rating.scenario
        if name in ratings or name not in defined:
            problem = "is there twice." if name in ratings else "is no scenario that is defined."
            remedy = f"Take one out, or restore {name}.json with git."
            raise BadInputError(f"{path}, line {line}", "scenario", f"{name!r} {problem}", remedy)
        ratings[name] = rating
    missing = sorted(set(defined) - set(ratings))
    if missing:
        problem = f"there is no row of {missing[0]!r} (of {len(missing)} scenarios in all)."
        raise BadInputError(path, "scenario", problem, ASK)
    return pl.DataFrame(
        [
            {"category": scenario.category, "root_cause": scenario.root_cause}
            | ratings[name].model_dump()
            for name, scenario in defined.items()
        ],
        infer_schema_length=None,
    )


def _rows(path: Path) -> list[tuple[int, Mapping[str, object]]]:
    """Rows by column, each with its line; what has no heading is a column of its own."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, restkey="(no heading)")
            return [(reader.line_num, row) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error


def contest(subject: str) -> pl.Expr:
    """How contested a rater calls a scenario; of both raters, the higher."""
    return pl.max_horizontal(f"contest_{each[-1]}" for each in RATERS if subject in (each, BOTH))


def shares(ratings: pl.DataFrame) -> Iterator[ValueMetric]:
    """Agreement and contest, each named by subject, scope and metric."""

    def share(name: str, part: pl.Expr, question: str, whole: pl.Expr | None = None) -> ValueMetric:
        values = weighted_mean(ratings, part, pl.lit(1.0) if whole is None else whole)
        return proportion(name, values, f"probability that {question}")

    for subject, (left, right, both) in PAIRS.items():
        alike, question = (
            pl.col(left) == pl.col(right),
            f"{both} put a new scenario in one category",
        )
        yield share(f"{subject}/{ALL}/agreement", alike, question)
        for label in CATEGORIES:
            of_label, given = pl.col("category") == label, f"{question}, given the label {label}"
            yield share(f"{subject}/{label}/agreement", alike, given, of_label)
        by = "one of the raters" if subject == BOTH else words(subject)
        for metric, least in (("contested", 1), ("evenly_divided", EVENLY_DIVIDED)):
            called = f"{by} calls the category of a new scenario {words(metric)}"
            yield share(f"{subject}/{ALL}/{metric}", contest(subject).ge(least), called)
    for rater in RATERS:
        choices = (pl.col(rater), pl.col(f"second_{rater[-1]}"))
        among = pl.any_horizontal(choice.eq_missing(pl.col("category")) for choice in choices)
        question = "the label of a new scenario is the first or second choice"
        yield share(f"{rater}/{ALL}/label_among_two", among, question)


def estimates(ratings: pl.DataFrame, settings: ScenarioIntervalSettings) -> pl.DataFrame:
    """How far raters that were told causes agree with the labels and with one another."""
    answers = ratings.with_columns(prediction=RATERS[0], repeat=pl.lit(0), seed=pl.lit(0))
    found = of_scenarios(answers, (), settings, tuple(shares(ratings)))
    sizes = dict(ratings.group_by("category").len().iter_rows()) | {ALL: ratings.height}
    parts = pl.col("metric").str.split("/").list
    frames = [
        found.select(
            **{key: parts.get(place) for place, key in enumerate(KEYS)},
            **{name: name for name in found.columns[1:]},
        ).with_columns(n=pl.col("scope").replace_strict(sizes))  # of a label those alone
    ]
    for subject, (left, right, both) in PAIRS.items():
        kappa = partial(kappa_interval, ratings, settings=settings)
        one, other = pl.col(left), pl.col(right)
        kappas = {ALL: kappa(one, other, answers=CATEGORIES, what=both)}
        for label in CATEGORIES:
            what = f"{both}, {label} against the rest"
            kappas[label] = kappa(one == label, other == label, answers=(False, True), what=what)
        frames += [
            estimate_rows({"kappa": each}, subject=subject, scope=scope)
            for scope, each in kappas.items()
        ]
    return pl.concat(frames, how="vertical_relaxed")


def contested(ratings: pl.DataFrame) -> pl.DataFrame:
    """The scenarios where a rater differs from the label, or expects engineers to be divided."""
    differs = pl.any_horizontal(pl.col(rater) != pl.col("category") for rater in RATERS)
    return ratings.filter(differs | contest(BOTH).ge(EVENLY_DIVIDED))


MARKS = {
    RATERS[0]: Mark("rater 1 and the labels", BLUE, "o"),
    RATERS[1]: Mark("rater 2 and the labels", VERMILLION, "s"),
    BOTH: Mark("rater 1 and rater 2", BLACK, "D", "none"),
}
ANNOTATORS = replace(REPORTED, label="reported: the paper's two annotators, people")


def tables(found: Estimates, divided: pl.DataFrame, said: Captions) -> Iterator[Table]:
    """Agreement over all scenarios and by label, and the scenarios that are contested."""
    # where two never differ, resampling says nothing
    sure = pl.when(pl.col("interval").ne_missing("point"))
    found = Estimates(found.frame.with_columns(sure.then(pl.col("ci_low", "ci_high"))))
    labels = {subject: mark.label.capitalize() for subject, mark in MARKS.items()}
    compared = []
    for subject, label in labels.items():
        keys = {"subject": subject, "scope": ALL}
        share, n = found.value(**keys, metric="agreement"), found.n(**keys, metric="agreement")
        compared.append(Row((label, f"{share * int(n):.0f} of {n}"), keys))
    yield table(
        "label_audit",
        found,
        [
            Text("Compared"),
            Text("Alike", align="right"),
            Of("agreement", "Agreement"),
            Of("kappa", "Kappa", form="two"),
            Of("label_among_two", "Label among two"),
            Of("contested", "Contested"),
            Of("evenly_divided", "Evenly divided"),
        ],
        [*compared, Row((ANNOTATORS.label.capitalize(), ABSENT), {"subject": "reported"})],
        said,
    )
    pairs = [
        Of(metric, metric.capitalize(), label, form, {"subject": subject})
        for subject, label in labels.items()
        for metric, form in (("agreement", "percent"), ("kappa", "two"))
    ]
    yield table(
        "label_audit_categories",
        found,
        [Text("Label"), n_of("agreement", "Scenarios", subject=BOTH), *pairs],
        rows("scope", dict(CATEGORY_LABELS)),
        said,
    )
    name = "label_audit_contested"
    columns, cells = zip(*contested_columns(), strict=True)
    texts = divided.select(
        cell.fill_null(ABSENT).alias(str(place)) for place, cell in enumerate(cells)
    )
    yield Table(name, columns, tuple(texts.rows()), said.caption(name), said.notes(name))


def contested_columns() -> Iterator[tuple[Column, pl.Expr]]:
    """Columns of the table of contested scenarios, and what stands in them."""

    def named(column: str) -> pl.Expr:
        return pl.col(column).str.replace_all("_", " ")

    yield Column("Scenario", align="left"), named("scenario")
    yield Column("Root cause", align="left", width=0.3), pl.col("root_cause")
    yield Column("Label", align="left"), named("category")
    for rater in RATERS:
        group, number = words(rater).capitalize(), rater[-1]
        yield Column("Answer", group, "left"), named(rater)
        yield Column("Contest", group), pl.col(f"contest_{number}").cast(pl.String)
        yield Column("Second", group, "left"), named(f"second_{number}")
    differing = (
        pl.when(pl.col(rater) != pl.col("category")).then(pl.lit(words(rater))) for rater in RATERS
    )
    joined = pl.concat_str(differing, separator=" and ", ignore_nulls=True)
    yield Column("Differs", align="left"), pl.when(joined != "").then(joined)


def draw(kappas: pl.DataFrame, printed: float, figure: Figure) -> None:
    """Cohen's kappa with its interval, a row for all scenarios and for each category."""
    n = kappas["n"][0]
    axes = figure.subplots()
    drawn = kappas.rename({"scope": "row", "subject": "mark"})
    labels = {ALL: f"All {n} scenarios"} | CATEGORY_LABELS
    dot_plot(axes, drawn, labels, MARKS, scale=1.0, heavy_above=CATEGORIES[:1])
    axes.plot(printed, 0, **ANNOTATORS.look)
    axes.set_xlim(min(0.0, *drawn["ci_low"]), 1.02)
    axes.set_xlabel(f"Cohen's kappa over n = {n} scenarios, with interval")
    handles = [*(mark.handle for mark in MARKS.values()), ANNOTATORS.handle]
    legend_outside(figure, handles, columns=2)


def numbers(found: Estimates, ratings: pl.DataFrame, printed: float) -> dict[str, object]:
    """What captions and the finding name beside settings and estimates."""
    kappas = found.where(metric="kappa").frame
    of_raters = kappas.filter(pl.col("subject").is_in(RATERS), pl.col("scope") != ALL)
    means = of_raters.group_by("scope").agg(pl.col("value").mean())
    least = means.sort("value", "scope")["scope"][0]
    agreement = found.where(scope=ALL, metric="agreement").frame
    low, high = agreement.filter(pl.col("subject").is_in(RATERS)).sort("value").to_dicts()
    return {
        "n": ratings.height,
        "contested": contested(ratings).height,
        "reported_kappa": printed,
        "low": low,
        "high": high,
        "least": CATEGORY_LABELS[least].lower(),
        "of_least": dict(kappas.filter(scope=least).select("subject", "value").iter_rows()),
    }


def main() -> None:
    settings = read_statistics(ScenarioIntervalSettings)
    ratings = read_ratings(RATINGS, read_scenarios(SCENARIOS))
    printed = reported_number(read_reported(), "fleiss_kappa")
    measured = estimates(ratings, settings)
    # Fleiss' kappa, as the paper prints it, and without interval as there
    found = Estimates.of(measured).plus(
        *(
            row
            for subject, (left, right, _) in PAIRS.items()
            for row in reported(
                ratings.height,
                keys={"subject": subject, "scope": ALL},
                fleiss_kappa=fleiss_kappa(ratings, left, right),
            )
        )
    )
    metrics = found.nested(*KEYS)
    said = Captions.read("label_audit", settings, metrics, numbers(found, ratings, printed))
    shown = found.plus(*reported(keys={"subject": "reported"}, kappa=printed))
    kappas = found.where(metric="kappa").frame
    height = 0.85 + 0.3 * kappas["scope"].n_unique()
    publish(
        "label_audit",
        metrics=metrics,
        points=measured,
        tables=tables(shown, contested(ratings), said),
        figures={"label_audit": said.picture("figure", height, partial(draw, kappas, printed))},
        summary=measured.filter(scope=ALL).select(
            "subject", "metric", "value", "ci_low", "ci_high", "n"
        ),
    )


if __name__ == "__main__":
    run(main)
