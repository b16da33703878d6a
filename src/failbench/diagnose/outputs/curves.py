"""Curves: the signals of a log with its evidence marked on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from io import BytesIO
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.outputs.evidence import numbered
from failbench.diagnose.outputs.marks import Mark, labels_apart
from failbench.diagnose.outputs.panel import EVIDENCE, PAPER, Curve, draw_panel, mark_panel
from failbench.diagnose.outputs.places import Places, place_of_finding, places_of
from failbench.diagnose.outputs.thinning import thinned
from failbench.diagnose.outputs.wording import number_words
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.names import SPLITS, SignalName

WIDTH: Final = 8.0
PANEL, HEAD, FOOT, GAP = 1.25, 0.26, 0.5, 0.34
LEFT, RIGHT = 0.72, 0.25
"""Inches: of the figure, and of a panel, what is above and below all panels, and around them."""

OUTSIDE: Final = 0.25
"""Share of the width of the curves that evidence may lie before or after them and be marked."""

FORMATS: Final[dict[str, dict[str, None]]] = {
    ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Kinds of files, with what is left out of each so that the same answer gives the same bytes."""

_UNIT_WORDS: Final = {"step": "step", "epoch": "epoch", "row": "row of the log"}


def figure_of(diagnosis: LogDiagnosis) -> Figure:
    """A panel for each signal of the log; vertical lines carry the numbers of the evidence."""
    log = diagnosis.log
    with _style():
        if not log.present:
            figure = Figure(figsize=(WIDTH, 0.6))
            figure.text(0.02, 0.5, "The log has no measurements to draw.", va="center")
            return figure
        places = places_of(log)
        marks = _marks(diagnosis, places)
        panels = len(log.present)
        height = HEAD + panels * (PANEL + GAP) + FOOT
        figure = Figure(figsize=(WIDTH, height))
        low, high = _limits(places.of_rows, marks)
        for place, signal in enumerate(log.present):
            bottom = FOOT + (panels - 1 - place) * (PANEL + GAP)
            axes = figure.add_axes(
                (
                    LEFT / WIDTH,
                    bottom / height,
                    (WIDTH - LEFT - RIGHT) / WIDTH,
                    PANEL / height,
                )
            )
            axes.set_xlim(low, high)
            draw_panel(axes, signal, list(_curves(log, signal, places)))
            mark_panel(axes, signal, marks)
            _label_places(axes, places, last=place == panels - 1)
        _number(figure, height, (low, high), marks)
        return figure


def write_plot(diagnosis: LogDiagnosis, path: Path) -> None:
    """Draw the curves into a file, whose bytes are the same for the same answer."""
    if path.suffix.lower() not in FORMATS:
        raise BadInputError(
            path,
            "--plot",
            f"ends with {path.suffix!r}, which is no kind of picture that is drawn.",
            f"Name a file that ends with {', '.join(FORMATS)}.",
        )
    content = _drawn(diagnosis, path.suffix.lower(), transparent=False)
    write_atomically(path, content, "Name a file in a folder that may be written.")


def svg_of(diagnosis: LogDiagnosis) -> str:
    """The curves as an ``svg`` element for a page of HTML, without a background."""
    text = _drawn(diagnosis, ".svg", transparent=True).decode("utf-8")
    return text[text.index("<svg") :]


def _drawn(diagnosis: LogDiagnosis, suffix: str, *, transparent: bool) -> bytes:
    stream = BytesIO()
    figure = figure_of(diagnosis)
    with _style():
        figure.savefig(stream, format=suffix[1:], metadata=FORMATS[suffix], transparent=transparent)
    return stream.getvalue()


@contextmanager
def _style() -> Iterator[None]:
    """The style of this package, whatever the user's own is, which is restored."""
    style = files("failbench.diagnose.outputs").joinpath("data/curves.mplstyle")
    with mpl.rc_context(), as_file(style) as path:
        mpl.rcdefaults()
        mpl.rc_file(path, use_default_template=False)
        yield


def _curves(log: Log, signal: SignalName, places: Places) -> Iterator[Curve]:
    rows = log.frame().with_columns(place=pl.Series(places.of_rows))
    for split in SPLITS:
        of_split = rows.filter(
            pl.col(signal).is_not_null(), pl.col("split").cast(pl.String) == split
        )
        for part in of_split.partition_by("source", maintain_order=True):
            x, y = part["place"].to_numpy(), part[signal].to_numpy()
            resumed = np.flatnonzero(np.diff(x) < 0) + 1
            for piece in np.split(np.arange(len(x)), resumed):
                yield Curve(split, *thinned(x[piece], y[piece]))


def _marks(diagnosis: LogDiagnosis, places: Places) -> list[Mark]:
    """Evidence with a place, but for what lies so far outside that the curves would shrink."""
    low, high = float(places.of_rows.min()), float(places.of_rows.max())
    room = OUTSIDE * (high - low) or 1.0
    marks = []
    for finding, number in numbered(diagnosis).items():
        at = place_of_finding(finding, diagnosis.log, places)
        if at is not None and low - room <= at <= high + room:
            marks.append(Mark(at, number, finding.signal, finding.value))
    return marks


def _limits(of_rows: Array, marks: list[Mark]) -> tuple[float, float]:
    at = np.concatenate([of_rows, [mark.at for mark in marks]])
    low, high = float(at.min()), float(at.max())
    margin = 0.02 * (high - low) or 0.5
    return low - margin, high + margin


def _label_places(axes: Axes, places: Places, *, last: bool) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=places.unit != "epoch"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number_words(value)))
    axes.tick_params(axis="x", labelbottom=last)
    if last:
        placed = "; rows without one stand between their neighbours" if places.guessed else ""
        axes.set_xlabel(f"{_UNIT_WORDS[places.unit]}{placed}")


def _number(figure: Figure, height: float, limits: tuple[float, float], marks: list[Mark]) -> None:
    """The numbers of the evidence above all panels, those that would touch in one label."""
    if not marks:
        return
    strip = figure.add_axes(
        (LEFT / WIDTH, (height - HEAD) / height, (WIDTH - LEFT - RIGHT) / WIDTH, HEAD / height)
    )
    strip.set_axis_off()
    strip.set_xlim(*limits)
    strip.set_ylim(0, 1)
    box = {"boxstyle": "round,pad=0.25", "facecolor": EVIDENCE, "edgecolor": "none"}
    inches = (WIDTH - LEFT - RIGHT) / (limits[1] - limits[0])
    figure.text(0.01, 1 - 0.5 * HEAD / height, "evidence", va="center", color=EVIDENCE)
    for label in labels_apart(marks, inches):
        strip.text(
            label.at, 0.5, label.text, color=PAPER, ha="center", va="center", bbox=box, zorder=6
        )
