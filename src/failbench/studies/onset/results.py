"""Results of onset: kinds by category, rules of thumb, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.statistics.bootstrap import Interval
from failbench.studies.onset.claims import (
    ABRUPT,
    CLAIMS,
    OF_ONSET,
    RULES,
    Claim,
    Measured,
    Verdict,
    of,
    verdict,
)
from failbench.studies.onset.estimates import (
    Association,
    Indicator,
    Rule,
    association,
    indicators,
    mean_difference,
    shares,
)
from failbench.studies.onset.runs import BANDS
from failbench.studies.onset.settings import OnsetSettings
from failbench.studies.onset.signs import KINDS, Band, Reading, kind_of_onset
from failbench.vocabulary import CATEGORIES

READINGS: Final[tuple[Reading, ...]] = ("lead", "rise")
ALL: Final = "all"
SOFTWARE_SUDDEN, GREW_ELSEWHERE, TEXT_WRONG = "software_sudden", "norm_grew_elsewhere", "text_wrong"
CORROBORATED: Final = "corroborated"
TEXT_ONLY, TEXT_AND_SERIES = "raw_text", "raw_telemetry"
"""Methods that read the error text, and that with the step series, and no feature."""


@dataclass(frozen=True)
class Setting:
    """What was found in the runs of one setting, with one definition of kinds."""

    kinds: Mapping[str, Mapping[str, Interval]]
    association: Association
    rules: Mapping[str, Indicator]
    scenarios: int
    runs: int
    seeds: int


@dataclass(frozen=True)
class Variant:
    """What another definition of kinds comes to: their association, and the rules on them."""

    association: Association
    rules: Mapping[str, Indicator]


@dataclass(frozen=True)
class Decided:
    """A claim, what was measured of it, and the verdict."""

    claim: Claim
    measured: Measured
    verdict: Verdict


@dataclass(frozen=True)
class Texts:
    """What error texts say by themselves."""

    shares: Mapping[str, Interval]
    scenarios: Mapping[str, int]
    runs: Mapping[str, int]


def with_kind(
    observed: pl.DataFrame, band: Band, near_steps: int, reading: Reading = "lead"
) -> pl.DataFrame:
    """Failing runs with their kind of ``onset`` and the columns of one band, without its name."""
    names = {name: name.removeprefix(f"{band}_") for name in observed.columns}
    others = [name for each in BANDS if each != band for name in names if name.startswith(each)]
    return (
        observed.filter(pl.col("kind") == "failure")
        .drop(others)
        .rename({old: new for old, new in names.items() if old not in others})
        .with_columns(onset=kind_of_onset(near_steps, reading))
    )


def setting_results(rows: pl.DataFrame, settings: OnsetSettings) -> Setting:
    """Estimate kinds, their association with categories, and rules of thumb."""
    counted: dict[str, pl.Expr] = {kind: pl.col("onset") == kind for kind in KINDS}
    groups = {category: rows.filter(pl.col("category") == category) for category in CATEGORIES}
    return Setting(
        kinds={
            **{name: shares(group, counted, settings) for name, group in groups.items()},
            ALL: shares(rows, counted, settings),
        },
        association=association(rows, settings),
        rules=indicators(rows, RULES, settings),
        scenarios=rows["scenario"].n_unique(),
        runs=rows.height,
        seeds=rows["seed"].n_unique(),
    )


def text_results(rows: pl.DataFrame, settings: OnsetSettings) -> Texts:
    """Count what error texts say by themselves."""
    has_text = pl.col("has_text")

    def of_texts(holds: pl.Expr) -> pl.Expr:
        return pl.when(has_text).then(holds)

    named = pl.col("named").is_not_null()
    counted = {
        "has_text": has_text,
        "named": of_texts(named),
        "named_wrong": of_texts(named & (pl.col("named") != pl.col("category")).fill_null(False)),
        "shared": of_texts(pl.col("shared_text")),
    }
    held = {name: rows.filter(holds.fill_null(value=False)) for name, holds in counted.items()}
    return Texts(
        shares(rows, counted, settings),
        {name: each["scenario"].n_unique() for name, each in held.items()},
        {name: each.height for name, each in held.items()},
    )


def with_answers(rows: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """Rows with the mean correctness of two methods, a column each, where runs left a text."""
    correct = (
        predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
        .group_by("run_id", "method")
        .agg(pl.col("right").mean())
        .pivot("method", index="run_id", values="right")
    )
    methods = (TEXT_ONLY, TEXT_AND_SERIES)
    answered = rows.join(correct, on="run_id", how="left")
    for method in methods:
        if method not in answered.columns or answered[method].null_count():
            raise BadInputError(
                f"data/predictions/nested_cv/{method}.parquet",
                "run_id",
                "a failing run of the reference setting has no prediction.",
                "Run `dvc repro raw_telemetry`.",
            )
    return answered.with_columns(
        pl.when("has_text").then(pl.col(method)).alias(method) for method in methods
    )


def decide(rows: pl.DataFrame, found: Setting, settings: OnsetSettings) -> tuple[Decided, ...]:
    """The verdict on every claim, from the runs of the reference setting."""
    others = ~of("optimization")
    grew = rows.filter(others)
    software = rows.filter(of("model_software"))
    of_text = RULES["text_named"]
    wrong = {TEXT_WRONG: Rule(of_text.sign, ~of_text.target)}
    answered = rows.filter("has_text")
    further = {
        SOFTWARE_SUDDEN: _of_interval(
            shares(software, {"sudden": ABRUPT}, settings)["sudden"], software, base=0.5
        ),
        GREW_ELSEWHERE: _of_interval(
            shares(grew, {"grew": pl.col("norm_grew")}, settings)["grew"], grew, base=0.0
        ),
        TEXT_WRONG: of_indicator(
            indicators(rows, wrong, settings)[TEXT_WRONG], settings.equivalence_margin
        ),
        CORROBORATED: _of_interval(
            mean_difference(rows, TEXT_AND_SERIES, TEXT_ONLY, settings), answered, base=0.0
        ),
        "association": _of_association(found),
    }
    decided = []
    for claim in CLAIMS:
        if claim.name in further:
            measured = further[claim.name]
        else:
            rule = found.rules[claim.name]
            measured = of_indicator(rule, 0.5 if claim.test == "half" else rule.base)
        alpha = 1 - settings.confidence
        said = verdict(claim.test, measured, settings.equivalence_margin, alpha)
        decided.append(Decided(claim, measured, said))
    return tuple(decided)


def sensitivity(
    observed: pl.DataFrame, settings: OnsetSettings
) -> dict[tuple[Band, Reading, int], Variant]:
    """What comes out by each band, reading, and number of steps that counts as near."""
    steps = sorted({settings.near_steps, *settings.other_near_steps})
    on_kinds = {name: RULES[name] for name in OF_ONSET}
    variants = {}
    for band, reading, near in product(BANDS, READINGS, steps):
        rows = with_kind(observed, band, near, reading)
        variants[band, reading, near] = Variant(
            association(rows, settings), indicators(rows, on_kinds, settings)
        )
    return variants


def _of_interval(interval: Interval, rows: pl.DataFrame, base: float) -> Measured:
    return Measured(
        interval.value,
        interval.ci_low,
        interval.ci_high,
        base,
        None,
        rows["scenario"].n_unique(),
        rows.height,
    )


def of_indicator(rule: Indicator, base: float) -> Measured:
    """The precision of a rule as what is measured of a claim."""
    shown = rule.precision
    if shown is None:  # nothing shows the sign: anything may be true of it
        return Measured(0.0, 0.0, 1.0, base, None, 0.0, 0)
    return Measured(shown.value, shown.ci_low, shown.ci_high, base, None, rule.scenarios, rule.runs)


def _of_association(found: Setting) -> Measured:
    tested = found.association
    return Measured(
        tested.v.value,
        tested.v.ci_low,
        tested.v.ci_high,
        tested.independence.expected,
        tested.independence.p,
        found.scenarios,
        found.runs,
    )
