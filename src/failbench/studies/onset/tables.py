"""Tables of onset: claims with their verdicts, kinds, rules of thumb, and other definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

from failbench.reporting.cells import (
    ABSENT,
    interval_cell,
    one_decimal,
    percent,
    three_decimals,
    two_decimals,
    with_interval,
    words,
)
from failbench.reporting.labels import ARCHITECTURE_LABELS, CATEGORY_LABELS
from failbench.reporting.table import Column, Table
from failbench.studies.onset.claims import OF_ONSET, verdict
from failbench.studies.onset.course import HEAD_STEPS
from failbench.studies.onset.estimates import Association, Indicator
from failbench.studies.onset.notes import (
    CLAIM_NOTE,
    FAULT_NOTE,
    KINDS_NOTE,
    OTHERS_NOTE,
    ROBUST_NOTE,
    RUNS_NOTE,
    TEST_NOTE,
    TEXT_NOTE,
    VARIANT_NOTE,
    VERDICT_NOTE,
    WORDS_NOTE,
)
from failbench.studies.onset.results import ALL, READINGS, Decided, of_indicator
from failbench.studies.onset.runs import BANDS
from failbench.studies.onset.shown import OfSetting, Shown
from failbench.studies.onset.signs import Band, Reading
from failbench.vocabulary import CATEGORIES

KIND_LABELS: Final = {"gradual": "Gradual", "sudden": "Sudden", "none": "No sign"}

RULE_LABELS: Final = {
    "gradual": ("gradual", "optimization or memory hardware"),
    "sudden_software": ("sudden or no sign", "model software"),
    "sudden_trigger": ("sudden or no sign", "fault switched on in mid-run"),
    "sudden_either": ("sudden or no sign", "model software, or switched on"),
    "norm_above_paper": ("gradient norm above the paper's threshold", "optimization"),
    "norm_above_healthy": ("gradient norm above healthy runs", "optimization"),
    "norm_grew": ("gradient norm grows tenfold", "optimization"),
    "text_named": ("words in the error text name a category", "the category named"),
}
"""Sign and target of each rule."""

TEXT_LABELS: Final = {
    "has_text": "Left an error text",
    "named": "of these: words name a category",
    "named_wrong": "of these: words name a wrong category",
    "shared": "of these: text shared with another category",
}


def onset_tables(shown: Shown) -> tuple[Table, ...]:
    """The tables, the claims first."""
    return (
        _claims_table(shown),
        _kinds_table(shown),
        _rules_table(shown),
        _settings_table(shown),
        _variants_table(shown),
        _texts_table(shown),
    )


def _kinds_note(shown: Shown) -> str:
    return KINDS_NOTE.format(
        head=HEAD_STEPS,
        successes=shown.reference.successes,
        persistence=shown.chosen.persistence,
        sds=shown.chosen.healthy_sds,
        near=shown.chosen.near_steps,
        false=interval_cell(shown.reference.false_signs),
    )


def _runs_note(shown: Shown) -> str:
    found = shown.reference.found
    return RUNS_NOTE.format(
        runs=found.runs,
        setting=shown.reference.setting.name,
        scenarios=found.scenarios,
        seeds=found.seeds,
        interval=100 * shown.chosen.confidence,
        below=shown.chosen.wilson_below - 1,
    )


def _test_note(shown: Shown) -> str:
    return TEST_NOTE.format(permutations=shown.chosen.permutations)


def _number(value: float) -> str:
    """A count of scenarios, of which some runs may count only in part.

    >>> _number(3.0), _number(3.3333)
    ('3', '3.3')
    """
    return str(round(value)) if value == round(value) else one_decimal(value)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else three_decimals(value)


def _against(each: Decided) -> str:
    if each.measured.base is None:
        return ABSENT
    if each.claim.test == "chance":
        return f"{two_decimals(each.measured.base)}, p {_p(each.measured.p or 0.0)}"
    return percent(each.measured.base)


def _value(each: Decided) -> str:
    form = two_decimals if each.claim.test == "chance" else percent
    found = each.measured
    return with_interval(found.value, found.ci_low, found.ci_high, form)


def _claims_table(shown: Shown) -> Table:
    chosen = shown.chosen
    return Table.of(
        "onset_claims",
        (
            Column("The paper says", align="left", width=0.24, cell=lambda row: row.claim.said),
            Column("Section", align="left", cell=lambda row: row.claim.place),
            Column("Measured", align="left", width=0.26, cell=lambda row: row.claim.measured),
            Column("Value", cell=_value),
            Column("Held against", cell=_against),
            Column("Scenarios", cell=lambda row: _number(row.measured.scenarios)),
            Column("Runs", cell=lambda row: str(row.measured.runs)),
            Column("Verdict", align="left", cell=lambda row: row.verdict),
        ),
        shown.claims,
        "What the paper says of onsets, gradient norms and error texts, and what was measured.",
        (
            _kinds_note(shown),
            CLAIM_NOTE.format(
                norm=shown.simple.gradient_norm,
                norm_sds=shown.simple.healthy_sds,
                growth=chosen.growth,
                history=chosen.growth_history,
                false=interval_cell(shown.reference.false_growth),
                repeats=shown.repeats,
            ),
            VERDICT_NOTE.format(margin=100 * chosen.equivalence_margin),
            _others_note(shown),
            _runs_note(shown),
            _test_note(shown),
            shown.scale,
        ),
    )


def _others_note(shown: Shown) -> str:
    """How often other definitions come to another end."""
    chosen = shown.chosen
    alpha = round(1 - chosen.confidence, 6)
    main = (BANDS[0], READINGS[0], chosen.near_steps)
    others = [variant for key, variant in shown.variants.items() if key != main]
    gradual = [
        verdict("base", of_indicator(rule, rule.base), chosen.equivalence_margin, alpha)
        for rule in (variant.rules["gradual"] for variant in others)
    ]
    return OTHERS_NOTE.format(
        others=len(others),
        associated=sum(each.association.independence.p < alpha for each in others),
        alpha=alpha,
        holds=gradual.count("holds"),
        fails=gradual.count("does not hold"),
    )


def _kinds_table(shown: Shown) -> Table:
    found = shown.reference.found
    rows = {
        category: shown.rows
        if category == ALL
        else shown.rows.filter(pl.col("category") == category)
        for category in (*CATEGORIES, ALL)
    }

    def kind(name: str) -> Callable[[str], str]:
        return lambda category: interval_cell(found.kinds[category][name])

    def quartiles(column: str) -> Callable[[str], str]:
        return lambda category: _quartiles(rows[category][column])

    tested = found.association
    return Table.of(
        "onset_kinds",
        (
            Column("Category", align="left", cell=_category),
            Column("Scenarios", cell=lambda name: str(rows[name]["scenario"].n_unique())),
            Column("Runs", cell=lambda name: str(rows[name].height)),
            *(Column(label, cell=kind(name)) for name, label in KIND_LABELS.items()),
            Column("Lead", "Steps, median [quartiles]", cell=quartiles("lead")),
            Column("Since onset", "Steps, median [quartiles]", cell=quartiles("since_onset")),
            Column("Before", cell=lambda name: _before_onset(rows[name])),
        ),
        rows,
        "How failures of each category set in: gradually, suddenly, or without a sign, percent. "
        f"Cramér's V is {interval_cell(tested.v, two_decimals)}, of permuted categories "
        f"{two_decimals(tested.independence.expected)} (p {_p(tested.independence.p)}).",
        (_kinds_note(shown), FAULT_NOTE, _runs_note(shown), _test_note(shown)),
    )


def _category(name: str) -> str:
    return next((label for key, label in CATEGORY_LABELS.items() if key == name), "All")


def _quartiles(steps: pl.Series) -> str:
    known = steps.drop_nulls()
    if known.is_empty():
        return ABSENT
    low, middle, high = (known.quantile(share, "linear") for share in (0.25, 0.5, 0.75))
    assert low is not None
    assert middle is not None
    assert high is not None
    return with_interval(middle, low, high, lambda value: f"{value:.0f}")


def _before_onset(rows: pl.DataFrame) -> str:
    """Of the signs in runs whose fault was switched on in mid-run, those that came before that."""
    signs = rows.filter("switched_on").drop_nulls("lead")
    if signs.is_empty():
        return ABSENT
    return f"{signs.filter(pl.col('lead') > pl.col('since_onset')).height} of {signs.height}"


def _precision(rule: Indicator) -> str:
    return ABSENT if rule.precision is None else interval_cell(rule.precision)


def _rules_table(shown: Shown) -> Table:
    rules = shown.reference.found.rules
    return Table.of(
        "onset_rules",
        (
            Column("Sign", align="left", width=0.26, cell=lambda name: RULE_LABELS[name][0]),
            Column("Points to", align="left", width=0.24, cell=lambda name: RULE_LABELS[name][1]),
            Column("Scenarios", "Shown by", cell=lambda name: _number(rules[name].scenarios)),
            Column("Runs", "Shown by", cell=lambda name: str(rules[name].runs)),
            Column("Precision", cell=lambda name: _precision(rules[name])),
            Column("Base rate", cell=lambda name: percent(rules[name].base)),
            Column("Recall", cell=lambda name: interval_cell(rules[name].recall)),
        ),
        RULE_LABELS,
        "What each sign says of the cause: how often it is right, how often that is so of all "
        "scenarios, and how often it is shown.",
        (
            _kinds_note(shown),
            WORDS_NOTE,
            _runs_note(shown),
        ),
    )


def _association_columns(of: Callable[..., Association]) -> tuple[Column, ...]:
    return (
        Column("V", "Association", cell=lambda row: interval_cell(of(row).v, two_decimals)),
        Column(
            "Chance", "Association", cell=lambda row: two_decimals(of(row).independence.expected)
        ),
        Column("p", "Association", cell=lambda row: _p(of(row).independence.p)),
    )


SHORT_RULES: Final = {
    "gradual": "Gradual: optimization or memory",
    "sudden_software": "Sudden: model software",
    "sudden_trigger": "Sudden: switched on",
    "sudden_either": "Sudden: either",
    "norm_above_paper": "Norm: optimization",
}


OF_SETTINGS: Final = ("gradual", "sudden_software", "sudden_trigger", "norm_above_paper")
"""The rules that stand in the table of settings."""


def setting_label(each: OfSetting) -> str:
    """A setting as tables call it; the optimizer where it is not AdamW."""
    label = ARCHITECTURE_LABELS[each.setting.architecture]
    return label if each.setting.optimizer == "adamw" else f"{label}, SGD"


def _settings_table(shown: Shown) -> Table:
    def rule(name: str) -> Callable[[OfSetting], str]:
        def cell(row: OfSetting) -> str:
            found = row.found.rules[name]
            return f"{_precision(found)} / {percent(found.base)}"

        return cell

    def share(kind: str) -> Callable[[OfSetting], str]:
        return lambda row: interval_cell(row.found.kinds[ALL][kind])

    return Table.of(
        "onset_settings",
        (
            Column("Setting", align="left", width=0.11, cell=setting_label),
            Column("n", width=0.04, cell=lambda row: str(row.found.scenarios)),
            Column("Runs", width=0.05, cell=lambda row: str(row.found.runs)),
            Column("Gradual", width=0.11, cell=share("gradual")),
            Column(
                "V",
                width=0.1,
                cell=lambda row: interval_cell(row.found.association.v, two_decimals),
            ),
            Column("p", width=0.06, cell=lambda row: _p(row.found.association.independence.p)),
            *(Column(SHORT_RULES[name], width=0.11, cell=rule(name)) for name in OF_SETTINGS),
            Column("False signs", width=0.09, cell=lambda row: interval_cell(row.false_signs)),
        ),
        shown.settings,
        "The same in every recorded setting, the reference first: shares and association, and the "
        "precision of each rule beside its base rate, percent.",
        (
            _kinds_note(shown),
            ROBUST_NOTE.format(
                fewest=min(each.successes for each in shown.settings),
                most=max(each.successes for each in shown.settings),
            ),
            _test_note(shown),
            shown.scale_everywhere,
        ),
    )


def _variants_table(shown: Shown) -> Table:
    variants = shown.variants

    def rule(name: str) -> Callable[[tuple[Band, Reading, int]], str]:
        return lambda key: _precision(variants[key].rules[name])

    return Table.of(
        "onset_variants",
        (
            Column("Band", align="left", cell=lambda key: words(key[0])),
            Column("By", align="left", cell=lambda key: words(key[1])),
            Column("Near, steps", cell=lambda key: str(key[2])),
            *_association_columns(lambda key: variants[key].association),
            *(Column(SHORT_RULES[name], "Precision", cell=rule(name)) for name in OF_ONSET),
        ),
        variants,
        "The same with other definitions of what is outside, what is abrupt, and what is near.",
        (
            VARIANT_NOTE.format(
                sds=shown.chosen.healthy_sds,
                near=shown.chosen.near_steps,
                persistence=shown.chosen.persistence,
            ),
            _test_note(shown),
            _runs_note(shown),
        ),
    )


def _texts_table(shown: Shown) -> Table:
    texts = shown.texts
    return Table.of(
        "onset_texts",
        (
            Column("Runs that", align="left", cell=lambda name: TEXT_LABELS[name]),
            Column("Share", cell=lambda name: interval_cell(texts.shares[name])),
            Column("Scenarios", cell=lambda name: str(texts.scenarios[name])),
            Column("Runs", cell=lambda name: str(texts.runs[name])),
        ),
        TEXT_LABELS,
        "What error texts say by themselves, percent.",
        (TEXT_NOTE, _runs_note(shown)),
    )
