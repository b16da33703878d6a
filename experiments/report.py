"""Shared by scripts of studies: the paper's numbers, and the publication of reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import yaml
from pydantic import RootModel

import stage
from failbench.errors import BadInputError
from failbench.records import Record
from failbench.reporting.markup import write_table
from failbench.reporting.picture import save_picture
from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport
from failbench.reporting.style_file import check_style
from failbench.validation import Model, kept_by_hand, validated
from stage import REMEDY, print_table, unreadable, write_metrics

__all__ = ["publish", "read_facts", "read_metrics", "read_reported", "run"]

REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics")
POINTS = Path("data/plots")
TABLES = Path("paper/tables")
FIGURES = Path("figures")
STYLE = FIGURES / "matplotlibrc"


def read_reported() -> Reported:
    """Read every number of the paper.

    Raises
    ------
    BadInputError
        If the file is missing or not YAML, or a value in it is missing, unknown or out of range.
    """
    return read_facts(REPORTED, Reported)


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
        Feature set that must have estimates: at least the accuracy of every method.

    Raises
    ------
    BadInputError
        If the file is missing or not JSON, or an estimate is missing or invalid.
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


def read_facts(path: Path, model: type[Model]) -> Model:
    """Read a file of facts that is kept by hand.

    Raises
    ------
    BadInputError
        If the file is missing or not YAML, or a value in it is missing, unknown or out of range.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        raise BadInputError(
            path, "(file)", f"cannot be read ({problem}).", "Restore it with git."
        ) from error
    return kept_by_hand(model, raw, path)


def run(main: Callable[[], None]) -> None:
    """Run a stage that publishes; what its figures are drawn with is refused before it computes."""

    def checked() -> None:
        check_style(STYLE)
        main()

    stage.run(checked)


def publish(study: str, report: StudyReport) -> None:
    """Write the report of a study, under the study's name, and print its summary.

    Metrics go to ``data/metrics``, points to ``data/plots``, tables and sentences to a folder of
    the study in ``paper/tables``, and figures, drawn in the project's style, to ``figures``.

    Raises
    ------
    BadInputError
        If the style cannot be read; nothing is written then.
    """
    check_style(STYLE)
    mpl.rc_file(STYLE)
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
