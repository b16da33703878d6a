"""Drawing: a panel for each signal of a log, with marks where its evidence stands."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any, Final, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from failbench.base.arrays import Array, Mask
from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.finding import Finding
from failbench.diagnose.outputs.curves import COLOURS
from failbench.diagnose.outputs.outline import SIGNAL_WORDS, number_words, numbered
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.names import SPLITS, SignalName, Split
from failbench.diagnose.readers.numbers import NOWHERE

Unit = Literal["step", "epoch", "row"]
# a count that begins anew more often, such as the batch within an epoch, orders no rows
MOST_RESTARTS: Final = 3
MOST_POINTS: Final = 2_000  # of a curve: more than a picture has columns of pixels
LETTER: Final = 0.08  # inches that a letter of a label takes
EDGE: Final = 0.14  # inches that its frame and the gap to the next one take


@dataclass(frozen=True)
class Places:
    """Where rows stand."""

    unit: Unit
    of_rows: Array
    guessed: bool


@dataclass(frozen=True)
class Mark:
    """An item of evidence that has a place."""

    at: float
    number: int
    signal: str
    value: float | None


@dataclass(frozen=True)
class Label:
    """The numbers of marks that stand together."""

    at: float
    text: str


def places_of(log: Log) -> Places:
    """Where the rows of a log stand: by step, else by epoch, else by their order."""
    rows = log.rows
    steps = np.where(rows.step == NOWHERE, np.nan, rows.step)
    counts: dict[Unit, Array] = {"step": steps, "epoch": rows["epoch"]}
    for unit, count in counts.items():
        said = np.where(np.isfinite(count), count, np.nan)
        if _orders(said, log):
            filled = _filled(said, rows["epoch"], rows.source)
            return Places(unit, filled, bool(np.isnan(said).any()))
    return Places("row", np.arange(1, len(rows) + 1, dtype=np.float64), guessed=False)


def _orders(said: Array, log: Log) -> bool:
    """Whether a count puts the values of the signal with most of them in an order."""
    sources = log.rows.source
    measured = [log.rows.has(signal) & log.rows.is_train for signal in log.present]
    chosen = max(measured, key=np.count_nonzero, default=np.zeros(0, dtype=bool))
    chosen = ~np.isnan(said) & chosen
    if not chosen.any():
        return bool(np.isfinite(said).any())
    changes = [np.diff(said[chosen & (sources == each)]) for each in np.unique(sources[chosen])]
    steps = np.concatenate(changes)
    stays = np.count_nonzero(steps == 0)
    return bool(np.sum(steps < 0) <= MOST_RESTARTS and 2 * stays <= np.count_nonzero(chosen))


def _filled(said: Array, epochs: Array, sources: np.ndarray) -> Array:
    """Places of all rows: between neighbours, by epochs, or spread evenly over the whole."""
    filled = said.copy()
    known = ~np.isnan(said)
    related = known & np.isfinite(epochs)
    order = np.argsort(epochs[related], kind="stable")
    for source in np.unique(sources):
        rows = np.flatnonzero(sources == source)
        own = rows[known[rows]]
        if own.size:
            filled[rows] = np.where(known[rows], said[rows], np.interp(rows, own, said[own]))
        elif related.any() and np.isfinite(epochs[rows]).all():
            filled[rows] = np.interp(epochs[rows], epochs[related][order], said[related][order])
        else:
            filled[rows] = np.linspace(np.nanmin(said), np.nanmax(said), rows.size)
    return filled


def place_of_finding(finding: Finding, log: Log, places: Places) -> float | None:
    """Where a finding stands, words with the row before them; None where nothing says so."""
    if places.unit == "step" and finding.step is not None:
        return float(finding.step)
    names = [source.name for source in log.sources]
    source = names.index(finding.source) if finding.source in names else NOWHERE
    rows = np.flatnonzero(log.rows.source == source)
    lines, steps = log.rows.line[rows], log.rows.step[rows]
    if finding.line is not None and (lines != NOWHERE).any():
        before = rows[(lines != NOWHERE) & (lines <= finding.line)]
        found = before[-1:] if before.size else rows[:1]
    elif finding.step is not None:
        found = rows[steps == finding.step][:1]
    else:
        return None
    return float(places.of_rows[found[0]]) if found.size else None


def thinned(x: Array, y: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """At most ``most`` points: the ends, and of equal spans extremes and what is not finite."""
    if len(y) <= most:
        return x, y
    kept = {0, len(y) - 1}
    for part in np.array_split(np.arange(len(y)), (most - 2) // 3):
        finite = np.isfinite(y[part])
        if finite.any():
            numbers = part[finite]
            kept |= {int(numbers[y[numbers].argmin()]), int(numbers[y[numbers].argmax()])}
        if not finite.all():
            kept.add(int(part[~finite][0]))
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]


def labels_apart(marks: list[Mark], inches: float) -> list[Label]:
    """Labels from left to right, none of which touches another; ``inches`` has a unit of place."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: (mark.at, mark.number)):
        groups.append([mark])
        while len(groups) > 1 and _touch(_label(groups[-2]), _label(groups[-1]), inches):
            groups[-2:] = [groups[-2] + groups[-1]]
    return [_label(group) for group in groups]


def _touch(left: Label, right: Label, inches: float) -> bool:
    widths = [LETTER * len(label.text) + EDGE for label in (left, right)]
    return (right.at - left.at) * inches < sum(widths) / 2


def _label(group: list[Mark]) -> Label:
    """Numbers in their order, three or more that follow one another as a range."""
    runs: list[list[int]] = []
    for number in sorted({mark.number for mark in group}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [
        f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(str(number) for number in run)
        for run in runs
    ]
    return Label((group[0].at + group[-1].at) / 2, ", ".join(parts))


# inches: of the figure, and of a panel, what is above and below all panels, and around them
WIDTH: Final = 8.0
PANEL, HEAD, FOOT, GAP = 1.25, 0.26, 0.5, 0.34
LEFT, RIGHT = 0.72, 0.25
# share of the width of the curves that evidence may lie before or after them and be marked
OUTSIDE: Final = 0.25
DECADES: Final = 3.0  # positive values that span more are drawn on a logarithmic axis
# values are drawn up to here, and from its inverse on: beyond, the axes themselves overflow
LARGEST: Final = 1e30
_UNIT_WORDS: Final = {"step": "step", "epoch": "epoch", "row": "row of the log"}
_CROSS: Final[dict[str, Any]] = {
    "color": COLOURS["broken"], "linestyle": "none", "marker": "x", "markersize": 4.5,
    "markeredgewidth": 1.2,
}  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """One signal of one source on one split up to where its steps begin anew, thinned out."""

    split: Split
    x: Array
    y: Array


@contextmanager
def style() -> Iterator[None]:
    """The style of this package, whatever the user's own is, which is restored."""
    own = files("failbench.diagnose.outputs").joinpath("data/curves.mplstyle")
    with mpl.rc_context(), as_file(own) as path:
        mpl.rcdefaults()
        mpl.rc_file(path, use_default_template=False)
        yield


def figure_of(diagnosis: LogDiagnosis) -> Figure:
    """A panel for each signal of the log; vertical lines carry the numbers of the evidence."""
    log = diagnosis.log
    with style():
        if not log.present:
            figure = Figure(figsize=(WIDTH, 0.6))
            figure.text(0.02, 0.5, "The log has no measurements to draw.", va="center")
            return figure
        places = places_of(log)
        marks = _marks(diagnosis, places)
        panels = len(log.present)
        height = HEAD + panels * (PANEL + GAP) + FOOT
        figure = Figure(figsize=(WIDTH, height))
        limits = _limits(places.of_rows, marks)
        for place, signal in enumerate(log.present):
            bottom = FOOT + (panels - 1 - place) * (PANEL + GAP)
            axes = _axes(figure, bottom, PANEL, limits)
            _draw_panel(axes, signal, list(_curves(log, signal, places)))
            _mark_panel(axes, signal, marks)
            _label_places(axes, places, last=place == panels - 1)
        if marks:
            _number(figure, limits, marks)
        return figure


def _axes(figure: Figure, bottom: float, inches: float, limits: tuple[float, float]) -> Axes:
    height = figure.get_figheight()
    width = (WIDTH - LEFT - RIGHT) / WIDTH
    axes = figure.add_axes((LEFT / WIDTH, bottom / height, width, inches / height))
    axes.set_xlim(*limits)
    return axes


def _curves(log: Log, signal: SignalName, places: Places) -> Iterator[Curve]:
    rows = log.rows
    for split in SPLITS:
        chosen = rows.has(signal) & (rows.is_train == (split == "train"))
        for source in np.unique(rows.source[chosen]):
            part = np.flatnonzero(chosen & (rows.source == source))
            x, y = places.of_rows[part], rows[signal][part]
            for piece in np.split(np.arange(len(x)), np.flatnonzero(np.diff(x) < 0) + 1):
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


def _draw_panel(axes: Axes, signal: SignalName, curves: list[Curve]) -> None:
    """Draw a signal; what is no number is a cross at the top, and breaks the line."""
    title = SIGNAL_WORDS[signal]
    axes.set_title(f"{title[0].upper()}{title[1:]}")
    axes.grid(axis="y", color=COLOURS["line"], linewidth=0.5)
    axes.set_axisbelow(True)
    for curve in curves:
        finite = np.isfinite(curve.y)
        y = np.where(finite, _drawable(curve.y), np.nan)
        alone = finite & ~np.append(finite[1:], False) & ~np.append(False, finite[:-1])
        few = curve.split == "validation" and len(y) <= 60
        marker = {"marker": "o", "markersize": 3.0, "markevery": alone | (finite & few)}
        axes.plot(curve.x, y, color=COLOURS[curve.split], **marker)
        _draw_broken(axes, curve.x, ~finite)
    values = np.concatenate([curve.y[np.isfinite(curve.y)] for curve in curves])
    _scale(axes, _drawable(values))
    _legend(axes, curves)


def _drawable(values: Array) -> Array:
    sizes = np.clip(np.abs(values), 1 / LARGEST, LARGEST)
    return np.where(values == 0, 0.0, np.copysign(sizes, values))


def _draw_broken(axes: Axes, x: Array, broken: Mask) -> None:
    """A pale band over each row of values that are no numbers, and a cross where it begins."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], broken, [False]]).astype(np.int8)))
    for start, end in edges.reshape(-1, 2):
        if end - start > 1:
            axes.axvspan(x[start], x[end - 1], color=COLOURS["broken"], alpha=0.15, linewidth=0)
    top = np.full(len(edges) // 2, 0.92)
    axes.plot(x[edges[::2]], top, transform=axes.get_xaxis_transform(), zorder=4, **_CROSS)


def _scale(axes: Axes, values: Array) -> None:
    if not values.size:
        axes.set_yticks([])
        return
    low, high = float(values.min()), float(values.max())
    if low > 0 and np.log10(high) - np.log10(low) > DECADES:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=5))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number_words(value)))


def _legend(axes: Axes, curves: list[Curve]) -> None:
    """Names of splits where there are two, and what a cross means, right of the title."""
    splits = [split for split in SPLITS if any(curve.split == split for curve in curves)]
    handles = [Line2D([], [], color=COLOURS[split], label=split) for split in splits]
    if splits == ["train"]:
        handles = []
    if any(not np.isfinite(curve.y).all() for curve in curves):
        handles.append(Line2D([], [], label="NaN or infinite", **_CROSS))
    if handles:
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
        place |= {"ncols": len(handles), "borderaxespad": 0.0, "handlelength": 1.4}
        axes.legend(handles=handles, **place)


def _mark_panel(axes: Axes, signal: SignalName, marks: list[Mark]) -> None:
    """Draw a line for each item of evidence: solid, with a ring, in the panel of its own signal."""
    colour = COLOURS["evidence"]
    for mark in marks:
        own = mark.signal == signal
        width, line = (0.9, "-") if own else (0.5, (0, (2, 3)))
        axes.axvline(mark.at, color=colour, linewidth=width, linestyle=line, zorder=1.5)
        low, high = axes.get_ylim()
        if own and mark.value is not None and low <= mark.value <= high:
            ring: dict[str, Any] = {"marker": "o", "markersize": 6.0, "markerfacecolor": "none"}
            axes.plot([mark.at], [mark.value], color=colour, zorder=5, **ring)
            axes.set_ylim(low, high)


def _label_places(axes: Axes, places: Places, *, last: bool) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=places.unit != "epoch"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number_words(value)))
    axes.tick_params(axis="x", labelbottom=last)
    if last:
        placed = "; rows without one stand between their neighbours" if places.guessed else ""
        axes.set_xlabel(f"{_UNIT_WORDS[places.unit]}{placed}")


def _number(figure: Figure, limits: tuple[float, float], marks: list[Mark]) -> None:
    """The numbers of the evidence above all panels, those that would touch in one label."""
    height, colour = figure.get_figheight(), COLOURS["evidence"]
    strip = _axes(figure, height - HEAD, HEAD, limits)
    strip.set_axis_off()
    strip.set_ylim(0, 1)
    box = {"boxstyle": "round,pad=0.25", "facecolor": colour, "edgecolor": "none"}
    inches = (WIDTH - LEFT - RIGHT) / (limits[1] - limits[0])
    figure.text(0.01, 1 - 0.5 * HEAD / height, "evidence", va="center", color=colour)
    middle: dict[str, Any] = {"ha": "center", "va": "center"}
    for label in labels_apart(marks, inches):
        strip.text(label.at, 0.5, label.text, color=COLOURS["paper"], bbox=box, zorder=6, **middle)
