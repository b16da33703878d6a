"""Publishing: what a study has found, written where people and later stages look for it."""

import logging
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import Any

import matplotlib as mpl
import polars as pl

from failbench.base import stage
from failbench.base.errors import BadInputError
from failbench.base.stage import print_table, write_metrics
from failbench.statistics.intervals import nest
from failbench.study.captions import RESTORE
from failbench.study.estimates import rounded
from failbench.study.picture import Picture, save_picture
from failbench.study.tables import Table, write_table

_POINTS = Path("data/plots")
_TABLES = Path("paper/tables")
_FIGURES = Path("figures")
_STYLE = _FIGURES / "matplotlibrc"


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
    """Write what a study has found, under its name; the summary is for the terminal."""
    # Metrics are nested scalars; points one table or several by name, whose floats get six decimals
    # but where ``exact`` says, of all columns or of some, that these would not show them. If the
    # style of figures cannot be read nothing is written.
    check_style(_STYLE)
    mpl.rc_file(_STYLE)
    made = tuple(tables)
    if metrics:
        write_metrics(Path(f"data/metrics/{study}.json"), metrics)
    _POINTS.mkdir(parents=True, exist_ok=True)
    named = {study: points} if isinstance(points, pl.DataFrame) else points or {}
    for name, each in named.items():
        kept = each if exact is True else rounded(each, *(exact or ()))
        kept.write_csv(_POINTS / f"{name}.csv")
    for table in made:
        write_table(table, _TABLES / study)
    for name, text in (sentences or {}).items():
        (_TABLES / study / f"{name}.md").write_text(text, encoding="utf-8")
    for name, picture in (figures or {}).items():
        save_picture(picture, _FIGURES / f"{name}.svg")
    if summary is not None:
        print_table(summary.columns, summary.rows())


def publish_estimates(
    study: str,
    estimates: pl.DataFrame,
    keys: tuple[str, ...],
    *,
    metrics: Mapping[str, object] | None = None,
    **published: Any,
) -> None:
    """Write a study whose frame is its metrics, by its first key outermost, points and summary."""
    publish(
        study,
        **{
            "points": estimates,
            "summary": estimates.select(*keys, "value", "ci_low", "ci_high", "n"),
            **published,
            "metrics": {**nest(estimates, *keys), **(metrics or {})},
        },
    )


def run(main: Callable[[], None]) -> None:
    """Run a stage that publishes; what its figures are drawn with is refused before it computes."""

    def checked() -> None:
        check_style(_STYLE)
        main()

    stage.run(checked)


def check_style(path: Path) -> None:
    """Refuse a style file that matplotlib would not follow to the last line, by its number."""
    # matplotlib logs which lines it skips, where a misspelt one would go unseen
    complaints = BufferingHandler(sys.maxsize)
    complaints.setLevel(logging.WARNING)
    logger = logging.getLogger(mpl.__name__)
    logger.addHandler(complaints)
    try:
        settings = mpl.rc_params_from_file(path, use_default_template=False)
    except (OSError, ValueError) as error:
        raise BadInputError(path, "(file)", "is missing or is not text.", RESTORE) from error
    finally:
        logger.removeHandler(complaints)
    named = (re.search(r"\bline (\d+)", each.getMessage()) for each in complaints.buffer)
    if numbers := [int(found[1]) for found in named if found]:
        line = path.read_text(encoding="utf-8").splitlines()[min(numbers) - 1].strip()
        problem = f"{line!r} is no setting that matplotlib follows."
        remedy = "Write `name: value` as it knows them, each name once, or restore it with git."
        raise BadInputError(path, f"line {min(numbers)}", problem, remedy)
    if not settings:
        raise BadInputError(path, "(file)", "has no settings.", RESTORE)
