"""Explanations: on which evidence methods answer each failing run of one seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.features.catalogue import FEATURE_SETS, PRIMARY_SET
from failbench.features.feature_table import to_frame
from failbench.methods.band_features import band_features
from failbench.methods.healthy_band import HealthyBand, healthy_band
from failbench.prediction.fold_plans import NESTED_CV, FoldPlan, by_scenario
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.nested_cv import fit_fold
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.workers import parallel_map
from failbench.predictions import DECIMALS
from failbench.records import Record
from failbench.verdicts import Diagnosis, Evidence

SHOWN: Final = 5
"""Conditions of an answer that are kept."""

CHECKED_IN_ORDER: Final = ("simple_rules", "improved_rules", "learned_rules", "decision_tree")
"""Methods that check conditions in order, so that the last ones decide; of others the first do."""

ANSWER_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "scenario": pl.String,
        "method": pl.String,
        "prediction": pl.String,
        "confidence": pl.Float64,
        "evidence": pl.Int32,  # conditions that the answer has in all
    }
)

CONDITION_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "method": pl.String,
        "position": pl.Int32,
        "signal": pl.String,
        "number": pl.Float64,
        "words": pl.String,
        "relation": pl.String,
        "threshold": pl.Float64,
        "pattern": pl.String,
    }
)
"""A row per condition that is kept: a ``number`` was held against a ``threshold``, or ``words``,
which are empty where nothing matched, against a ``pattern``."""


@dataclass(frozen=True)
class Explanations:
    """Answers of one fit each, and the conditions that they rest on."""

    answers: pl.DataFrame
    conditions: pl.DataFrame


def measure_explanations(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    workers: int = 1,
) -> Explanations:
    """What each method says of the runs of the first seed, and on which evidence.

    The fits are those of the main study, on the paper's features, in the folds of the first repeat;
    each run is answered by the fit that has not learnt from its scenario.
    """
    runs = LabelledRuns.from_table(study.failures(features))
    band = healthy_band(to_frame(study.successes(features)), band_features())
    first = splits.filter(pl.col("repeat") == pl.col("repeat").min())
    tasks = [
        (runs, band, first, method, settings, study, plan)
        for method, settings in methods.items()
        for plan in by_scenario(NESTED_CV, first)
    ]
    parts = parallel_map(_explain_fold, tasks, workers)
    return Explanations(
        pl.concat(part.answers for part in parts).sort("run_id", "method"),
        pl.concat(part.conditions for part in parts).sort("run_id", "method", "position"),
    )


def _explain_fold(
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    study: ReferenceStudy,
    plan: FoldPlan,
) -> Explanations:
    columns = FEATURE_SETS[PRIMARY_SET]
    fitted, tested = fit_fold(runs, band, splits, method, settings, columns, study.seed, plan)
    asked = tested & (runs.table["seed"] == min(study.run_seeds)).to_numpy()
    table = runs.table.filter(pl.Series(asked))
    diagnoses = fitted.diagnose(runs.frame[asked])
    return explained(table["run_id"].to_list(), table["scenario"].to_list(), method, diagnoses)


def explained(
    run_ids: Sequence[str], scenarios: Sequence[str], method: str, diagnoses: Sequence[Diagnosis]
) -> Explanations:
    """Diagnoses of one method as tables."""
    answers, conditions = [], []
    for run_id, scenario, diagnosis in zip(run_ids, scenarios, diagnoses, strict=True):
        evidence = diagnosis.evidence
        confidence = round(float(diagnosis.confidence), DECIMALS)
        answers.append((run_id, scenario, method, diagnosis.category, confidence, len(evidence)))
        kept = evidence[-SHOWN:] if method in CHECKED_IN_ORDER else evidence[:SHOWN]
        conditions += [
            (run_id, method, position, *_condition(each)) for position, each in enumerate(kept)
        ]
    return Explanations(
        pl.DataFrame(answers, schema=ANSWER_SCHEMA, orient="row"),
        pl.DataFrame(conditions, schema=CONDITION_SCHEMA, orient="row"),
    )


def evidence_of(condition: Mapping[str, object]) -> Evidence:
    """The evidence that a row of ``CONDITION_SCHEMA`` was made of."""
    value, threshold = (
        condition[name] if condition[name] is not None else condition[other]
        for name, other in (("words", "number"), ("pattern", "threshold"))
    )
    # a number that is missing is stored as NaN, so that neither is null
    return Evidence(condition["signal"], value, condition["relation"], threshold)  # type: ignore[arg-type]


def _condition(evidence: Evidence) -> tuple[str, float | None, str | None, str, object, object]:
    number, words = _apart(evidence.value)
    threshold, pattern = _apart(evidence.threshold)
    return evidence.signal, number, words, evidence.relation, threshold, pattern


def _apart(value: float | str) -> tuple[float | None, str | None]:
    """A number, rounded to six significant digits, or words."""
    if isinstance(value, str):
        return None, value
    return float(f"{value:.6g}"), None
