"""HTML page: the answer as one file that needs nothing else, with the curves it rests on."""

from html import escape
from importlib.resources import files
from typing import Final

from failbench.base.errors import BadInputError
from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.outputs import outline
from failbench.diagnose.outputs.curves import COLOURS, svg_of

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
    sections = outline.sections_of(diagnosis, whole=True)
    parts = [
        _section(section.title, "ul", [_item(item) for item in section.items])
        for section in sections
    ]
    evident = (any(item.evidence for item in section.items) for section in sections)
    place = next((place for place, has in enumerate(evident, start=1) if has), len(parts))
    parts.insert(place, _figure(diagnosis))
    parts.append(_categories(diagnosis))
    data = files("failbench.diagnose.outputs").joinpath("data")
    page, style = (data.joinpath(name).read_text("utf-8") for name in ("page.html", "page.css"))
    title, inner = escape(outline.headline(diagnosis)), "\n".join(part for part in parts if part)
    return page.format(style=style, status=diagnosis.status, title=title, parts=inner)


def _section(title: str, tag: str, rows: list[str]) -> str:
    inner = "\n".join(rows)
    return f"<section>\n<h2>{escape(title)}</h2>\n<{tag}>\n{inner}\n</{tag}>\n</section>"


def _item(item: outline.Item) -> str:
    classes = {"evidence": item.evidence, "bare": not item.mark}
    classes |= {"wide": "%" in item.mark, "plain": not item.notes}
    names = " ".join(name for name, has in classes.items() if has)
    name = f' class="{names}"' if names else ""
    anchor = f' id="evidence-{item.evidence}"' if item.evidence else ""
    mark = f'<span class="mark">{escape(item.mark)}</span>' if item.mark else ""
    head = "".join(f"<span>{escape(part)}</span>" for part in item.head)
    notes = "".join(_note(note) for note in item.notes)
    return f'<li{name}{anchor}>{mark}<div><p class="head">{head}</p>{notes}</div></li>'


def _note(note: outline.Note) -> str:
    if note.kind == "quote":
        return f"<blockquote>{escape(note.text)}</blockquote>"
    label = f"<b>{escape(note.label)}:</b> " if note.label else ""
    return f"<p>{label}{escape(note.text)}</p>"


def _figure(diagnosis: LogDiagnosis) -> str:
    """The curves in the colours of the page, or why there are none where there is what to draw."""
    if not diagnosis.log.present:
        return ""
    try:
        drawn = svg_of(diagnosis)
    except BadInputError as error:
        why = f"No curves: {error.field} {error.problem} {error.remedy}"
        return f"<p>{escape(why)}</p>"
    drawn = drawn.replace("<svg ", '<svg role="img" aria-label="Curves of the log" ', 1)
    for name, colour in COLOURS.items():
        drawn = drawn.replace(colour, f"var(--{name})")
    return f"<figure>\n{drawn}<figcaption>{CAPTION}</figcaption>\n</figure>"


def _categories(diagnosis: LogDiagnosis) -> str:
    """How probable each category is, unless the run is healthy."""
    if diagnosis.status == "healthy" or not diagnosis.categories:
        return ""
    rows = [
        f'<tr><td class="share">{outline.percent(share)}</td>'
        f"<td>{escape(outline.CATEGORY_WORDS[name])}</td></tr>"
        for name, share in sorted(diagnosis.categories.items(), key=lambda each: -each[1])
    ]
    return _section("Where the cause may lie", "table", rows)
