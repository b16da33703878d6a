"""The report of the study of crash prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import polars as pl

from failbench.crashes.cases import Case
from failbench.notebooks.corpus import LIBRARIES
from failbench.reporting.cells import percent
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.crash_prediction.comparisons import Contrast, contrasts
from failbench.studies.crash_prediction.counted import count
from failbench.studies.crash_prediction.figure import crash_prediction_picture
from failbench.studies.crash_prediction.finding import finding
from failbench.studies.crash_prediction.labels import label_of
from failbench.studies.crash_prediction.language import LanguageModels
from failbench.studies.crash_prediction.published import Published
from failbench.studies.crash_prediction.results import estimates
from failbench.studies.crash_prediction.settings import (
    COMBINED,
    RULES,
    CrashPredictionSettings,
)
from failbench.studies.crash_prediction.tables import (
    CORPUS_NOTE,
    COUNT_NOTE,
    LENGTH_NOTE,
    UNAVAILABLE_NOTE,
    Notes,
    gains_table,
    groups_table,
    main_table,
    parts_table,
)

SHOWN: Final = ((RULES, "code"), (RULES, "all"), (COMBINED, "all"))
"""What tables by group have columns of."""


def report(
    rows: pl.DataFrame,
    cases: Sequence[Case],
    published: Sequence[Published],
    models: LanguageModels,
    settings: CrashPredictionSettings,
) -> StudyReport:
    """Say how many crashes are foreseen, and what information about the kernel adds."""
    parts = {
        part: rounded(estimates(count(rows.filter(pl.col("part") == part)), settings))
        for part in ("development", "test")
    }
    tested = rows.filter(pl.col("part") == "test")
    table = parts["test"]
    compared = contrasts(tested, count(tested), settings)
    notes = _notes(cases, models.unavailable, settings)
    common = (notes.corpus, notes.count)
    by = {
        column: {
            group: rounded(estimates(count(tested.filter(pl.col(column) == group)), settings))
            for group in groups
        }
        for column, groups in (
            ("library", LIBRARIES),
            ("misuse", tested["misuse"].unique().sort()),
            ("difficulty", ("easy", "medium", "hard")),
        )
    }
    return StudyReport(
        metrics={
            "test": _nested(table),
            "development": _nested(parts["development"]),
            "library": {group: _nested(each) for group, each in by["library"].items()},
            "gains": _gains(compared),
            "language_models": models.metrics,
        },
        points={"crash_prediction": table},
        tables=(
            main_table(table, notes),
            gains_table(compared, published),
            *(
                groups_table(
                    f"crash_prediction_{column}",
                    heading,
                    by[column],
                    SHOWN,
                    f"How well crashes are foreseen, by {words}.",
                    common,
                )
                for column, heading, words in (
                    ("library", "Library", "library"),
                    ("misuse", "Misuse", "what is misused"),
                    ("difficulty", "Grade", "how far the crash is from its cause"),
                )
            ),
            parts_table(parts, common),
        ),
        figures={"crash_prediction": crash_prediction_picture(table, compared, published)},
        sentences={"finding": finding(table, compared, published)},
        summary=(
            Summary.of(
                table.filter(pl.col("metric") == "accuracy"),
                *("predictor", "arm", "value", "ci_low", "ci_high", "n"),
            ),
        ),
    )


def _notes(
    cases: Sequence[Case], unavailable: Sequence[str], settings: CrashPredictionSettings
) -> Notes:
    sizes: dict[str, dict[str, int]] = {}
    for case in cases:
        if case.part == "test":
            card = case.notebook.card
            sizes.setdefault(card.pair, {})[card.version] = case.characters
    shorter = sum(each["crashing"] < each["mended"] for each in sizes.values())
    development = len({case.notebook.card.pair for case in cases if case.part == "development"})
    return Notes(
        CORPUS_NOTE.format(pairs=len(sizes), development=development),
        COUNT_NOTE.format(confidence=100 * settings.confidence, few=settings.wilson_below),
        LENGTH_NOTE.format(shorter=shorter, pairs=len(sizes), share=percent(shorter / len(sizes))),
        UNAVAILABLE_NOTE.format(labels=" and ".join(map(label_of, unavailable)))
        if unavailable
        else None,
    )


def _nested(table: pl.DataFrame) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for row in table.iter_rows(named=True):
        if row["value"] is not None:
            of_arm = nested.setdefault(row["predictor"], {}).setdefault(row["arm"], {})
            of_arm[row["metric"]] = {
                name: row[name] for name in ("value", "ci_low", "ci_high", "n", "pairs")
            }
    return nested


def _gains(compared: Sequence[Contrast]) -> Mapping[str, Any]:
    nested: dict[str, Any] = {}
    for each in compared:
        values = asdict(each)
        keys = [values.pop(name) for name in ("metric", "predictor", "left", "right")]
        level = nested
        for key in (*keys[:2], f"{keys[2]} over {keys[3]}"):
            level = level.setdefault(key, {})
        level.update(values)
    return nested
