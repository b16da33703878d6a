"""The report of the study of lenses: what they say of models, and whether that names conditions."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.reasoning_lenses.expected import Expected
from failbench.studies.reasoning_lenses.figure import lenses_picture
from failbench.studies.reasoning_lenses.models import Model, check_traces, look_at_models
from failbench.studies.reasoning_lenses.naming import PRIMARY
from failbench.studies.reasoning_lenses.naming_tables import (
    confusion_table,
    naming_table,
    pairs_table,
    untold,
)
from failbench.studies.reasoning_lenses.results import (
    ALL,
    Kept,
    Naming,
    Rate,
    kept,
    kept_rate,
    naming,
    number_table,
    verdict_table,
)
from failbench.studies.reasoning_lenses.sample import Shown, models_note
from failbench.studies.reasoning_lenses.settings import ReasoningLensesSettings
from failbench.studies.reasoning_lenses.shown import (
    check_pictured,
    finding,
    pictured_curves,
    pictured_finding,
    pictured_models,
)
from failbench.studies.reasoning_lenses.tables import (
    number_tables,
    rules_table,
    verdicts_table,
)


def report(
    traces: pl.DataFrame, expected: Sequence[Expected], settings: ReasoningLensesSettings
) -> StudyReport:
    """Look at every model through every lens, and say how often that tells what was done to it."""
    check_traces(traces, expected, settings.healthy)
    check_pictured(traces, settings.pictured, settings.healthy)
    models = look_at_models(traces, settings.resampling)
    chosen = pictured_models(models, settings.pictured, settings.healthy)
    answers = naming(models, settings)
    results = kept(models, expected, settings.healthy)
    rules = {
        name: kept_rate(some, models, settings) for name, some in _parts(results).items() if some
    }
    shown = Shown(
        models,
        models_note(models),
        settings.confidence,
        settings.answer_resamples,
        settings.healthy,
    )
    verdicts = verdict_table(models)
    numbers = rounded(number_table(models))
    curves = rounded(pictured_curves(models, chosen, settings.pictured.task))
    alike = untold(answers, shown)
    return StudyReport(
        metrics={
            "named": {
                lenses: {
                    classifier: _metric(rate)
                    for (of, classifier), rate in answers.rates.items()
                    if of == lenses
                }
                for lenses in dict.fromkeys(of for of, _ in answers.rates)
            },
            "chance": answers.chance,
            "majority": answers.majority,
            "pairs": len(answers.pairs[ALL]),
            "pairs_not_told_apart": len(alike),
            "verdicts_as_expected": {name: _metric(rate) for name, rate in rules.items()},
        },
        points={
            "reasoning_lenses": numbers,
            "reasoning_lenses_verdicts": verdicts,
            "reasoning_lenses_named": _named(models, answers),
            "reasoning_lenses_curves": curves,
        },
        tables=(
            naming_table(answers, shown),
            confusion_table(answers, shown),
            pairs_table(answers, shown),
            verdicts_table(verdicts, shown),
            rules_table(results, rules, shown),
            *number_tables(numbers, shown),
        ),
        figures={
            "reasoning_lenses": lenses_picture(
                curves,
                settings.pictured.task,
                pictured_finding(chosen, settings.pictured.task),
            ),
        },
        summary=(
            Summary(
                ("lenses", "classifier", "value", "ci_low", "ci_high", "n"),
                [
                    (*of, rate.value, rate.ci_low, rate.ci_high, rate.n)
                    for of, rate in answers.rates.items()
                ],
            ),
        ),
        sentences={"finding": finding(answers, rules, alike, settings)},
    )


def _parts(results: Sequence[Kept]) -> dict[str, list[Kept]]:
    """Expectations by what they are of: telling or not, and each lens."""
    parts: dict[str, list[Kept]] = {"telling": [], "silent": []}
    for each in results:
        parts["telling" if each.expected.telling else "silent"].append(each)
        parts.setdefault(each.expected.lens, []).append(each)
    return parts


def _metric(rate: Rate) -> dict[str, float]:
    metric = {
        "value": rate.value,
        "ci_low": rate.ci_low,
        "ci_high": rate.ci_high,
        "n": rate.n,
    }
    if rate.resampled_low is not None and rate.resampled_high is not None:
        metric |= {"resampled_low": rate.resampled_low, "resampled_high": rate.resampled_high}
    return metric


def _named(models: Sequence[Model], answers: Naming) -> pl.DataFrame:
    """What each model is named, by lenses, by the primary classifier."""
    return pl.DataFrame(
        [
            {
                "lenses": lenses,
                "model": model.name,
                "condition": model.condition,
                "seed": model.seed,
                "tokenizer": model.tokenizer,
                "named": name,
            }
            for (lenses, classifier), names in answers.names.items()
            if classifier == PRIMARY
            for model, name in zip(models, names, strict=True)
        ]
    )
