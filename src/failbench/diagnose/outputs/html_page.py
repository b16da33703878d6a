"""HTML page: the answer as one file that needs nothing else, with the curves it rests on."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Final

from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.outputs import panel
from failbench.diagnose.outputs.curves import svg_of
from failbench.diagnose.outputs.outline import Item, Note, Section, outline_of
from failbench.diagnose.outputs.wording import CATEGORY_WORDS, percent
from failbench.diagnose.readers.names import SPLITS

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Of the browser: nothing is fetched, run or sent, whatever a log has in it."""

COLOURS: Final = {
    panel.INK: "ink",
    panel.PAPER: "paper",
    panel.GRID: "line",
    panel.BROKEN: "broken",
    panel.EVIDENCE: "evidence",
    **{panel.COLOURS[split]: split for split in SPLITS},
}
"""What the page's style calls the colours of the curves, which differ where it is dark."""

CAPTION: Final = (
    "Each signal of the log. Vertical lines carry the numbers of the evidence: solid where it is "
    "of that signal, with a ring at its value, and dotted elsewhere."
)


def html_of(diagnosis: LogDiagnosis) -> str:
    """The answer as a page of HTML.

    All evidence, causes and remedies are on it. What comes from the log is escaped.

    Parameters
    ----------
    diagnosis
        The answer.

    Returns
    -------
    str
        A whole document, the same for the same answer.
    """
    outline = outline_of(diagnosis, whole=True)
    style = files("failbench.diagnose.outputs").joinpath("data/page.css").read_text("utf-8")
    title = escape(outline.headline)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        "<main>",
        f'<h1 class="{outline.status}">{title}</h1>',
    ]
    drawn = False
    for section in outline.sections:
        parts.append(_section(section))
        if not drawn and any(item.evidence for item in section.items):
            parts.append(_figure(diagnosis))
            drawn = True
    if not drawn:
        parts.append(_figure(diagnosis))
    parts += [_categories(diagnosis), "</main>", "</body>", "</html>", ""]
    return "\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> str:
    items = "\n".join(_item(item) for item in section.items)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n<ul>\n{items}\n</ul>\n</section>"


def _item(item: Item) -> str:
    classes = [
        *(["evidence"] if item.evidence else []),
        *([] if item.mark else ["bare"]),
        *(["wide"] if "%" in item.mark else []),
        *([] if item.notes else ["plain"]),
    ]
    name = f' class="{" ".join(classes)}"' if classes else ""
    anchor = f' id="evidence-{item.evidence}"' if item.evidence else ""
    mark = f'<span class="mark">{escape(item.mark)}</span>' if item.mark else ""
    head = "".join(f"<span>{escape(part)}</span>" for part in item.head)
    notes = "".join(_note(note) for note in item.notes)
    return f'<li{name}{anchor}>{mark}<div><p class="head">{head}</p>{notes}</div></li>'


def _note(note: Note) -> str:
    if note.kind == "quote":
        return f"<blockquote>{escape(note.text)}</blockquote>"
    label = f"<b>{escape(note.label)}:</b> " if note.label else ""
    return f"<p>{label}{escape(note.text)}</p>"


def _figure(diagnosis: LogDiagnosis) -> str:
    """The curves in the colours of the page; nothing where there is nothing to draw."""
    if not diagnosis.log.present:
        return ""
    drawn = svg_of(diagnosis).replace("<svg ", '<svg role="img" aria-label="Curves of the log" ', 1)
    for colour, name in COLOURS.items():
        drawn = drawn.replace(colour, f"var(--{name})")
    return f"<figure>\n{drawn}<figcaption>{CAPTION}</figcaption>\n</figure>"


def _categories(diagnosis: LogDiagnosis) -> str:
    """How probable each category is, unless the run is healthy."""
    if diagnosis.status == "healthy" or not diagnosis.categories:
        return ""
    ordered = sorted(diagnosis.categories.items(), key=lambda each: -each[1])
    rows = "\n".join(
        f'<tr><td class="share">{percent(share)}</td><td>{escape(CATEGORY_WORDS[name])}</td></tr>'
        for name, share in ordered
    )
    return f"<section>\n<h2>Where the cause may lie</h2>\n<table>\n{rows}\n</table>\n</section>"
