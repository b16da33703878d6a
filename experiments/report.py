"""What scripts of studies share: the paper's numbers, and the publication of what they report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import yaml
from pydantic import RootModel

from failbench.errors import BadInputError
from failbench.records import Record
from failbench.reporting.markup import write_table
from failbench.reporting.picture import save_picture
from failbench.reporting.reported import Reported, validate_reported
from failbench.reporting.study_report import StudyReport
from failbench.validation import validated
from stage import REMEDY, print_table, unreadable, write_metrics

__all__ = ["publish", "read_metrics", "read_reported", "read_yaml"]

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


class Estimate(Record):
    """A rate with its interval, over ``n`` scenarios."""

    value: float
    ci_low: float
    ci_high: float
    n: int


class Estimates(RootModel[dict[str, dict[str, dict[str, Estimate]]]]):
    """The content of ``data/metrics/intervals.json``."""


def read_metrics(path: Path, feature_set: str) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Read the metrics that an earlier stage wrote: estimates by feature set, method and metric.

    Parameters
    ----------
    feature_set
        That of which there must be estimates: at least the accuracy of every method.

    Raises
    ------
    BadInputError
        If the file is not there or not JSON, or an estimate is missing or is none.
    """
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, "JSON") from error
    checked = validated(Estimates, metrics, path, REMEDY).root
    if not checked.get(feature_set):
        raise BadInputError(path, feature_set, "no method has estimates.", REMEDY)
    for method, estimates in checked[feature_set].items():
        if "accuracy" not in estimates:
            field = f"{feature_set}.{method}.accuracy"
            raise BadInputError(path, field, "the estimate is missing.", REMEDY)
    measured: dict[str, dict[str, dict[str, dict[str, float]]]] = metrics
    return measured


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

    Raises
    ------
    BadInputError
        If the style cannot be read; nothing is written then.
    """
    style = FIGURES / "matplotlibrc"
    try:
        mpl.rc_file(style)
    except (OSError, ValueError) as error:
        raise BadInputError(
            style, "(file)", "is missing or is not text.", "Restore it with git."
        ) from error
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
    for name, picture in report.figures.items():
        save_picture(picture, FIGURES / f"{name}.svg")
    for summary in report.summary:
        print_table(summary.columns, summary.rows)
