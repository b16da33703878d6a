"""Page: what lenses say, in words on the terminal and as JSON for programs."""

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from failbench.diagnose.readers.lines import clean
from failbench.neighbours.lenses.catalogue import Condition, Lens, Measure, Relation, rules
from failbench.neighbours.lenses.looking import Look, View, differences

FORMAT: Final = 1  # of the document; it grows when a field is removed or changes its meaning
WHOLE: Final = 3  # slices that are shown with all that is known of them; of more, a line each
WIDEST: Final = 100  # letters of a line of prose
# of verdicts; any other names something wrong
STYLES: Final = {"clean": "bold green", "undetermined": "bold yellow"}

# the space that each lens looks at, in the words of the workflow
LENS_WORDS: Final[dict[Lens, str]] = {
    "surface": "output",
    "fft": "input",
    "compression": "reasoning",
    "hazard": "time",
}

UNDEFINED: Final = "not defined"

_RELATIONS: Final[dict[Relation, str]] = {
    "above": "is above",
    "at_least": "is at least",
    "below": "is below",
    "at_most": "is at most",
}

_ENDS: Final = {"value": "", "ci_low": "lower end of ", "ci_high": "upper end of "}


def plain(value: float) -> str:
    """A number with about three digits, no more than three of them decimals.

    >>> [plain(value) for value in (0.5123, 7.181, 28.44, 128.4, -0.0001)]
    ['0.512', '7.18', '28.4', '128', '0']
    """
    if not math.isfinite(value):
        return UNDEFINED
    size = abs(value)
    decimals = 3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0
    text = f"{value:z.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_ends(measure: Measure) -> str:
    """A number and its interval, as ``0.5 [0.4, 0.6]``."""
    value, low, high = measure.value, measure.ci_low, measure.ci_high
    if not math.isfinite(value):
        return UNDEFINED
    known = math.isfinite(low) and math.isfinite(high)
    return f"{plain(value)} [{plain(low)}, {plain(high)}]" if known else f"{plain(value)} [?, ?]"


def ground(condition: Condition, measure: Measure) -> str:
    """A condition that holds: what was measured, what it was held against, and why there."""
    value = plain(getattr(measure, condition.end))
    return (
        f"{_ENDS[condition.end]}{measure.kind.title} ({value}) {_RELATIONS[condition.relation]} "
        f"{plain(condition.threshold)}: {condition.reason}"
    )


def print_page(views: Sequence[View], console: Console) -> None:
    """Print what is said of slices; nothing of traces is markup, no escape reaches the terminal."""
    blocks: list[RenderableType]
    if len(views) > WHOLE:
        more = f"{len(views)} slices; narrow with --where to see all of {WHOLE} or fewer."
        blocks = [_overview(views), Text(more)]
    else:
        blocks = [_together(each) if each.is_joint else _single(each) for each in views]
    for place, block in enumerate(blocks):
        with console.capture() as capture:
            console.print(block, highlight=False, width=min(console.width, WIDEST))
        lines = capture.get().splitlines()
        # rich fills lines up with blanks, which pipes and diffs would keep
        console.file.write("\n" * bool(place) + "".join(f"{line.rstrip()}\n" for line in lines))


def _verdict(look: Look) -> Text:
    return Text(look.verdict.replace("_", " "), STYLES.get(look.verdict, "bold red"))


def _indented(text: str, style: str = "") -> Padding:
    return Padding(Text(text, style), (0, 0, 0, 2))


def _table(headings: Sequence[str], left: int = 0, *, header: bool = True) -> Table:
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, left), show_header=header, header_style="bold"
    )
    for heading in headings:
        table.add_column(heading)
    return table


def _single(each: View) -> Group:
    """One lens: verdict, grounds, and all numbers."""
    (look,) = each.looks.values()
    head = Text.assemble(clean(look.part.name), ": ", _verdict(look))
    parts: list[RenderableType] = [head, _indented(look.rule.meaning)]
    for condition in look.rule.conditions:
        reason = ground(condition, look.measures[condition.measure])
        parts.append(_indented(f"because {reason}"))
    if look.rule.place:
        parts.append(_indented(f"after: {look.rule.place}", "dim"))
    return Group(*parts, Text(), _numbers(each, look))


def _numbers(each: View, look: Look) -> Table:
    table = _table([])
    table.add_column("", min_width=24)
    table.add_column("value [95 %]", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    last = {name: measure.kind.unit for name, measure in look.measures.items()}
    if each.against is None:
        table.add_column("unit")
    else:
        reference = each.against[look.lens]
        last = {name: with_ends(less) for name, less in differences(look, reference).items()}
        table.add_column(f"less {clean(reference.part.model)}", justify="right")
    for name, measure in look.measures.items():
        table.add_row(measure.kind.title, with_ends(measure), str(measure.n), last[name])
    return table


def _together(each: View) -> Group:
    """Four lenses: verdicts, and the hypothesis that they make."""
    synthesis = each.synthesis
    last = "meaning" if each.reference is None else clean(each.reference.model)
    table = _table(("", "verdict", last), left=2, header=bool(each.against))
    for lens, look in each.looks.items():
        said = Text(look.rule.meaning) if each.against is None else _verdict(each.against[lens])
        table.add_row(f"{LENS_WORDS[lens]} ({lens})", _verdict(look), said)
    return Group(
        Text.assemble(clean(each.part.name), ": ", (synthesis.hypothesis, "bold")),
        table,
        _indented(f"to do: {synthesis.action}"),
        _indented(f"after: {synthesis.place}", "dim"),
    )


def _overview(views: Sequence[View]) -> Table:
    """A line for each slice: of one lens the numbers that decide, of four the verdicts."""
    first = views[0]
    table = _table([])
    for heading in ("model", "task"):
        table.add_column(heading, no_wrap=True)
    decisive: tuple[str, ...] = ()
    if first.is_joint:
        for heading in (*first.looks, "hypothesis"):
            table.add_column(heading)
    else:
        (look,) = first.looks.values()
        read = (condition.measure for rule in rules()[look.lens] for condition in rule.conditions)
        decisive = tuple(dict.fromkeys(read))
        table.add_column("verdict", no_wrap=True)
        for name in decisive:
            table.add_column(look.measures[name].kind.title, justify="right")
    for each in views:
        names = [Text(clean(each.part.model)), Text(clean(each.part.task))]
        verdicts = [_verdict(look) for look in each.looks.values()]
        rest = [each.synthesis.id.replace("_", " ")] if each.is_joint else []
        rest += [
            with_ends(look.measures[name]) for look in each.looks.values() for name in decisive
        ]
        table.add_row(*names, *verdicts, *map(Text, rest))
    return table


def json_of(views: Sequence[View], lens: str) -> str:
    """The document as JSON that any parser takes: ASCII, and finite numbers alone."""
    document = {"format": FORMAT, "lens": lens, "slices": [_slice(each) for each in views]}
    return json.dumps(document, indent=2, allow_nan=False)


def _slice(each: View) -> dict[str, Any]:
    part = each.part
    record: dict[str, Any] = {
        **{name: getattr(part, name) for name in ("model", "condition", "seed", "tokenizer")},
        "task": part.task,
        "answers": part.rows.height,
        "looks": {lens: _look(look) for lens, look in each.looks.items()},
    }
    if each.is_joint:
        names = ("id", "hypothesis", "action", "place")
        record["synthesis"] = {name: getattr(each.synthesis, name) for name in names}
    if each.against is not None and each.reference is not None:
        apart = {lens: differences(look, each.against[lens]) for lens, look in each.looks.items()}
        record["against"] = {
            "model": each.reference.model,
            "verdicts": {lens: look.verdict for lens, look in each.against.items()},
            "differences": {
                lens: {name: _bounds(of) for name, of in less.items()}
                for lens, less in apart.items()
            },
        }
    return record


def _look(look: Look) -> dict[str, Any]:
    return {
        "verdict": look.verdict,
        "meaning": look.rule.meaning,
        "place": look.rule.place,
        "because": [
            {
                "measure": condition.measure,
                "end": condition.end,
                "found": _finite(getattr(look.measures[condition.measure], condition.end)),
                "relation": condition.relation,
                "threshold": condition.threshold,
                "reason": condition.reason,
            }
            for condition in look.rule.conditions
        ],
        "measures": {
            name: {"title": of.kind.title, "unit": of.kind.unit, "n": of.n, **_bounds(of)}
            for name, of in look.measures.items()
        },
        "points": [
            {name: _finite(value) for name, value in row.items()}
            for row in look.points.iter_rows(named=True)
        ],
    }


def _bounds(of: Measure) -> dict[str, float | None]:
    return {name: _finite(getattr(of, name)) for name in ("value", "ci_low", "ci_high")}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
