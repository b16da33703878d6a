"""Case studies: two failing runs picked by rule, what they showed, and what was said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
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
    pick_cases,
    recordings_of,
)
from failbench.telemetry import Telemetry
from failbench.verdicts import Diagnosis

PRIMARY = "19"


@dataclass(frozen=True)
class CaseDiagnosis:
    """What a method says of a case by a fit that has not learnt from its scenario.

    Attributes
    ----------
    case, method
        Which and who.
    diagnosis
        Of the first repeat.
    right
        In how many of the ``repeats`` the stored answer is the cause.
    """

    case: str
    method: str
    diagnosis: Diagnosis
    right: int
    repeats: int


@dataclass(frozen=True)
class CaseStudies:
    """Everything that the tables and the figure need.

    Attributes
    ----------
    cases
        The two, in the order of ``cases.CASES``.
    facts
        Keyed by (``case``, ``role``, ``quantity``), with ``value``: what each recording showed.
    diagnoses
        By case, then method.
    """

    cases: tuple[Case, ...]
    facts: pl.DataFrame
    diagnoses: tuple[CaseDiagnosis, ...]


def case_studies(
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
    features: pl.DataFrame,
    splits: pl.DataFrame,
    predictions: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    settings: CaseStudiesSettings,
    workers: int = 1,
) -> CaseStudies:
    """Pick the two cases, collect what was recorded of them, and ask the methods.

    Parameters
    ----------
    telemetry, scenarios
        All recordings, and the category and kind of onset of each scenario.
    features, splits, predictions
        Of the main study: features of its runs, its folds, and its stored answers.
    study
        Which runs and which seed.
    methods
        Settings by method, of those that are asked.
    settings
        The rule that picks, and the steps that means are over.
    workers
        Processes; results do not depend on it.

    Raises
    ------
    BadInputError
        If no run fits a case, its twin is missing, or a method no longer says what is stored.
    """
    cases = pick_cases(telemetry, tuple(scenarios), study, settings)
    return CaseStudies(
        cases,
        pl.concat(case_facts(telemetry, one, settings.settled_steps) for one in cases),
        case_diagnoses(cases, features, splits, predictions, study, methods, workers),
    )


def case_facts(telemetry: Telemetry, case: Case, settled_steps: int) -> pl.DataFrame:
    """What each recording of a case showed before the onset of the fault and from it on.

    Parameters
    ----------
    telemetry
        Must hold the run and its twin.
    case
        The run.
    settled_steps
        Steps before onset, and at the end, that a loss is averaged over.

    Returns
    -------
    polars.DataFrame
        ``case``, ``role``, ``run_id``, ``outcome``, ``error`` (type and message), ``quantity`` and
        ``value``; null where nothing was measured. Losses are in nats a token, memory is a fraction
        of capacity.
    """
    parts = []
    for role, run_id in recordings_of(telemetry, case).items():
        run = telemetry.runs.row(by_predicate=pl.col("run_id") == run_id, named=True)
        steps = telemetry.steps.filter(pl.col("run_id") == run_id).with_columns(
            pl.col("memory_bytes") / run["capacity_bytes"]
        )
        error = None
        if run["error_type"] is not None:
            error = f"{run['error_type']}: {run['error_message']}"
        values = _facts(steps, case.onset_step, settled_steps) | {
            "steps": run["steps"],
            "model_vocabulary": run["model_vocabulary"],
            "learning_rate": run["nominal_learning_rate"],
            "clip_norm": run["nominal_clip_norm"],
        }
        parts.append(
            pl.DataFrame(
                {
                    "case": case.name,
                    "role": role,
                    "run_id": run_id,
                    "outcome": run["outcome"],
                    "error": error,
                    "quantity": list(values),
                    "value": [None if one is None else float(one) for one in values.values()],
                },
                schema_overrides={"value": pl.Float64, "error": pl.String},
            )
        )
    return pl.concat(parts)


def _facts(steps: pl.DataFrame, onset: int, settled_steps: int) -> dict[str, float | None]:
    before, after = (
        steps.filter(pl.col("step") < onset),
        steps.filter(pl.col("step") >= onset),
    )

    def of(part: pl.DataFrame, name: str, figure: pl.Expr) -> float | None:
        measured = part.select(pl.col(name).cast(pl.Float64)).drop_nulls()
        finite = measured.filter(pl.col(name).is_finite())
        value: float | None = finite.select(figure.alias("value"))["value"].item()
        return value

    def loss(part: pl.DataFrame, figure: pl.Expr) -> float | None:
        return of(part, "loss", figure)

    losses, norms, held_out = pl.col("loss"), pl.col("gradient_norm"), pl.col("validation_loss")
    return {
        "first_loss": loss(steps, losses.first()),
        "loss_before": loss(before.tail(settled_steps), losses.mean()),
        "largest_loss_after": loss(after, losses.max()),
        "last_loss": loss(after.tail(settled_steps), losses.mean()),
        "first_validation_loss": of(steps, "validation_loss", held_out.first()),
        "validation_loss_before": of(before, "validation_loss", held_out.last()),
        "largest_validation_loss_after": of(after, "validation_loss", held_out.max()),
        "last_validation_loss": of(after, "validation_loss", held_out.last()),
        "largest_gradient_norm_before": of(before, "gradient_norm", norms.max()),
        "largest_gradient_norm_after": of(after, "gradient_norm", norms.max()),
        "mean_gradient_norm_before": of(before, "gradient_norm", norms.mean()),
        "mean_gradient_norm_after": of(after, "gradient_norm", norms.mean()),
        "gradient_norm_variance_before": of(before, "gradient_norm", norms.var()),
        "gradient_norm_variance_after": of(after, "gradient_norm", norms.var()),
        "peak_memory": of(steps, "memory_bytes", pl.col("memory_bytes").max()),
        "highest_token": of(steps, "max_token_id", pl.col("max_token_id").max()),
    }


def case_diagnoses(
    cases: Sequence[Case],
    features: pl.DataFrame,
    splits: pl.DataFrame,
    predictions: pl.DataFrame,
    study: ReferenceStudy,
    methods: Mapping[str, Record],
    workers: int = 1,
) -> tuple[CaseDiagnosis, ...]:
    """What each method says of each case, and on which evidence.

    The fit is that of the main study, on the paper's features, in the fold of the first repeat that
    tests the scenario; what it says must be what is stored.

    Raises
    ------
    BadInputError
        If no answer is stored, or another than the one that is given now.
    """
    runs = LabelledRuns.from_table(study.failures(features))
    band = healthy_band(to_frame(study.successes(features)), band_features())
    tasks = [
        (case, method, settings, runs, band, splits, study.seed)
        for case in cases
        for method, settings in methods.items()
    ]
    found = parallel_map(_diagnosis, tasks, workers)
    return tuple(
        _checked(case, method, diagnosis, predictions)
        for (case, method, *_), diagnosis in zip(tasks, found, strict=True)
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
    plan = next(one for one in by_scenario(NESTED_CV, first) if one.fold == fold)
    fitted, _ = fit_fold(runs, band, splits, method, settings, FEATURE_SETS[PRIMARY], seed, plan)
    (diagnosis,) = fitted.diagnose(runs.frame.loc[[case.run_id]])
    return diagnosis


def _checked(
    case: Case, method: str, diagnosis: Diagnosis, predictions: pl.DataFrame
) -> CaseDiagnosis:
    stored = predictions.filter(
        pl.col("method") == method,
        pl.col("feature_set") == PRIMARY,
        pl.col("run_id") == case.run_id,
    ).sort("repeat")
    if stored.is_empty() or stored["prediction"][0] != diagnosis.category:
        raise BadInputError(
            f"data/predictions/nested_cv/{method}.parquet",
            "prediction",
            f"is not what {method} says of {case.run_id} now, {diagnosis.category}.",
            "Run `dvc repro nested_cv`.",
        )
    right = int((stored["prediction"] == case.category).sum())
    return CaseDiagnosis(case.name, method, diagnosis, right, stored.height)


def case_metrics(studies: CaseStudies) -> dict[str, object]:
    """Facts by case, role and quantity, and answers by case and method, as scalars.

    A fact is of one run and has no interval; of a method, ``value`` is the share of the ``n``
    repeats in which it is right.
    """
    facts: dict[str, dict[str, dict[str, object]]] = {}
    for row in studies.facts.drop_nulls("value").iter_rows(named=True):
        quantities = facts.setdefault(row["case"], {}).setdefault(row["role"], {})
        quantities[row["quantity"]] = {"value": row["value"], "n": 1}
    answers: dict[str, dict[str, object]] = {}
    for one in studies.diagnoses:
        answers.setdefault(one.case, {})[one.method] = {
            "value": one.right / one.repeats,
            "n": one.repeats,
            "confidence": one.diagnosis.confidence,
            "answer": one.diagnosis.category,
        }
    return {"facts": facts, "answers": answers}
