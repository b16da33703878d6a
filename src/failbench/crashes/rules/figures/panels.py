"""Figures and their panels."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.evaluation.registry import Property
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.interfaces import words
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError

AXES: Final = "matplotlib.axes.Axes"
FIGURE: Final = "matplotlib.figure.Figure"
PROJECTED: Final = {
    "3d": "mpl_toolkits.mplot3d.Axes3D",
    "polar": "matplotlib.projections.polar.PolarAxes",
}


def subplots(call: Call) -> Value:
    """A figure and its panels."""
    extra = call.kwargs.get("subplot_kw")
    inner = extra.items if isinstance(extra, Mapping) else {}
    is_known = extra is None or (isinstance(extra, Mapping) and extra.is_complete)
    panel = made_panel(inner.get("projection"), is_known and call.is_complete)
    figure = _figure(call)
    rows, columns = call.integer(0, "nrows", default=1), call.integer(1, "ncols", default=1)
    for each in (rows, columns):
        if each is not None and each < 1:
            raise ViolationError("ValueError", f"{each} rows or columns of panels")
    figure.facts["axes"] = panel
    if isinstance(call.receiver, Thing) and call.name == "subplots":
        return _panels(call, rows, columns, panel)
    return Sequence("tuple", [figure, _panels(call, rows, columns, panel)])


def _panels(call: Call, rows: int | None, columns: int | None, panel: Value) -> Value:
    squeeze = call.flag(None, "squeeze", default=True)
    if rows is None or columns is None or squeeze is None:
        if squeeze is False:
            return Array("numpy", (rows, columns), "object", member=panel)
        return Unknown()
    if squeeze and rows == columns == 1:
        return panel
    shape = (rows, columns) if not squeeze or min(rows, columns) > 1 else (max(rows, columns),)
    return Array("numpy", shape, "object", member=panel)


def made_panel(projection: Value | None, is_known: bool) -> Value:
    """The axes of a projection."""
    if projection is None:
        return Thing(AXES, {}) if is_known else Unknown()
    if isinstance(projection, Known) and isinstance(projection.data, str):
        if projection.data not in words("projection"):
            raise ViolationError("ValueError", f"{projection.data!r} is no projection")
        return Thing(PROJECTED.get(projection.data, AXES), {})
    return Unknown()


def _figure(call: Call) -> Thing:
    if isinstance(call.receiver, Thing) and call.receiver.path == FIGURE:
        return call.receiver
    try:
        size = call.known(None, "figsize", default=(6.4, 4.8))
    except NotConcreteError:
        size = None
    if isinstance(size, (tuple, list)):
        if len(size) != 2:
            raise ViolationError("ValueError", "a figure has a width and a height")
        if any(isinstance(each, (int, float)) and each <= 0 for each in size):
            raise ViolationError("ValueError", f"a figure cannot be of {size} inches")
    return Thing(FIGURE, {"size": size, "dpi": call.number(None, "dpi", default=100.0)})


def figure(call: Call) -> Value:
    """A new figure."""
    made = _figure(call)
    made.facts["axes"] = Thing(AXES, {})
    return made


def add_panel(call: Call) -> Value:
    """A further panel.

    Raises
    ------
    ViolationError
        If there is no such place.
    """
    numbers = [e.data for e in call.args if isinstance(e, Known) and type(e.data) is int]
    if len(numbers) == 1 and len(call.args) == 1 and 100 <= numbers[0] <= 999:
        numbers = [int(digit) for digit in str(numbers[0])]
    if len(numbers) == 3:
        rows, columns, place = numbers
        if rows < 1 or columns < 1 or not 1 <= place <= rows * columns:
            raise ViolationError(
                "ValueError", f"there is no place {place} in {rows} x {columns} panels"
            )
    return made_panel(call.kwargs.get("projection"), call.is_complete)


def mosaic(call: Call) -> Value:
    """Panels by name."""
    layout = call.first()
    names: dict[Any, Value] = {}
    try:
        known = concrete(layout)
    except NotConcreteError:
        return Sequence("tuple", [_figure(call), Mapping({}, False)])
    lines = (
        [line.strip() for line in known.replace(";", "\n").split("\n") if line.strip()]
        if isinstance(known, str)
        else known
    )
    if isinstance(lines, list):
        if len({len(line) for line in lines}) > 1:
            raise ViolationError("ValueError", "rows of a mosaic have other lengths")
        for line in lines:
            names |= {name: Thing(AXES, {}) for name in line if name != "."}
    panels = Mapping(names)
    return (
        panels if isinstance(call.receiver, Thing) else Sequence("tuple", [_figure(call), panels])
    )


def current(call: Call) -> Value:
    """The figure or panel of the moment."""
    return Thing(AXES, {}) if call.name == "gca" else Unknown()


def _axes_of(_value: Value, name: str, _state: State) -> Value:
    return Sequence("list", None) if name == "axes" else Unknown()


PROPERTIES: Final[dict[str, Property]] = {f"{FIGURE}.axes": _axes_of}
