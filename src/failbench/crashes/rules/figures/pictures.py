"""Points, bars, pictures, pies and surfaces of matplotlib."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.figures import lines, words
from failbench.crashes.rules.figures.bars import bars, boxes, errors, histogram, pie
from failbench.crashes.rules.figures.panels import AXES
from failbench.crashes.rules.figures.sizes import grid_of, size_of
from failbench.crashes.rules.figures.words import check_words
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def scatter(call: Call) -> Value:
    """Points.

    Raises
    ------
    ViolationError
        If there are other numbers of places, colours or sizes.
    """
    check_words(call)
    x, y = call.arg(0, "x"), call.arg(1, "y")
    if call.kwargs.get("data") is not None:
        return Unknown()
    count, other = size_of(x), size_of(y)
    if count is not None and other is not None and count != other:
        raise ViolationError(
            "ValueError", f"x and y must be the same size, not {count} and {other}"
        )
    is_flat = isinstance(call.receiver, Thing) and call.receiver.path == AXES
    sizes = call.arg(2, "s") if is_flat else None
    size_grid = grid_of(sizes)
    if size_grid is not None and count is not None and size_grid.size not in (1, count, None):
        raise ViolationError(
            "ValueError", "s must be a scalar, or float array-like with the same size as x and y"
        )
    if size_grid is not None and size_grid.dtype == "str":
        raise ViolationError("ValueError", "sizes are numbers")
    colours = call.arg(3, "c") if is_flat else call.kwargs.get("c")
    grid = grid_of(colours)
    if colours is not None and call.kwargs.get("color") is not None and isinstance(colours, Array):
        raise ViolationError("ValueError", "Supply a 'c' argument or a 'color' kwarg but not both")
    if grid is not None and grid.rank and count is not None:
        is_number = (facts.kind(grid) or "?") in "iufb"
        if is_number and grid.rank == 1 and grid.size not in (count, None, 3, 4):
            raise ViolationError(
                "ValueError", f"'c' has {grid.size} elements where there are {count} points"
            )
        if (
            is_number
            and grid.rank == 2
            and grid.shape
            and grid.shape[0] not in (count, 1, None)
            and grid.size != count
        ):
            raise ViolationError(
                "ValueError", f"'c' has {grid.shape[0]} colours where there are {count} points"
            )
        if grid.dtype == "str" and grid.rank == 1:
            if grid.length not in (count, 1, None):
                raise ViolationError(
                    "ValueError", f"'c' has {grid.length} colours where there are {count} points"
                )
            for each in facts.seen(grid):
                words.check_colour(Known(each))
    return Unknown()


def fill(call: Call) -> Value:
    """The area between two lines."""
    check_words(call)
    sizes = [size_of(each) for each in call.args[:3]]
    known = [size for size in sizes if size not in (None, 1)]
    if len(set(known)) > 1:
        raise ViolationError("ValueError", f"lines of {known} points do not broadcast")
    mask = size_of(call.arg(3, "where"))
    if mask is not None and known and mask != known[0]:
        raise ViolationError("ValueError", f"a mask of {mask} is used for {known[0]} points")
    for each in call.args[:3]:
        grid = grid_of(each)
        if grid is not None and grid.rank is not None and grid.rank > 1:
            raise ViolationError("ValueError", "lines are vectors")
    return Unknown()


def picture(call: Call) -> Value:
    """A picture of an array.

    Raises
    ------
    ViolationError
        If it has other axes than rows, columns and 3 or 4 colours, or holds no numbers.
    """
    check_words(call)
    grid = grid_of(call.arg(0, "X", "Z", "A"))
    if isinstance(call.arg(0, "X"), Array):
        drawing_check = call.arg(0, "X")
        if (
            isinstance(drawing_check, Array)
            and drawing_check.home == "torch"
            and drawing_check.needs_grad
        ):
            raise ViolationError("RuntimeError", "a tensor that requires a gradient is no array")
    if grid is None:
        return Unknown()
    if grid.dtype in ("str", "object") and (grid.dtype == "str" or grid.element_types == ("str",)):
        raise ViolationError("TypeError", f"a picture is of numbers, not of {grid.dtype}")
    shape = grid.shape
    if shape is not None:
        fitted = shape[:-1] if len(shape) == 3 and shape[-1] == 1 else shape
        is_right = len(fitted) == 2 or (len(fitted) == 3 and fitted[-1] in (3, 4, None))
        if call.name == "matshow":
            is_right = len(fitted) == 2
        if not is_right:
            raise ViolationError("TypeError", f"Invalid shape {shown(shape)} for image data")
    return Unknown()


def surface(call: Call) -> Value:
    """Contours, meshes and surfaces.

    Raises
    ------
    ViolationError
        If heights are no table, or coordinates do not fit to it.
    """
    check_words(call)
    data = [e for e in call.args if not isinstance(e, Known)]
    is_3d = isinstance(call.receiver, Thing) and "mplot3d" in call.receiver.path
    if call.name == "plot_surface" and len(data) > 2:
        z = grid_of(call.arg(2, "Z"))
        if z is not None and z.rank is not None and z.rank != 2:
            raise ViolationError("ValueError", "Argument Z must be 2-dimensional.")
        return Unknown()
    if is_3d or not data:
        return Unknown()
    if len(data) in (1, 2):
        z = grid_of(data[0])
        if z is not None and z.rank is not None and z.rank != 2:
            raise ViolationError("TypeError", f"heights are a table, not of {z.rank} axes")
        return Unknown()
    x, y, z = (grid_of(each) for each in data[:3])
    if z is None or z.shape is None:
        return Unknown()
    if len(z.shape) != 2:
        wrong = "TypeError" if call.name.startswith("contour") else "ValueError"
        raise ViolationError(wrong, f"heights are a table, not of {len(z.shape)} axes")
    rows, columns = z.shape
    more = 1 if call.name == "pcolormesh" else 0
    for grid, size, name in ((x, columns, "x"), (y, rows, "y")):
        if grid is None or grid.shape is None or size is None:
            continue
        length = grid.shape[0] if len(grid.shape) == 1 else None
        if length is not None and length not in (size, size + more):
            raise ViolationError(
                "TypeError", f"{name} has {length} places where heights have {size}"
            )
        if len(grid.shape) == 2 and not more and None not in grid.shape and grid.shape != z.shape:
            raise ViolationError(
                "TypeError",
                f"{name} is of {shown(grid.shape)} where heights are of {shown(z.shape)}",
            )
    return Unknown()


def span(call: Call) -> Value:
    """A band, where texts are no places on an axis of numbers or dates."""
    owner = call.receiver
    is_x = call.name in ("axvspan", "axvline")
    drawn = owner.facts.get("x kind" if is_x else "y kind") if isinstance(owner, Thing) else None
    ends = call.args[: 2 if "span" in call.name else 1]
    for each in ends:
        if (
            isinstance(each, Known)
            and isinstance(each.data, str)
            and drawn == "M"
            and (not any(letter.isdigit() for letter in each.data) or " " in each.data)
        ):
            raise ViolationError("ConversionError", f"{each.data!r} is no date")
    check_words(call)
    return Unknown()


def plot(call: Call) -> Value:
    """Lines; an axis takes the kind of what is drawn first."""
    made = lines.method(call)
    owner = call.receiver
    data = [e for e in call.args if not (isinstance(e, Known) and isinstance(e.data, str))]
    if isinstance(owner, Thing) and data:
        grids = [grid_of(each) for each in data[:2]]
        if len(grids) == 2:
            for key, grid in zip(("x kind", "y kind"), grids, strict=False):
                if grid is not None and facts.kind(grid):
                    owner.facts.setdefault(key, facts.kind(grid))
    return made


def legend(call: Call) -> Value:
    """A legend."""
    place = call.text(None, "loc")
    known = {
        "best", "upper right", "upper left", "lower left", "lower right", "right", "center left",
        "center right", "lower center", "upper center", "center",
    }  # fmt: skip
    if place is not None and place not in known and not place.startswith("outside"):
        raise ViolationError("ValueError", f"{place!r} is no place of a legend")
    return Unknown()


RULES: Final[dict[str, Handler]] = {
    "scatter": scatter,
    **dict.fromkeys(("bar", "barh"), bars),
    "errorbar": errors,
    **dict.fromkeys(("fill_between", "fill_betweenx"), fill),
    "hist": histogram,
    **dict.fromkeys(("imshow", "matshow"), picture),
    "pie": pie,
    **dict.fromkeys(
        ("contour", "contourf", "pcolormesh", "pcolor", "plot_surface", "plot_wireframe"), surface
    ),
    **dict.fromkeys(("boxplot", "violinplot"), boxes),
    **dict.fromkeys(("axvspan", "axhspan", "axvline", "axhline"), span),
    "legend": legend,
    **dict.fromkeys(("plot", "semilogx", "semilogy", "loglog"), plot),
    **dict.fromkeys(("step", "stem", "stackplot"), lines.stepped),
}

FUNCTIONS: Final[dict[str, Handler]] = {f"{AXES}.{name}": rule for name, rule in RULES.items()}
