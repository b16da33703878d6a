"""The report of the gallery: one run beside its twin, and all failing runs on one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from failbench.reporting.run_panels import dashboard, gallery
from failbench.reporting.study_report import StudyReport, Summary
from failbench.scenarios import Scenario
from failbench.statistics.estimates import nest
from failbench.studies.gallery.results import GallerySettings, run_points, sheet_points
from failbench.telemetry import Telemetry


def report(
    telemetry: Telemetry, scenarios: Sequence[Scenario], settings: GallerySettings
) -> StudyReport:
    """Draw the run that the settings name, and the sheet of their slice.

    Raises
    ------
    BadInputError
        If no failing run of that name was recorded.
    """
    run = run_points(telemetry, scenarios, settings.run_id)
    sheet = sheet_points(telemetry, scenarios, settings)
    runs = nest(sheet.counts.rename({"runs": "value"}), "category", "outcome", leaves=("value",))
    return StudyReport(
        metrics={"runs_drawn": runs},
        points={"dashboard": run.points, "gallery": sheet.points},
        figures={
            "dashboard": partial(
                dashboard,
                run.points,
                title=f"{settings.run_id}: {run.title} ({run.outcome})",
                onset_step=run.onset_step,
                failure_step=run.failure_step,
            ),
            "gallery": partial(
                gallery,
                sheet.runs,
                sheet.points,
                title=f"{sheet.runs.height} failing runs: {settings.architecture}, "
                f"{settings.optimizer}, seed {settings.seed}",
            ),
        },
        summary=(Summary.of(sheet.counts, "category", "outcome", "runs"),),
    )
