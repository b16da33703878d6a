"""Publishing: what a study has found, written where people and later stages look for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import polars as pl

from failbench.base import stage
from failbench.base.stage import print_table, write_metrics
from failbench.statistics.intervals import nest
from failbench.study.estimates import rounded
from failbench.study.markup import write_table
from failbench.study.picture import Picture, save_picture
from failbench.study.plain_table import Table
from failbench.study.style_file import check_style

METRICS = Path("data/metrics")
POINTS = Path("data/plots")
TABLES = Path("paper/tables")
FIGURES = Path("figures")
STYLE = FIGURES / "matplotlibrc"


def publish(
    study: str,
    *,
    metrics: Mapping[str, object] | None = None,
    points: pl.DataFrame | Mapping[str, pl.DataFrame] | None = None,
    tables: Iterable[Table] = (),
    figures: Mapping[str, Picture] | None = None,
    sentences: Mapping[str, str] | None = None,
    summary: pl.DataFrame | None = None,
    exact: bool | tuple[str, ...] = False,
) -> None:
    """Write what a study has found, under its name.

    Parameters
    ----------
    study
        Its name.
    metrics
        Nested scalars, for ``data/metrics/<study>.json``.
    points
        A table for ``data/plots/<study>.csv``, or several by name; floats get six decimals.
    tables
        For the study's folder in ``paper/tables``.
    figures
        By name, for ``figures``; drawn in the project's style.
    sentences
        Texts by name, for the folder of tables.
    summary
        A short table for the terminal.
    exact
        Whether points are written as they are, where six decimals would not show them; or which
        columns of them are.

    Raises
    ------
    BadInputError
        If the style cannot be read; nothing is written then.
    """
    check_style(STYLE)
    mpl.rc_file(STYLE)
    made = tuple(tables)
    if metrics:
        write_metrics(METRICS / f"{study}.json", metrics)
    POINTS.mkdir(parents=True, exist_ok=True)
    named = {study: points} if isinstance(points, pl.DataFrame) else points or {}
    for name, each in named.items():
        (each if exact is True else rounded(each, *(exact or ()))).write_csv(POINTS / f"{name}.csv")
    for table in made:
        write_table(table, TABLES / study)
    for name, text in (sentences or {}).items():
        (TABLES / study / f"{name}.md").write_text(text, encoding="utf-8")
    for name, picture in (figures or {}).items():
        save_picture(picture, FIGURES / f"{name}.svg")
    if summary is not None:
        print_table(summary.columns, summary.rows())


SUMMARY = ("value", "ci_low", "ci_high", "n")


def publish_estimates(
    study: str,
    estimates: pl.DataFrame,
    keys: tuple[str, ...],
    *,
    metrics: Mapping[str, object] | None = None,
    **published: Any,
) -> None:
    """Write a study whose frame of estimates is its metrics, its points and its summary.

    Parameters
    ----------
    study
        Its name.
    estimates
        The frame.
    keys
        Of the frame, the outermost level of the metrics first.
    metrics
        What the metrics hold beside the frame.
    published
        What else :func:`publish` writes.
    """
    publish(
        study,
        **{
            "points": estimates,
            "summary": estimates.select(*keys, *SUMMARY),
            **published,
            "metrics": {**nest(estimates, *keys), **(metrics or {})},
        },
    )


def run(main: Callable[[], None]) -> None:
    """Run a stage that publishes; what its figures are drawn with is refused before it computes."""

    def checked() -> None:
        check_style(STYLE)
        main()

    stage.run(checked)
