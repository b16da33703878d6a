"""The commands ``lens`` and ``reasoning``: traces of a model's answers, and the models of some."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.cli.places import REASONING, REASONING_WORK, Json, Output, Workers

Lens = Literal["surface", "fft", "compression", "hazard", "synthesis"]


def lens(
    lens: Annotated[Lens, Parameter(help="where, how shown, how processed, when, or all")],
    traces: Annotated[Path, Parameter(help=".parquet, .csv, .jsonl")],
    /,
    *,
    where: Annotated[
        Sequence[str],
        Parameter(help="COLUMN=VALUES, only these: task=arithmetic length=4..8 model=a,b"),
    ] = (),
    against: Annotated[
        str | None, Parameter(help="a model: compare the others with this one")
    ] = None,
    json: Json = False,
    figure: Annotated[Path | None, Parameter(help="draw what was seen: svg, png")] = None,
) -> int:
    """Say how a model's reasoning fails, from traces of its answers."""
    from failbench.neighbours.lenses.catalogue import LENSES
    from failbench.neighbours.lenses.looking import views_of
    from failbench.neighbours.lenses.slices import DEFAULT, filter_of, filtered, scale_of
    from failbench.reasoning.traces import read_traces

    filters = [filter_of(each) for each in where]
    table = read_traces(traces)
    if table.is_empty():
        raise BadInputError(traces, "(rows)", "there are none.", "Name a file with traces in it.")
    kept = filtered(table, filters, traces)
    reference = None
    if against is not None:
        others = (each for each in filters if each.column != "model")
        reference = filtered(table, others, traces).filter(model=against)
        if reference.is_empty():
            remedy = f"Models are {', '.join(table['model'].unique().sort().head(12))}."
            raise BadInputError(traces, "--against", f"there is no trace of {against!r}.", remedy)
    lenses = [name for name in LENSES if lens in {name, "synthesis"}]
    views = views_of(kept, reference, lenses, scale_of(table), DEFAULT)
    if figure is not None:
        from failbench.neighbours.lenses.picture import write_figure

        write_figure(views, figure)
    if json:
        from failbench.neighbours.lenses.page import json_of

        print(json_of(views, lens))
        return 0
    from rich.console import Console

    from failbench.neighbours.lenses.page import print_page

    print_page(views, Console())
    if figure is not None:
        print(f"figure written to {figure}", file=sys.stderr)
    return 0


def reasoning(
    *,
    output: Output = REASONING,
    work: Annotated[Path, Parameter(help="for what is not finished")] = REASONING_WORK,
    workers: Workers = 1,
    again: Annotated[bool, Parameter(help="also those that are recorded")] = False,
) -> int:
    """Record the models of reasoning that are missing or out of date, and write their traces."""
    from rich import progress as shown

    from failbench.reasoning.recorder import Folders, record

    os.environ["OMP_NUM_THREADS"] = "1"
    columns = (shown.BarColumn(), shown.MofNCompleteColumn(), shown.TimeElapsedColumn())
    with shown.Progress(*columns, shown.TextColumn("{task.description}")) as bar:
        models = bar.add_task("looking for what is missing", total=None)
        for progress in record(Folders(output, work), workers, again=again):
            last = f"{progress.row['model']}: loss {progress.row['loss']:.3f}"
            bar.update(models, total=progress.planned, completed=progress.done, description=last)
        if not bar.finished:
            bar.update(models, total=1, completed=1, description="nothing is missing")
    return 0
