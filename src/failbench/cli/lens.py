"""The command ``lens``: traces of a model's reasoning, seen through one lens or all four."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from failbench.base.errors import BadInputError


def look_at_traces(
    *,
    lens: str,
    traces: Path,
    where: Sequence[str],
    against: str | None,
    as_json: bool,
    figure: Path | None,
) -> int:
    """Print what a lens says of every model and task of a file of traces."""
    from failbench.neighbours.lenses.catalogue import LENSES
    from failbench.neighbours.lenses.looking import views_of
    from failbench.neighbours.lenses.slices import DEFAULT, filter_of, filtered, scale_of
    from failbench.reasoning.traces import read_traces

    filters = [filter_of(each) for each in where]
    table = read_traces(traces)
    if table.is_empty():
        problem = "there are none."
        raise BadInputError(traces, "(rows)", problem, "Name a file with traces in it.")
    kept = filtered(table, filters, traces)
    reference = None
    if against is not None:
        others = (each for each in filters if each.column != "model")
        reference = filtered(table, others, traces).filter(model=against)
        if reference.is_empty():
            models = ", ".join(table["model"].unique().sort().head(12).to_list())
            raise BadInputError(
                traces, "--against", f"there is no trace of {against!r}.", f"Models are {models}."
            )
    lenses = [name for name in LENSES if lens in {name, "synthesis"}]
    views = views_of(kept, reference, lenses, scale_of(table), DEFAULT)
    if figure is not None:
        from failbench.neighbours.lenses.lens_figure import write_figure

        write_figure(views, figure)
    if as_json:
        from failbench.neighbours.lenses.page import json_of

        print(json_of(views, lens))
    else:
        from rich.console import Console

        from failbench.neighbours.lenses.page import print_page

        print_page(views, Console())
        if figure is not None:
            print(f"figure written to {figure}", file=sys.stderr)
    return 0
