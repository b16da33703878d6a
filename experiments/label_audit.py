"""Stage label_audit: the labels of the scenarios against raters that were told the causes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Self

import polars as pl
from matplotlib.figure import Figure
from pydantic import Field, model_validator

from failbench import study as st

RATINGS = Path("data/reported/label_raters.csv")
SCENARIOS = Path("data/scenarios")
AUTHOR_B = (Path("data/author_b/label_raters.csv"), Path("data/author_b/scenarios"))
"""What two other raters answered of another author's causes, and where these are."""

KEYS = ("subject", "scope", "metric")
RATERS = ("rater_1", "rater_2")
ALL, OF_B, BOTH = "all", "author_b", "raters"
"""The scopes of all scenarios and of all of author B, beside those of a label; and the raters held
against one another."""

PAIRS = {
    RATERS[0]: ("category", RATERS[0], "the labels and rater 1"),
    RATERS[1]: ("category", RATERS[1], "the labels and rater 2"),
    BOTH: (*RATERS, "rater 1 and rater 2"),
}
"""Two sorts of answers to the same scenarios, and both in words, by subject."""

EVENLY_DIVIDED = 2
"""The highest contest: the rater expects engineers to be evenly divided."""

Contest = Annotated[int, Field(ge=0, le=EVENLY_DIVIDED)]
Choice = Annotated[st.Category | None, st.OrNone]
REMEDY = "Restore it with git."
ASK = "Restore it with git, or add what both raters answer: see data/reported/README.md."


class Rating(st.Record):
    """What both raters answered for one scenario; a row of ``data/reported/label_raters.csv``.

    ``contest`` is 0 where a rater expects that no engineer would disagree, 1 where some would and 2
    where they would be evenly divided; ``second`` is the second choice, which 0 leaves out.
    """

    scenario: st.Identifier
    rater_1: st.Category
    contest_1: Contest
    second_1: Choice
    rater_2: st.Category
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


def read_ratings(path: Path, scenarios: Sequence[st.Scenario]) -> pl.DataFrame:
    """Read what the raters answered, beside the label of each scenario."""
    defined = {scenario.id: scenario for scenario in scenarios}
    ratings = {row.scenario: row for row in st.read_rows(path, Rating, REMEDY, ("scenario",))}
    for line, name in enumerate(ratings, start=2):
        if name not in defined:
            problem = f"{name!r} is no scenario that is defined."
            remedy = f"Take it out, or restore {name}.json with git."
            raise st.BadInputError(f"{path}, line {line}", "scenario", problem, remedy)
    if missing := sorted(set(defined) - set(ratings)):
        problem = f"there is no row of {missing[0]!r} (of {len(missing)} scenarios in all)."
        raise st.BadInputError(path, "scenario", problem, ASK)
    return pl.DataFrame(
        [
            {"category": scenario.category, "root_cause": scenario.root_cause}
            | ratings[name].model_dump()
            for name, scenario in defined.items()
        ],
        infer_schema_length=None,
    )


def contest(subject: str) -> pl.Expr:
    """How contested a rater calls a scenario; of both raters, the higher."""
    return pl.max_horizontal(f"contest_{each[-1]}" for each in RATERS if subject in (each, BOTH))


def shares(ratings: pl.DataFrame) -> Iterator[st.ValueMetric]:
    """Agreement and contest, each named by subject, scope and metric."""

    def share(
        name: str, part: pl.Expr, question: str, whole: pl.Expr | None = None
    ) -> st.ValueMetric:
        values = st.weighted_mean(ratings, part, pl.lit(1.0) if whole is None else whole)
        return st.proportion(name, values, f"probability that {question}")

    for subject, (left, right, both) in PAIRS.items():
        alike = pl.col(left) == pl.col(right)
        question = f"{both} put a new scenario in one category"
        yield share(f"{subject}/{ALL}/agreement", alike, question)
        for label in st.CATEGORIES:
            of_label, given = pl.col("category") == label, f"{question}, given the label {label}"
            yield share(f"{subject}/{label}/agreement", alike, given, of_label)
        by = "one of the raters" if subject == BOTH else st.words(subject)
        for metric, least in (("contested", 1), ("evenly_divided", EVENLY_DIVIDED)):
            called = f"{by} calls the category of a new scenario {st.words(metric)}"
            yield share(f"{subject}/{ALL}/{metric}", contest(subject).ge(least), called)
    for rater in RATERS:
        choices = (pl.col(rater), pl.col(f"second_{rater[-1]}"))
        among = pl.any_horizontal(choice.eq_missing(pl.col("category")) for choice in choices)
        question = "the label of a new scenario is the first or second choice"
        yield share(f"{rater}/{ALL}/label_among_two", among, question)


def estimates(ratings: pl.DataFrame, settings: st.ScenarioIntervalSettings) -> pl.DataFrame:
    """How far raters that were told causes agree with the labels and with one another."""
    answers = ratings.with_columns(prediction=RATERS[0], repeat=pl.lit(0), seed=pl.lit(0))
    found = st.of_scenarios(answers, (), settings, tuple(shares(ratings)))
    sizes = dict(ratings.group_by("category").len().iter_rows()) | {ALL: ratings.height}
    of_scope = pl.col("scope").replace_strict(sizes)  # of a label those alone
    frames = [st.by_path(found, *KEYS[:2]).with_columns(n=of_scope)]
    for subject, (left, right, both) in PAIRS.items():
        kappa = partial(st.kappa_interval, ratings, settings=settings)
        one, other = pl.col(left), pl.col(right)
        kappas = {ALL: kappa(one, other, answers=st.CATEGORIES, what=both)}
        for label in st.CATEGORIES:
            what = f"{both}, {label} against the rest"
            kappas[label] = kappa(one == label, other == label, answers=(False, True), what=what)
        frames += [
            st.estimate_rows({"kappa": each}, subject=subject, scope=scope)
            for scope, each in kappas.items()
        ]
    return pl.concat(frames, how="vertical_relaxed")


def contested(ratings: pl.DataFrame) -> pl.DataFrame:
    """The scenarios where a rater differs from the label, or expects engineers to be divided."""
    differs = pl.any_horizontal(pl.col(rater) != pl.col("category") for rater in RATERS)
    return ratings.filter(differs | contest(BOTH).ge(EVENLY_DIVIDED))


MARKS = {
    RATERS[0]: st.Mark("rater 1 and the labels", st.BLUE, "o"),
    RATERS[1]: st.Mark("rater 2 and the labels", st.VERMILLION, "s"),
    BOTH: st.Mark("rater 1 and rater 2", st.BLACK, "D", "none"),
}
ANNOTATORS = replace(st.REPORTED, label="reported: the original's two annotators, people")


def tables(found: st.Estimates, divided: pl.DataFrame, said: st.Captions) -> Iterator[st.Table]:
    """Agreement over all scenarios and by label, and the scenarios that are contested."""
    # where two never differ, resampling says nothing
    sure = pl.when(pl.col("interval").ne_missing("point"))
    found = st.Estimates(found.frame.with_columns(sure.then(pl.col("ci_low", "ci_high"))))
    compared = []
    for scope, subject in product((ALL, OF_B), MARKS):
        keys = {"subject": subject, "scope": scope}
        share, n = found.value(**keys, metric="agreement"), found.n(**keys, metric="agreement")
        whose = ", author B" if scope == OF_B else ""
        texts = (MARKS[subject].label.capitalize() + whose, f"{share * int(n):.0f} of {n}")
        compared.append(st.Row(texts, keys))
    compared.append(st.Row((ANNOTATORS.label.capitalize(), st.ABSENT), {"subject": "reported"}))
    yield st.table("label_audit", found, None, compared, said)
    body = st.rows("scope", dict(st.CATEGORY_LABELS))
    yield st.table("label_audit_categories", found, None, body, said)
    differing = (
        pl.when(pl.col(rater) != pl.col("category")).then(pl.lit(st.words(rater)))
        for rater in RATERS
    )
    joined = pl.concat_str(differing, separator=" and ", ignore_nulls=True)
    of_raters = [each for rater in "12" for each in (f"rater_{rater}", f"second_{rater}")]
    contested = divided.with_columns(
        pl.col("scenario", "category", *of_raters).str.replace_all("_", " "),
        pl.col("^contest_.$").cast(pl.String),
        differs=pl.when(joined != "").then(joined),
    ).select(
        *("scenario", "root_cause", "category"),
        *(f"{each}_{rater}" for rater in "12" for each in ("rater", "contest", "second")),
        "differs",
    )
    yield st.sheet("label_audit_contested", contested.fill_null(st.ABSENT).rows(), said)


def draw(kappas: pl.DataFrame, printed: float, figure: Figure) -> None:
    """Cohen's kappa with its interval, a row for all scenarios and for each category."""
    n = kappas["n"][0]
    axes = figure.subplots()
    drawn = kappas.rename({"scope": "row", "subject": "mark"})
    labels = {ALL: f"All {n} scenarios"} | st.CATEGORY_LABELS
    st.dot_plot(axes, drawn, labels, MARKS, scale=1.0, heavy_above=st.CATEGORIES[:1])
    axes.plot(printed, 0, **ANNOTATORS.look)
    axes.set_xlim(min(0.0, *drawn["ci_low"]), 1.02)
    axes.set_xlabel(f"Cohen's kappa over n = {n} scenarios, with interval")
    st.legend_outside(figure, [*MARKS.values(), ANNOTATORS], columns=2)


def numbers(found: st.Estimates, ratings: pl.DataFrame) -> dict[str, object]:
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
        "low": low,
        "high": high,
        "least": st.CATEGORY_LABELS[least].lower(),
        "of_least": dict(kappas.filter(scope=least).select("subject", "value").iter_rows()),
    }


def main() -> None:
    settings = st.read_statistics(st.ScenarioIntervalSettings)
    ratings = read_ratings(RATINGS, st.read_scenarios(SCENARIOS))
    paper = st.read_reported()
    printed = st.reported_number(paper, "fleiss_kappa")
    others = read_ratings(AUTHOR_B[0], st.read_scenarios(AUTHOR_B[1]))
    measured = estimates(ratings, settings)
    named = numbers(st.Estimates.of(measured), ratings)
    of_b = estimates(others, settings).filter(scope=ALL).with_columns(scope=pl.lit(OF_B))
    kappas = st.Estimates.of(measured).where(metric="kappa").frame
    measured = pl.concat([measured, of_b])
    # Fleiss' kappa, as the paper prints it, and without interval as there
    found = st.Estimates.of(measured)
    for subject, (left, right, _) in PAIRS.items():
        keys, kappa = {"subject": subject, "scope": ALL}, st.fleiss_kappa(ratings, left, right)
        found = found.plus(*st.reported(ratings.height, keys=keys, fleiss_kappa=kappa))
    metrics = found.nested(*KEYS)
    said = st.Captions.read("label_audit", settings, paper, metrics, named)
    shown = found.plus(*st.reported(keys={"subject": "reported"}, kappa=printed))
    height = 0.85 + 0.3 * kappas["scope"].n_unique()
    st.publish(
        "label_audit",
        metrics=metrics,
        points=measured,
        tables=tables(shown, contested(ratings), said),
        figures={"label_audit": said.picture("figure", height, partial(draw, kappas, printed))},
        summary=measured.filter(pl.col("scope").is_in([ALL, OF_B])).select(
            "subject", "scope", "metric", "value", "ci_low", "ci_high", "n"
        ),
    )


if __name__ == "__main__":
    st.run(main)
