"""Picture: the file that the command draws of what lenses saw."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.diagnose.outputs.curves import FORMATS
from failbench.diagnose.outputs.drawing import style
from failbench.diagnose.readers.lines import clean
from failbench.neighbours.lenses.drawing import (
    LOOKS,
    curves_of,
    draw_curves,
    marks_of,
    name_axes,
    outcome_handles,
)
from failbench.neighbours.lenses.looking import View

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
        problem = f"{len(models)} models are more than can be distinguished in a picture."
        remedy = f"Name {len(LOOKS)} or fewer: --where model=a,b."
        raise BadInputError(path, "--figure", problem, remedy)
    stream, suffix = BytesIO(), path.suffix.lower()
    with style():
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
