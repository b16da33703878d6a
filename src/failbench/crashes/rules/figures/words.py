"""Words and colours that drawing understands."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.figures.panels import AXES
from failbench.crashes.rules.knowledge.interfaces import parameters, words
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Known, Sequence, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

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
