"""What scripts of studies share: the paper's numbers, and the publication of what they report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import yaml

from failbench.errors import BadInputError
from failbench.reporting.markup import write_table
from failbench.reporting.reported import Reported, validate_reported
from failbench.reporting.study_report import StudyReport
from failbench.reporting.style import save_svg
from stage import print_table, write_metrics

__all__ = ["publish", "read_reported", "read_yaml"]

REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics")
POINTS = Path("data/plots")
TABLES = Path("paper/tables")
FIGURES = Path("figures")


def read_reported(path: Path = REPORTED) -> Reported:
    """Read every number that the paper prints.

    Raises
    ------
    BadInputError
        If the file is missing or not YAML, or a value in it is missing, unknown or out of range.
    """
    return validate_reported(read_yaml(path), str(path))


def read_yaml(path: Path) -> Any:
    """Read a file of facts that is kept by hand.

    Raises
    ------
    BadInputError
        If the file is missing or not YAML.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        raise BadInputError(
            path, "(file)", f"cannot be read ({problem}).", "Restore it with git."
        ) from error


def publish(study: str, report: StudyReport) -> None:
    """Write all that a study reports, under the name of the study, and print its summary.

    Metrics go to ``data/metrics``, points to ``data/plots``, tables and sentences to a folder of
    the study in ``paper/tables``, and figures, drawn in the project's style, to ``figures``.
    """
    if report.metrics:
        write_metrics(METRICS / f"{study}.json", report.metrics)
    POINTS.mkdir(parents=True, exist_ok=True)
    for name, points in report.points.items():
        points.write_csv(POINTS / f"{name}.csv")
    folder = TABLES / study
    for table in report.tables:
        write_table(table, folder)
    for name, text in report.sentences.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    mpl.rc_file(FIGURES / "matplotlibrc")
    for name, draw in report.figures.items():
        save_svg(draw(), FIGURES / f"{name}.svg")
    for summary in report.summary:
        print_table(summary.columns, summary.rows)
