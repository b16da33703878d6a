"""The report of the controls: what must not tell the label, and whether a planted leak is found."""

from __future__ import annotations

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import ESTIMATE
from failbench.studies.controls.figure import controls_picture, controls_points
from failbench.studies.controls.results import (
    ControlSettings,
    balanced_accuracy_interval,
    control_results,
    leak_test,
)
from failbench.studies.controls.tables import controls_table


def report(
    predictions: pl.DataFrame,
    permuted: pl.DataFrame,
    planted: pl.DataFrame,
    twins: pl.DataFrame,
    settings: ControlSettings,
) -> StudyReport:
    """Judge every control, and the harness itself."""
    results = control_results(predictions, permuted, settings)
    controls = {name: result.model_dump() for name, result in results.items()}
    twins_interval = balanced_accuracy_interval(twins, settings)
    raw_twins = twins_interval.model_dump(include={*ESTIMATE})
    leak = leak_test(planted)
    points = rounded(controls_points(results, twins_interval, settings))
    columns = (*ESTIMATE, "p", "verdict")
    rows = [(name, *(control[key] for key in columns)) for name, control in controls.items()]
    return StudyReport(
        metrics={
            **controls,
            "raw_twins": raw_twins,
            "leak_test": leak.model_dump(),
        },
        points={"controls": points},
        figures={"controls": controls_picture(points, settings.upper_bound)},
        tables=(
            controls_table(results, twins_interval, leak, planted["scenario"].n_unique(), settings),
        ),
        summary=(
            Summary(("control", *columns), rows),
            Summary(("control", *ESTIMATE), [("raw_twins", *(raw_twins[key] for key in ESTIMATE))]),
        ),
    )
