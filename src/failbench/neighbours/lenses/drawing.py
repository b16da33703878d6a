"""Drawing: the points of a look as curves, alike in the figures of the command and of studies."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.diagnose.outputs.curves import FORMATS
from failbench.diagnose.readers.lines import clean
from failbench.neighbours.lenses.catalogue import Lens
from failbench.neighbours.lenses.looking import View
from failbench.neighbours.lenses.slices import CORRECT, TRUNCATED, WRONG
from failbench.study.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, Mark

RIGHT_LINE: Final[LineStyleType] = "-"
FAILED_LINE: Final[LineStyleType] = (0, (3.0, 1.5))  # of wrong answers
# colours and markers of models, the reference first
LOOKS: Final = tuple(zip((GREY, BLUE, VERMILLION, GREEN, PURPLE, ORANGE), "soD^vP", strict=True))
AXES: Final[dict[Lens, tuple[str, str]]] = {
    "surface": ("length of the problem", "accuracy beyond guessing"),
    "fft": ("cycles per token of the prompt", "amplitude of token ids"),
    "compression": ("tokens of the answer", "compressed bytes"),
    "hazard": ("tokens of the answer", "cumulative incidence"),
}

# a row for each point of a series; bounds are null where there is no interval
CURVE_SCHEMA: Final = pl.Schema(
    {"series": pl.String, "x": pl.Float64, "y": pl.Float64, "low": pl.Float64, "high": pl.Float64}
)

_SIZE: Final = 3.2


_Drawn = tuple[str, pl.Expr, tuple[str, ...]]

# the series of each lens, of which points, with the columns of x, y and the interval
_CURVES: Final[dict[Lens, tuple[_Drawn, ...]]] = {
    "surface": (
        (
            "accuracy",
            pl.col("depth").is_null() & pl.col("accuracy").is_not_null(),
            ("length", "accuracy", "ci_low", "ci_high"),
        ),
    ),
    "fft": (
        ("amplitude", pl.col("band") == "all", ("frequency", "amplitude", "ci_low", "ci_high")),
    ),
    "compression": tuple(
        (name, pl.col("outcome") == name, ("tokens", "bytes"))
        for name in (CORRECT, WRONG, TRUNCATED)
    ),
    "hazard": tuple(
        (name, pl.lit(value=True), ("last_token", curve, f"{curve}_low", f"{curve}_high"))
        for name, curve in ((CORRECT, "right_incidence"), (WRONG, "wrong_incidence"))
    ),
}


def curves_of(lens: Lens, points: pl.DataFrame) -> pl.DataFrame:
    """What a figure shows of a lens."""
    parts = []
    for name, kept, columns in _CURVES[lens]:
        known = dict(zip(CURVE_SCHEMA, (pl.lit(name), *map(pl.col, columns)), strict=False))
        part = points.filter(kept).select(**dict.fromkeys(CURVE_SCHEMA, pl.lit(None)) | known)
        parts.append(part.cast(CURVE_SCHEMA).sort("x"))
    return pl.concat(parts)


def marks_of(names: list[str]) -> dict[str, Mark]:
    """A colour and a marker for each model, at most six."""
    return {
        name: Mark(name, colour, marker, size=_SIZE)
        for name, (colour, marker) in zip(names, LOOKS, strict=False)
    }


def draw_curves(axes: Axes, lens: Lens, curves: pl.DataFrame, mark: Mark) -> None:
    """Draw what a lens saw."""
    marked = lens in {"surface", "compression"}
    for series in curves["series"].unique(maintain_order=True):
        drawn = curves.filter(series=series)
        x, y = drawn["x"].to_numpy(), drawn["y"].to_numpy()
        look = {**mark.look} if marked else {"color": mark.colour}
        if series in {WRONG, TRUNCATED}:
            look |= {"markerfacecolor": "white"} if marked else {}
        line = {WRONG: FAILED_LINE, TRUNCATED: "none"}.get(series, RIGHT_LINE)
        if series == TRUNCATED:
            look |= {"marker": "x"}
        axes.plot(x, y, linestyle=line, linewidth=1.0, **look)
        bounds = drawn.drop_nulls()
        at, low, high = (bounds[name].to_numpy() for name in ("x", "low", "high"))
        if marked:
            axes.vlines(at, low, high, color=mark.colour, linewidth=0.5)
        else:
            axes.fill_between(at, low, high, color=mark.colour, alpha=0.2, linewidth=0)


def name_axes(axes: Axes, lens: Lens) -> None:
    """Label the axes of a lens, whose values are never negative."""
    across, upwards = AXES[lens]
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    axes.set_ylim(bottom=0.0)
    if lens == "surface":
        axes.set_ylim(-0.02, 1.02)


def outcome_handles() -> list[Line2D]:
    """What full and broken lines and crosses mean."""
    looks: tuple[dict[str, Any], ...] = (
        {"linestyle": RIGHT_LINE, "label": "right answers"},
        {"linestyle": FAILED_LINE, "label": "wrong answers"},
        {"linestyle": "none", "marker": "x", "markersize": _SIZE, "label": "truncated"},
    )
    return [Line2D([], [], color=BLACK, **look) for look in looks]


PANEL: Final = (3.2, 2.3)  # inches of a panel
HEAD: Final = 0.5  # inches above all panels for the legend


def write_figure(views: Sequence[View], path: Path) -> None:
    """Draw what lenses saw into a file, whose bytes are the same for the same traces."""
    if path.suffix.lower() not in FORMATS:
        problem = f"ends with {path.suffix!r}, which is no kind of picture that is drawn."
        remedy = f"Name a file that ends with {', '.join(FORMATS)}."
        raise BadInputError(path, "--figure", problem, remedy)
    references = [each.reference.model for each in views if each.reference is not None]
    models = list(dict.fromkeys([*references, *(each.part.model for each in views)]))
    if len(models) > len(LOOKS):
        problem = f"{len(models)} models are more than can be told apart in a picture."
        remedy = f"Name {len(LOOKS)} or fewer: --where model=a,b."
        raise BadInputError(path, "--figure", problem, remedy)
    style = files("failbench.diagnose.outputs").joinpath("data/curves.mplstyle")
    stream = BytesIO()
    with mpl.rc_context(), as_file(style) as sheet:
        mpl.rcdefaults()
        mpl.rc_file(sheet, use_default_template=False)
        suffix = path.suffix.lower()
        _figure(views, models).savefig(stream, format=suffix[1:], metadata=FORMATS[suffix])
    write_atomically(path, stream.getvalue(), "Name a file in a folder that may be written.")


def _figure(views: Sequence[View], models: list[str]) -> Figure:
    tasks = list(dict.fromkeys(each.part.task for each in views))
    lenses = list(views[0].looks)
    marks = marks_of(models)
    height = PANEL[1] * len(tasks) + HEAD
    figure = Figure(figsize=(max(PANEL[0] * len(lenses), 4.5), height))
    figure.set_layout_engine("constrained", rect=(0.0, 0.0, 1.0, 1 - HEAD / height))
    panels = figure.subplots(len(tasks), len(lenses), squeeze=False)
    for row, task in zip(panels, tasks, strict=True):
        for axes, lens in zip(row, lenses, strict=True):
            of_task = [each for each in views if each.part.task == task]
            drawn = {
                look.part.model: look
                for each in of_task
                for look in ((each.against or each.looks)[lens], each.looks[lens])
            }
            for model, look in drawn.items():
                draw_curves(axes, lens, curves_of(lens, look.points), marks[model])
            name_axes(axes, lens)
            axes.set_title(f"{lens}: {clean(task)}")
    of_models = [
        Line2D([], [], linestyle="-", label=clean(name), **mark.look)
        for name, mark in marks.items()
    ]
    handles = [*of_models, *outcome_handles()]
    figure.legend(handles=handles, loc="upper left", ncols=4, fontsize="small")
    return figure
