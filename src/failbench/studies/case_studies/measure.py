"""Case studies: two failing runs picked by rule, what they showed, and what was said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from failbench.features.catalogue import FEATURE_SETS, PRIMARY_SET
from failbench.features.feature_table import to_frame
from failbench.methods.band_features import band_features
from failbench.methods.healthy_band import HealthyBand, healthy_band
from failbench.prediction.fold_plans import NESTED_CV, by_scenario
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.nested_cv import fit_fold
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.workers import parallel_map
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.studies.case_studies.cases import (
    Case,
    CaseStudiesSettings,
    candidates_table,
    pick_cases,
)
from failbench.studies.case_studies.evidence import (
    CaseDiagnosis,
    diagnoses_table,
    evidence_table,
)
from failbench.studies.case_studies.facts import case_facts
from failbench.telemetry import Telemetry
from failbench.verdicts import Diagnosis


@dataclass(frozen=True)
class CaseMeasurements:
    """What was measured of the cases, as it is saved: a table per attribute."""

    cases: pl.DataFrame
    facts: pl.DataFrame
    diagnoses: pl.DataFrame
    evidence: pl.DataFrame


def measure_case_studies(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    features: pl.DataFrame,
    splits: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    settings: CaseStudiesSettings,
    workers: int = 1,
) -> CaseMeasurements:
    """Pick the two cases, collect what was recorded of them, and ask the methods."""
    cases = pick_cases(telemetry, tuple(scenarios), study, settings)
    diagnoses = case_diagnoses(cases, features, splits, study, methods, workers)
    return CaseMeasurements(
        candidates_table(cases),
        pl.concat(case_facts(telemetry, case, settings.settled_steps) for case in cases),
        diagnoses_table(diagnoses),
        evidence_table(diagnoses),
    )


def case_diagnoses(
    cases: Sequence[Case],
    features: pl.DataFrame,
    splits: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    workers: int = 1,
) -> tuple[CaseDiagnosis, ...]:
    """What each method says of each case, and on which evidence: by case, then method.

    The fit is that of the main study, on the paper's features, in the fold of the first repeat that
    tests the scenario.
    """
    runs = LabelledRuns.from_table(study.failures(features))
    band = healthy_band(to_frame(study.successes(features)), band_features())
    tasks = [
        (case, method, settings, runs, band, splits, study.seed)
        for case in cases
        for method, settings in methods.items()
    ]
    return tuple(
        CaseDiagnosis(case.name, method, diagnosis)
        for (case, method, *_), diagnosis in zip(
            tasks, parallel_map(_diagnosis, tasks, workers), strict=True
        )
    )


def _diagnosis(
    case: Case,
    method: str,
    settings: Record,
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    seed: int,
) -> Diagnosis:
    first = splits.filter(pl.col("repeat") == pl.col("repeat").min())
    (fold,) = first.filter(pl.col("scenario") == case.scenario)["fold"]
    plan = next(plan for plan in by_scenario(NESTED_CV, first) if plan.fold == fold)
    features = FEATURE_SETS[PRIMARY_SET]
    fitted, _ = fit_fold(runs, band, splits, method, settings, features, seed, plan)
    (diagnosis,) = fitted.diagnose(runs.frame.loc[[case.run_id]])
    return diagnosis
