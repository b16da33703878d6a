"""Drawing: the points of a look as curves, alike in the figures of the command and of studies."""

from typing import Any, Final

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.typing import LineStyleType

from failbench.neighbours.lenses.catalogue import Lens
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
