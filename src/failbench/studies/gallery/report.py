"""The report of the gallery: a run beside its twin, and all failing runs, a sheet per category."""

from __future__ import annotations

from collections.abc import Sequence

from failbench.reporting.cells import counted, words
from failbench.reporting.run_panels import dashboard_picture, gallery_picture
from failbench.reporting.study_report import StudyReport, Summary
from failbench.scenarios import Scenario
from failbench.statistics.estimates import nest
from failbench.studies.gallery.results import (
    GallerySettings,
    RunPoints,
    run_points,
    sheet_points,
)
from failbench.telemetry import Telemetry
from failbench.vocabulary import CATEGORIES


def report(
    telemetry: Telemetry, scenarios: Sequence[Scenario], settings: GallerySettings
) -> StudyReport:
    """Draw the run that the settings name, and a sheet per category of their slice."""
    run = run_points(telemetry, scenarios, settings.run_id)
    sheet = sheet_points(telemetry, scenarios, settings)
    runs = nest(sheet.counts.rename({"runs": "value"}), "category", "outcome", leaves=("value",))
    setting = f"{settings.architecture}, {settings.optimizer}, seed {settings.seed}"
    return StudyReport(
        metrics={"runs_drawn": runs},
        points={"dashboard": run.points, "gallery": sheet.points},
        figures={
            "dashboard": dashboard_picture(
                run.points,
                title=_dashboard_title(run),
                onset_step=run.onset_step,
                failure_step=run.failure_step,
            ),
            **{
                f"gallery_{category}": gallery_picture(
                    category, sheet.runs, sheet.points, setting=setting
                )
                for category in CATEGORIES
                if category in set(sheet.runs["category"])
            },
        },
        summary=(Summary.of(sheet.counts, "category", "outcome", "runs"),),
    )


def _dashboard_title(run: RunPoints) -> str:
    if run.onset_step is None:
        return f"{run.title}: {words(run.outcome)} at step {run.failure_step}"
    late = counted(run.failure_step - run.onset_step, "step")
    return f"{run.title}: {words(run.outcome)} {late} after the fault was switched on"
