"""Measure: diagnoses of logs of scenarios that were not learnt from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import polars as pl

from failbench.arrays import Mask
from failbench.diagnose.alarm import is_alarm
from failbench.diagnose.fitting import Choices, KnownLog, fitted
from failbench.diagnose.model import Model
from failbench.diagnose.supports import cause_names, supports_of
from failbench.prediction.splits import rows_in_fold
from failbench.prediction.workers import parallel_map
from failbench.predictions import DECIMALS
from failbench.studies.diagnose_logs.examples import LogExample
from failbench.studies.diagnose_logs.schemas import ANSWER_SCHEMA, MONITOR, MONITOR_LOGIC
from failbench.studies.diagnose_logs.settings import DiagnosedLogs
from failbench.vocabulary import CATEGORIES

MODELS: Final = {"log": None, "monitor_bounds": MONITOR, "monitor": MONITOR_LOGIC}
"""Models by name, each with the format that it is fitted to; the first to all others."""


def choices_of(settings: DiagnosedLogs) -> Choices:
    """What fits choose from."""
    return Choices(
        settings.penalties,
        settings.margins,
        settings.most_alarmed,
        settings.inner_folds,
        settings.seed,
    )


def of_model(examples: Iterable[LogExample], name: str) -> list[LogExample]:
    """The logs that a model is fitted to."""
    wanted = MODELS[name]
    special = {format_name for format_name in MODELS.values() if format_name is not None}
    return [
        each
        for each in examples
        if (each.format not in special if wanted is None else each.format == wanted)
    ]


def known_log(example: LogExample) -> KnownLog:
    """What a fit sees of a log."""
    return KnownLog(example.signs, example.cause, example.scenario, example.setting)


def cross_validated(
    examples: Sequence[LogExample],
    name: str,
    splits: pl.DataFrame,
    settings: DiagnosedLogs,
    workers: int,
) -> pl.DataFrame:
    """Diagnoses out of fold of the logs of one model.

    Twins are tested with their scenario; successes, which have none, in folds of their own.
    """
    logs = of_model(examples, name)
    folds = splits["fold"].n_unique()
    scenarios = np.array([each.scenario for each in logs], dtype=object)
    is_success = np.array([each.kind == "success" for each in logs])
    places = np.unique(scenarios[is_success].astype(str), return_inverse=True)[1]
    order = np.random.default_rng(settings.seed).permutation(places.max() + 1)
    fold_of_success = np.full(len(logs), -1)
    fold_of_success[is_success] = order[places] % folds
    tasks = []
    for repeat in range(settings.repeats):
        for fold in range(folds):
            tested = rows_in_fold(splits, scenarios, repeat, fold) | (fold_of_success == fold)
            tasks.append((logs, tested, name, settings, repeat, fold))
    return pl.concat(parallel_map(_fold, tasks, workers)).sort(
        "model", "repeat", "fold", "run_id", "format"
    )


def _fold(
    logs: Sequence[LogExample],
    tested: Mask,
    name: str,
    settings: DiagnosedLogs,
    repeat: int,
    fold: int,
) -> pl.DataFrame:
    learnt = [known_log(each) for each, held in zip(logs, tested, strict=True) if not held]
    model = fitted(learnt, choices_of(settings), f"training folds of {name}")
    held_out = [each for each, held in zip(logs, tested, strict=True) if held]
    return answers(held_out, model).select(
        model=pl.lit(name),
        repeat=pl.lit(repeat, pl.Int32),
        fold=pl.lit(fold, pl.Int32),
        **{key: pl.col(key) for key in ANSWER_SCHEMA.names()[3:]},
    )


def answers(logs: Sequence[LogExample], model: Model) -> pl.DataFrame:
    """What a model says of logs: the columns of ``schemas.ANSWER_SCHEMA`` from the fourth on."""
    rows = []
    for each in logs:
        weighed = model.weighed(supports_of(each.signs, model.bounds))
        rows.append(
            {
                "run_id": each.run_id,
                "format": each.format,
                "kind": each.kind,
                "setting": each.setting,
                "seed": each.seed,
                "scenario": each.scenario,
                "category": each.category,
                "cause": each.cause,
                "present": ",".join(each.present),
                "says_end": each.events,
                "alarm": is_alarm(each.events, each.signs, model.bounds),
                "prediction": CATEGORIES[weighed.category],
                "confidence": round(float(weighed.categories[weighed.category]), DECIMALS),
                "predicted_cause": cause_names()[weighed.cause],
                "cause_confidence": round(float(weighed.causes[weighed.cause]), DECIMALS),
            }
        )
    schema = {key: ANSWER_SCHEMA[key] for key in ANSWER_SCHEMA.names()[3:]}
    return pl.DataFrame(rows, schema=schema)
