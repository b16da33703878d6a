"""Figures and axes of matplotlib: lines, points, bars and their settings."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.evaluation import registry
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.figures.lines import method
from failbench.crashes.rules.figures.panels import (
    AXES,
    FIGURE,
    add_panel,
    current,
    figure,
    made_panel,
    mosaic,
    subplots,
)
from failbench.crashes.rules.figures.sizes import drawn_size
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.interfaces import words
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Thing, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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
    left, right = drawn_size(places), drawn_size(labels)
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
    count = drawn_size(call.arg(0, "labels"))
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


FUNCTIONS: Final[dict[str, Handler]] = {
    "axes method": method,
    "pyplot": pyplot,
    "matplotlib.pyplot.subplots": subplots,
    f"{FIGURE}.subplots": subplots,
    "matplotlib.pyplot.figure": figure,
    f"{FIGURE}.add_subplot": add_panel,
    "matplotlib.pyplot.subplot": add_panel,
    "matplotlib.pyplot.axes": lambda call: made_panel(
        call.kwargs.get("projection"), call.is_complete
    ),
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
