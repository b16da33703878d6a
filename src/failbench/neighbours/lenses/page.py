"""Page: what lenses say on the terminal, in plain text where there is no terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from failbench.diagnose.readers.lines import clean
from failbench.neighbours.lenses.looking import Look, differences
from failbench.neighbours.lenses.said import Said
from failbench.neighbours.lenses.wording import LENS_WORDS, deciding, grounds, measure_words

WHOLE: Final = 3
"""Slices that are shown with all that is known of them; of more, a line each."""

WIDEST: Final = 100
"""Letters of a line of prose."""

STYLES: Final = {"clean": "bold green", "undetermined": "bold yellow"}
"""Of verdicts; any other names something wrong."""


def print_page(said: Sequence[Said], console: Console) -> None:
    """Print what is said of slices.

    Nothing of the traces is read as markup of rich's, and no escape of theirs reaches the terminal.
    """
    for place, block in enumerate(_blocks(said)):
        with console.capture() as capture:
            console.print(block, highlight=False, width=min(console.width, WIDEST))
        lines = capture.get().splitlines()
        # rich fills lines up with blanks, which pipes and diffs would keep
        console.file.write("\n" * bool(place) + "".join(f"{line.rstrip()}\n" for line in lines))


def _blocks(said: Sequence[Said]) -> Iterator[RenderableType]:
    if len(said) > WHOLE:
        yield _overview(said)
        yield Text(f"{len(said)} slices; narrow with --where to see all of {WHOLE} or fewer.")
        return
    for each in said:
        yield _together(each) if each.joined else _single(each)


def _verdict(look: Look) -> Text:
    return Text(look.verdict.replace("_", " "), STYLES.get(look.verdict, "bold red"))


def _single(each: Said) -> Group:
    """One lens: verdict, grounds, and all numbers."""
    (look,) = each.looks.values()
    head = Text.assemble(clean(look.part.name), ": ", _verdict(look))
    parts: list[RenderableType] = [head, Padding(Text(look.rule.meaning), (0, 0, 0, 2))]
    parts += [Padding(Text(f"because {ground}"), (0, 0, 0, 2)) for ground in grounds(look)]
    if look.rule.place:
        parts.append(Padding(Text(f"after: {look.rule.place}", "dim"), (0, 0, 0, 2)))
    return Group(*parts, Text(), _numbers(each, look))


def _numbers(each: Said, look: Look) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", min_width=24)
    table.add_column("value [95 %]", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    less = {}
    if each.against is None:
        table.add_column("unit")
    else:
        reference = each.against[look.lens]
        less = differences(look, reference)
        table.add_column(f"less {clean(reference.part.model)}", justify="right")
    for name, measure in look.measures.items():
        last = measure_words(less[name]) if less else measure.kind.unit
        table.add_row(measure.kind.title, measure_words(measure), str(measure.n), last)
    return table


def _together(each: Said) -> Group:
    """Four lenses: verdicts, and the hypothesis that they make."""
    joined = each.joined
    assert joined is not None  # only then this is asked for
    head = Text.assemble(clean(each.part.name), ": ", (joined.synthesis.hypothesis, "bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), show_header=bool(each.against))
    last = "meaning"
    if each.against is not None:
        last = clean(next(iter(each.against.values())).part.model)
    for heading in ("", "verdict", last):
        table.add_column(heading)
    for lens, look in each.looks.items():
        said = Text(look.rule.meaning) if each.against is None else _verdict(each.against[lens])
        table.add_row(f"{LENS_WORDS[lens]} ({lens})", _verdict(look), said)
    return Group(
        head,
        table,
        Padding(Text(f"to do: {joined.synthesis.action}"), (0, 0, 0, 2)),
        Padding(Text(f"after: {joined.synthesis.place}", "dim"), (0, 0, 0, 2)),
    )


def _overview(said: Sequence[Said]) -> Table:
    """A line for each slice: of one lens the numbers that decide, of four the verdicts."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("model", "task"):
        table.add_column(heading, no_wrap=True)
    first = said[0]
    if first.joined:
        for lens in first.looks:
            table.add_column(lens)
        table.add_column("hypothesis")
    else:
        (look,) = first.looks.values()
        table.add_column("verdict", no_wrap=True)
        for name in deciding(look.lens):
            table.add_column(look.measures[name].kind.title, justify="right")
    for each in said:
        names = [Text(clean(each.part.model)), Text(clean(each.part.task))]
        verdicts = [_verdict(look) for look in each.looks.values()]
        if each.joined:
            rest = [Text(each.joined.synthesis.id.replace("_", " "))]
        else:
            (look,) = each.looks.values()
            rest = [Text(measure_words(look.measures[name])) for name in deciding(look.lens)]
        table.add_row(*names, *verdicts, *rest)
    return table
