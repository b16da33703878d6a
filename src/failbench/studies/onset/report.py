"""The report of onset: section 7.4 of the paper, tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from failbench.errors import BadInputError
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy, RunSetting
from failbench.reporting.scope import scale_of
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.scenarios import Scenario
from failbench.statistics.bootstrap import Interval
from failbench.studies.onset.claims import CLAIMS
from failbench.studies.onset.estimates import Association, Indicator, shares
from failbench.studies.onset.figure import onset_picture, onset_points
from failbench.studies.onset.results import (
    Decided,
    decide,
    sensitivity,
    setting_results,
    text_results,
    with_answers,
    with_kind,
)
from failbench.studies.onset.runs import BANDS, observed_runs, recorded_settings
from failbench.studies.onset.settings import OnsetSettings
from failbench.studies.onset.shown import OfSetting, Shown
from failbench.studies.onset.tables import onset_tables
from failbench.telemetry import Telemetry

MAIN_BAND = BANDS[0]


def report(
    telemetry: Telemetry,
    scenarios: Sequence[Scenario],
    features: pl.DataFrame,
    predictions: pl.DataFrame,
    reference: ReferenceStudy,
    settings: OnsetSettings,
    simple: SimpleRulesSettings,
) -> StudyReport:
    """Say how failures set in, and what that, gradient norms and error texts say of the cause."""
    observed = {
        setting: observed_runs(_runs_of(setting, telemetry), scenarios, features, settings, simple)
        for setting in recorded_settings(telemetry.runs)
    }
    main = RunSetting(**reference.model_dump(include={"architecture", "optimizer", "scale"}))
    if main not in observed:
        raise BadInputError(
            "params.yaml",
            "nested_cv.architecture",
            f"no failing run of {main.name} is recorded.",
            "Name a setting of record.settings.",
        )
    observed[main] = observed[main].filter(pl.col("seed").is_in(reference.run_seeds))
    rows = with_kind(observed[main], MAIN_BAND, settings.near_steps)
    found = {
        setting: _of_setting(setting, telemetry, table, settings)
        for setting, table in sorted(observed.items(), key=lambda item: item[0] != main)
    }
    answered = with_answers(rows, predictions)
    failing = telemetry.runs.filter(kind="failure")
    shown = Shown(
        reference=found[main],
        settings=tuple(found.values()),
        rows=rows,
        claims=decide(answered, found[main].found, settings),
        variants=sensitivity(observed[main], settings),
        texts=text_results(rows, settings),
        chosen=settings,
        simple=simple,
        repeats=predictions["repeat"].n_unique(),
        scale=scale_of(main.of(failing)),
        scale_everywhere=scale_of(failing),
    )
    points = rounded(onset_points(shown))
    return StudyReport(
        metrics=onset_metrics(shown),
        points={"onset": points},
        tables=onset_tables(shown),
        figures={"onset": onset_picture(points, shown)},
        summary=(_summary(shown.claims),),
    )


def _runs_of(setting: RunSetting, telemetry: Telemetry) -> Telemetry:
    return telemetry.select(
        (pl.col("architecture") == setting.architecture)
        & (pl.col("optimizer") == setting.optimizer)
        & (pl.col("scale") == setting.scale)
    )


def _of_setting(
    setting: RunSetting, telemetry: Telemetry, observed: pl.DataFrame, settings: OnsetSettings
) -> OfSetting:
    twins = observed.filter(pl.col("kind") == "twin")
    shown = {"sign": pl.col(f"{MAIN_BAND}_lead").is_not_null(), "growth": pl.col("norm_grew")}
    false = shares(twins, shown, settings)
    rows = with_kind(observed, MAIN_BAND, settings.near_steps)
    successes = setting.of(telemetry.runs).filter(pl.col("kind") == "success").height
    found = setting_results(rows, settings)
    return OfSetting(setting, found, false["sign"], false["growth"], successes)


def onset_metrics(shown: Shown) -> dict[str, Any]:
    """Nested scalars: claims, kinds by category, rules, texts, settings and variants."""
    found = shown.reference.found
    return {
        "claims": {each.claim.name: _claim(each) for each in shown.claims},
        "kinds": {
            category: {kind: _estimate(share) for kind, share in kinds.items()}
            for category, kinds in found.kinds.items()
        },
        "association": _association(found.association),
        "rules": {name: _rule(rule) for name, rule in found.rules.items()},
        "false_signs": _estimate(shown.reference.false_signs),
        "false_growth": _estimate(shown.reference.false_growth),
        "texts": {
            name: _estimate(share) | {"scenarios": shown.texts.scenarios[name]}
            for name, share in shown.texts.shares.items()
        },
        "settings": {
            each.setting.name: {
                "association": _association(each.found.association),
                "false_signs": _estimate(each.false_signs),
                "rules": {name: _rule(rule) for name, rule in each.found.rules.items()},
            }
            for each in shown.settings
        },
        "variants": {
            f"{band}_{reading}_{near}": {
                "association": _association(variant.association),
                "rules": {name: _rule(rule) for name, rule in variant.rules.items()},
            }
            for (band, reading, near), variant in shown.variants.items()
        },
    }


def _estimate(interval: Interval) -> dict[str, float]:
    return interval.model_dump(include={"value", "ci_low", "ci_high", "n"})


def _association(tested: Association) -> dict[str, float]:
    independence = tested.independence
    return {**_estimate(tested.v), "p": independence.p, "expected": independence.expected}


def _rule(rule: Indicator) -> dict[str, object]:
    precision = {} if rule.precision is None else {"precision": _estimate(rule.precision)}
    return {
        **precision,
        "recall": _estimate(rule.recall),
        "base": {"value": rule.base},
        "shown_by": {"scenarios": rule.scenarios, "runs": rule.runs},
    }


def _claim(each: Decided) -> Mapping[str, object]:
    measured = each.measured
    against = {"against": measured.base, "p": measured.p}
    return {
        "value": measured.value,
        "ci_low": measured.ci_low,
        "ci_high": measured.ci_high,
        "n": round(measured.scenarios),
        "scenarios": measured.scenarios,
        "runs": measured.runs,
        "verdict": each.verdict,
        **{name: value for name, value in against.items() if value is not None},
    }


def _summary(claims: Sequence[Decided]) -> Summary:
    assert len(claims) == len(CLAIMS)
    return Summary(
        ("claim", "value", "ci_low", "ci_high", "verdict"),
        [
            (
                each.claim.name,
                each.measured.value,
                each.measured.ci_low,
                each.measured.ci_high,
                each.verdict,
            )
            for each in claims
        ],
    )
