"""Figures and axes of matplotlib: lines, points, bars and their settings."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.rules.evaluation import iteration, operators, registry
from failbench.crashes.rules.evaluation.registry import Handler, Property
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.interfaces import parameters, words
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
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
ARTISTS: Final = {
    "plot": "line", "semilogx": "line", "semilogy": "line", "loglog": "line", "axhline": "line",
    "axvline": "line", "scatter": "collection", "bar": "rectangle", "barh": "rectangle", "hist":
    "rectangle", "axvspan": "rectangle", "axhspan": "rectangle", "text": "text", "set_title":
    "text", "set_xlabel": "text", "set_ylabel": "text", "imshow": "image", "fill_between":
    "collection",
}  # fmt: skip
"""Artists to which a method hands the arguments that it does not know."""

OTHERS: Final = frozenset({
    "data", "scalex", "scaley", "markers", "edgecolors", "facecolors", "linewidths", "linestyles",
    "hatches", "loc", "pad", "y", "labelpad", "fontdict", "norm", "cmap", "vmin", "vmax", "s",
    "c", "marker", "plotnonfinite", "colorizer", "colorbar", "antialiaseds", "capstyle",
    "joinstyle", "width", "height", "bottom", "left", "align", "color", "edgecolor", "linewidth",
    "tick_label", "xerr", "yerr", "ecolor", "capsize", "error_kw", "log", "orientation", "where",
    "interpolate", "step",
})  # fmt: skip
"""Arguments that collections and bars take besides the names of their setters."""

CHOICES: Final = {"marker": "marker", "cmap": "cmap", "linestyle": "linestyle", "ls": "linestyle"}
COLOURS: Final = (
    "color",
    "c",
    "facecolor",
    "edgecolor",
    "fc",
    "ec",
    "markerfacecolor",
    "mfc",
    "ecolor",
)


def subplots(call: Call) -> Value:
    """A figure and its panels."""
    extra = call.kwargs.get("subplot_kw")
    inner = extra.items if isinstance(extra, Mapping) else {}
    is_known = extra is None or (isinstance(extra, Mapping) and extra.is_complete)
    panel = _panel(inner.get("projection"), is_known and call.is_complete)
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


def _panel(projection: Value | None, is_known: bool) -> Value:
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
    return _panel(call.kwargs.get("projection"), call.is_complete)


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


def method(call: Call) -> Value:
    """A method of axes that has no rule of its own: words that it is given must be there."""
    check_words(call)
    if call.name in ("plot", "semilogx", "semilogy", "loglog"):
        _plot(call)
        return Sequence("list", [Unknown()] if len(call.args) < 3 else None)
    return Unknown()


def _size(value: Value | None) -> int | None:
    if isinstance(value, Frame):
        return value.rows
    if isinstance(value, Known):
        return None if isinstance(value.data, str) or value.data is None else 1
    taken = operators.as_array(value) if value is not None else None
    if taken is None:
        return iteration.length(value) if isinstance(value, Sequence) else None
    return 1 if taken.shape == () else taken.length


def _plot(call: Call) -> None:
    data = [
        each for each in call.args if not (isinstance(each, Known) and isinstance(each.data, str))
    ]
    for each in call.args:
        if isinstance(each, Known) and isinstance(each.data, str) and each is not call.args[0]:
            check_layout(each.data)
    if call.kwargs.get("data") is not None:
        return
    for each in data:
        _check_drawn(each, call.name)
    if len(data) >= 2:
        x, y = _size(data[0]), _size(data[1])
        if x is not None and y is not None and x != y:
            raise ViolationError(
                "ValueError", f"x and y must have same first dimension, but have {x} and {y}"
            )
        for each in data[:2]:
            taken = operators.as_array(each)
            if taken is not None and taken.rank is not None and taken.rank > 2:
                raise ViolationError("ValueError", "x and y can be no greater than 2D")
    elif len(data) == 1:
        taken = operators.as_array(data[0])
        if taken is not None and taken.rank is not None and taken.rank > 2:
            raise ViolationError("ValueError", "x and y can be no greater than 2D")


def stepped(call: Call) -> Value:
    """Steps, stems and stacks, whose places and values are as many."""
    check_words(call)
    if len(call.args) > 1:
        x = _size(call.args[0])
        for each in call.args[1:]:
            if isinstance(each, Known):
                continue
            taken = operators.as_array(each)
            y = _size(each)
            if taken is not None and taken.rank == 2 and taken.shape:
                y = taken.shape[1]
            if x is not None and y is not None and x != y:
                raise ViolationError("ValueError", f"{x} places have {y} values")
    return Unknown()


def _check_drawn(value: Value, name: str) -> None:
    if isinstance(value, Array) and value.home == "torch":
        if value.needs_grad:
            raise ViolationError("RuntimeError", "a tensor that requires a gradient is no array")
        if value.device == "meta":
            raise ViolationError("TypeError", "a tensor without data is no array")
    if isinstance(value, Sequence) and value.items and name != "boxplot":
        sizes = {iteration.length(item) for item in value.items if isinstance(item, Sequence)}
        if len(sizes) > 1 and None not in sizes:
            raise ViolationError("ValueError", "rows of other lengths are no array")


def check_layout(text: str) -> None:
    """Refuse a layout of lines that is none.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    if text in words("color"):
        return
    rest = text
    for style in ("--", "-.", "-", ":"):
        if style in rest:
            rest = rest.replace(style, "", 1)
            break
    if rest.startswith("C") and rest[1:2].isdigit():
        rest = rest[2:]
    known = {*"bgrcmykw"} | {each for each in words("marker") if len(each) == 1}
    if any(letter not in known for letter in rest):
        raise ViolationError("ValueError", f"{text!r} is no layout of a line")


def check_words(call: Call) -> None:
    """Refuse names of colours, maps, markers and arguments that are not there.

    Raises
    ------
    ViolationError
        ``ValueError``, or ``AttributeError`` and ``TypeError`` of arguments.
    """
    for name, kind in CHOICES.items():
        value = call.kwargs.get(name)
        if isinstance(value, Known) and isinstance(value.data, str):
            is_latex = value.data.startswith("$") or value.data in ("", " ", "None", "none")
            if value.data not in words(kind) and not is_latex:
                raise ViolationError("ValueError", f"{value.data!r} is no {name}")
    for name in COLOURS:
        value = call.kwargs.get(name)
        if name == "c" and call.name not in ("plot", "scatter"):
            continue
        check_colour(value)
        if (
            isinstance(value, Sequence)
            and value.items
            and not all(
                isinstance(e, Known) and isinstance(e.data, (int, float)) for e in value.items
            )
        ):
            for each in value.items:
                check_colour(each)
    alpha = call.kwargs.get("alpha")
    if (
        isinstance(alpha, Known)
        and isinstance(alpha.data, (int, float))
        and not 0 <= alpha.data <= 1
    ):
        raise ViolationError("ValueError", f"alpha is between 0 and 1, not {alpha.data}")
    if isinstance(alpha, Known) and isinstance(alpha.data, str):
        raise ViolationError("TypeError", "alpha is a number")
    for name in ("linewidth", "lw", "markersize", "ms"):
        width = call.kwargs.get(name)
        if isinstance(width, Known) and isinstance(width.data, str):
            try:
                float(width.data)
            except ValueError as error:
                raise ViolationError("ValueError", f"{name} is a number") from error
    artist = ARTISTS.get(call.name)
    if artist is None:
        return
    allowed = words(f"set {artist}") | OTHERS
    from_signature = operators_parameters(call)
    for name in call.kwargs:
        if name not in allowed and name not in from_signature:
            raise ViolationError("AttributeError", f"{call.name} has no argument {name}")


def operators_parameters(call: Call) -> frozenset[str]:
    """Names of the arguments that a method itself has."""
    known = parameters(f"{AXES}.{call.name}")
    return frozenset() if known is None else known.named


def check_colour(value: Value | None) -> None:
    """Refuse a name that is no colour.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    if not isinstance(value, Known) or not isinstance(value.data, str):
        return
    text = value.data
    if text in words("color") or text.lower() in ("none", "auto", "face", "inherit", ""):
        return
    if (
        text.startswith("#")
        and len(text) in (4, 5, 7, 9)
        and all(letter in "0123456789abcdefABCDEF" for letter in text[1:])
    ):
        return
    if text.startswith("C") and text[1:].isdigit():
        return
    if text.lower() in words("color"):
        return
    try:
        if 0 <= float(text) <= 1:
            return
    except ValueError:
        pass
    raise ViolationError("ValueError", f"{text!r} is no colour")


def save(call: Call) -> Value:
    """Write a figure.

    Raises
    ------
    ViolationError
        If the format is none, or the bitmap does not fit into memory.
    """
    owner = call.receiver if isinstance(call.receiver, Thing) else Thing(FIGURE, {})
    name = call.text(0, "fname")
    kind = call.text(
        None, "format", default=name.rpartition(".")[2] if name and "." in name else "png"
    )
    if kind is not None and kind.lower() not in words("format"):
        raise ViolationError("ValueError", f"{kind!r} is no format of pictures")
    dpi = call.number(None, "dpi", default=owner.facts.get("dpi"))
    size = owner.facts.get("size")
    if (
        dpi is not None
        and isinstance(size, (tuple, list))
        and kind in ("png", "jpg", "jpeg", "tif", "tiff", "webp", "raw", "rgba")
    ):
        width, height = (float(each) * dpi for each in size)
        if width >= 2**23 or height >= 2**23:
            raise ViolationError(
                "ValueError", f"a picture of {width:g} x {height:g} points is too large"
            )
        memory.check(int(width) * int(height) * 4, "bool")
    return Known(None)


def get_map(call: Call) -> Value:
    """A colour map by name."""
    name = call.text(0, "name")
    if name is not None and name not in words("cmap"):
        raise ViolationError("ValueError", f"{name!r} is no colour map")
    return Thing("matplotlib.colors.Colormap", {})


def style(call: Call) -> Value:
    """A style sheet by name."""
    value = call.first()
    names = value.items or [] if isinstance(value, Sequence) else [value]
    for each in names:
        if (
            isinstance(each, Known)
            and isinstance(each.data, str)
            and each.data not in words("style")
            and "." not in each.data
            and "/" not in each.data
        ):
            raise ViolationError("OSError", f"{each.data!r} is no style")
    return Known(None)


def pyplot(call: Call) -> Value:
    """A function of pyplot that draws in the panel of the moment."""
    rule = registry.functions().get(f"{AXES}.{call.name}", registry.functions()["axes method"])
    return rule(
        Call(
            call.state, f"{AXES}.{call.name}", call.args, call.kwargs, call.is_complete, Thing(AXES)
        )
    )


def ticks(call: Call) -> Value:
    """Places of ticks, and their names.

    Raises
    ------
    ViolationError
        If there are other numbers of names than of places.
    """
    from_pyplot = call.name in ("xticks", "yticks")
    places, labels = call.arg(0, "ticks"), call.arg(1, "labels")
    left, right = _size(places), _size(labels)
    if isinstance(labels, Known) and labels.data is None:
        right = None
    if left is not None and right is not None and left != right:
        raise ViolationError("ValueError", f"{right} names are given for {left} ticks")
    if isinstance(call.receiver, Thing) and not from_pyplot and left is not None:
        call.receiver.facts[f"{call.name[4]} ticks"] = left
    return Known(None)


def tick_names(call: Call) -> Value:
    """Names of ticks whose places were set."""
    owner = call.receiver
    count = _size(call.arg(0, "labels"))
    known = owner.facts.get(f"{call.name[4]} ticks") if isinstance(owner, Thing) else None
    if known is not None and count is not None and count != known:
        raise ViolationError("ValueError", f"{count} names are given for {known} ticks")
    return Known(None)


def limits(call: Call) -> Value:
    """Ends of an axis.

    Raises
    ------
    ViolationError
        If they are not finite, or no numbers.
    """
    for value in (*call.args, *call.kwargs.values()):
        for each in value.items or [] if isinstance(value, Sequence) else [value]:
            if (
                isinstance(each, Known)
                and isinstance(each.data, float)
                and not np.isfinite(each.data)
            ):
                raise ViolationError("ValueError", "Axis limits cannot be NaN or Inf")
            if (
                isinstance(each, Array)
                and each.shape == ()
                and (facts.has_nan(each) or facts.has_inf(each))
            ):
                raise ViolationError("ValueError", "Axis limits cannot be NaN or Inf")
    return Known(None)


def scale(call: Call) -> Value:
    """The scale of an axis."""
    name = call.text(0, "value")
    if name is not None and name not in words("scale"):
        raise ViolationError("ValueError", f"{name!r} is no scale")
    return Known(None)


def _axes_of(_value: Value, name: str, _state: State) -> Value:
    return Sequence("list", None) if name == "axes" else Unknown()


METHODS: Final = (
    "plot", "semilogx", "semilogy", "loglog", "axhline", "axvline", "text", "set_title",
    "set_xlabel", "set_ylabel",
)  # fmt: skip

FUNCTIONS: Final[dict[str, Handler]] = {
    "axes method": method,
    "pyplot": pyplot,
    "matplotlib.pyplot.subplots": subplots,
    f"{FIGURE}.subplots": subplots,
    "matplotlib.pyplot.figure": figure,
    f"{FIGURE}.add_subplot": add_panel,
    "matplotlib.pyplot.subplot": add_panel,
    "matplotlib.pyplot.axes": lambda call: _panel(call.kwargs.get("projection"), call.is_complete),
    "matplotlib.pyplot.subplot_mosaic": mosaic,
    f"{FIGURE}.subplot_mosaic": mosaic,
    **{f"matplotlib.pyplot.{name}": current for name in ("gca", "gcf")},
    f"{FIGURE}.savefig": save,
    "matplotlib.pyplot.savefig": save,
    "matplotlib.pyplot.get_cmap": get_map,
    "matplotlib.colormaps.get_cmap": get_map,
    "matplotlib.pyplot.set_cmap": get_map,
    "matplotlib.pyplot.style.use": style,
    "matplotlib.style.use": style,
    "matplotlib.style.context": style,
    "matplotlib.pyplot.style.context": style,
    **{f"{AXES}.set_{axis}ticks": ticks for axis in "xy"},
    **{f"matplotlib.pyplot.{axis}ticks": ticks for axis in "xy"},
    **{f"{AXES}.set_{axis}ticklabels": tick_names for axis in "xy"},
    **{f"{AXES}.set_{axis}lim": limits for axis in "xy"},
    **{f"matplotlib.pyplot.{axis}lim": limits for axis in "xy"},
    **{f"{AXES}.set_{axis}scale": scale for axis in "xy"},
    **{f"matplotlib.pyplot.{axis}scale": scale for axis in "xy"},
}

PROPERTIES: Final[dict[str, Property]] = {f"{FIGURE}.axes": _axes_of}
