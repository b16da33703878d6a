"""Page: the answer on the terminal, in plain text where there is no terminal."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from failbench.diagnose.answer import LogDiagnosis, Status
from failbench.diagnose.outputs.outline import Item, Note, headline, sections_of

STATUS_STYLES: Final[dict[Status, str]] = {
    "healthy": "bold green",
    "failed": "bold red",
    "unknown": "bold yellow",
    "too_little": "bold yellow",
    "no_training_log": "bold yellow",
}

MARGIN: Final = 2  # blanks before what stands below a heading
WIDEST: Final = 100  # letters of a line of prose: longer ones are hard to follow
BETWEEN: Final = "  "  # between the parts of a line


def print_page(diagnosis: LogDiagnosis, console: Console, *, whole: bool = False) -> None:
    """Print an answer; nothing of the log is markup, and no escape of it reaches the terminal."""
    for line in lines_of(diagnosis, console, whole=whole):
        console.print(line, soft_wrap=True, highlight=False)


def lines_of(diagnosis: LogDiagnosis, console: Console, *, whole: bool = False) -> Iterator[Text]:
    """The lines of the page, none wider than the console."""
    width = min(console.width, WIDEST)
    title = Text(headline(diagnosis), STATUS_STYLES[diagnosis.status])
    yield from _hanging(console, width, "", title)
    for section in sections_of(diagnosis, whole=whole):
        yield Text()
        yield from _hanging(console, width, "", Text(section.title, "bold"))
        marks = max(len(item.mark) for item in section.items)
        for item in section.items:
            yield from _item(console, width, item, marks)


def _item(console: Console, width: int, item: Item, marks: int) -> Iterator[Text]:
    mark = " " * MARGIN + (f"{item.mark:>{marks}}{BETWEEN}" if marks else "")
    indent = " " * len(mark)
    head = Text()
    for place, part in enumerate(item.head):
        strong = place == 0 and (item.evidence is not None or bool(item.notes))
        head.append(BETWEEN if place else "").append(part, "bold" if strong else "")
    yield from _hanging(console, width, mark, head)
    for note in item.notes:
        yield from _hanging(console, width, *_note(note, indent))


def _note(note: Note, indent: str) -> tuple[str, Text]:
    if note.kind == "quote":
        return f"{indent}| ", Text(note.text, "dim")
    if note.label:
        return indent, Text.assemble((f"{note.label}: ", "italic"), note.text)
    return indent, Text(note.text)


def _hanging(console: Console, width: int, first: str, body: Text) -> Iterator[Text]:
    """A text in lines, whose first begins with a mark and whose others stand below its text."""
    rest = first if first.endswith("| ") else " " * len(first)
    room = max(width - len(first), 10)
    for number, line in enumerate(body.wrap(console, room, overflow="fold")):
        line.rstrip()
        yield Text.assemble(rest if number else first, line)
