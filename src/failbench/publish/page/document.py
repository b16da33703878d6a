"""Document: template, styles, scripts and sections of data as one file that needs nothing else."""

import base64
import csv
import hashlib
import json
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from failbench.base.errors import BadInputError
from failbench.base.records import Record

_STYLES: Final = "base parts landing symptoms failures failure methods reported"
STYLES: Final = tuple(f"{name}.css" for name in _STYLES.split())
"""In the order in which they apply: later ones may build on what earlier ones declare."""

_NOUNS: Final = "core charts tables runs"
_VIEWS: Final = (
    "cards symptoms landing filters failures failure answers confusion risk methods reported"
)
SCRIPTS: Final = tuple(f"{name}.js" for name in f"{_NOUNS} {_VIEWS} boot".split())
"""In the order in which they run, inside one function: nouns, then views, then what starts them."""

TEMPLATE: Final = "page.html"


class Library(Record):
    """A library of others in ``assets/vendor``, minified as its authors publish it."""

    library: str
    version: str
    source: str
    licence: str
    sha256: str

    @property
    def script(self) -> str:
        """What is put into the page: the licence, which asks to go along, and the code."""
        licence, code = (_asset(f"vendor/{self.library}.{end}") for end in ("LICENSE", "min.js"))
        if (found := hashlib.sha256(code.encode("utf-8")).hexdigest()) != self.sha256:
            place = f"assets/vendor/{self.library}.min.js"
            raise BadInputError(place, "sha256", f"is {found}.", "Restore it with git.")
        return f"\n/* {self.library} {self.version}\n{licence}*/\n{code}\n"


def libraries() -> tuple[Library, ...]:
    """All libraries, in the order in which they run."""
    rows = csv.DictReader(_asset("vendor/libraries.csv").splitlines())
    return tuple(map(Library.model_validate, rows))


def page_of(sections: Mapping[str, object]) -> str:
    """The whole page: the same text for the same sections."""
    styles, bodies = ("\n".join(_asset(name).rstrip() for name in n) for n in (STYLES, SCRIPTS))
    # one function, which runs at once and leaves no name behind
    own = f'\n(() => {{\n"use strict";\n{bodies}\n}})();\n'
    scripts = [*(library.script for library in libraries()), own]
    parts = {
        "script-hashes": " ".join(f"'sha256-{script_hash(script)}'" for script in scripts),
        "style": styles,
        "sections": "\n".join(data_block(name, value) for name, value in sections.items()),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    page = _asset(TEMPLATE)
    for name, part in parts.items():
        before, place, after = page.partition(f"{{{{{name}}}}}")
        if not place:
            raise ValueError(f"{TEMPLATE} has no place for {name}.")
        page = before + part + after
    return page


def script_hash(script: str) -> str:
    """The hash of an inline script, as a policy of content names it."""
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def data_block(name: str, value: object) -> str:
    r"""A section of data, as text that cannot end its block: ``<`` is escaped as JSON allows.

    >>> data_block("a", {"error": "</script>"})
    '<script type="application/json" id="data-a">{"error":"\\u003c/script>"}</script>'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # "<" and not only "</": "<!--" followed by "<script" would swallow the end of the block too.
    safe = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="data-{name}">{safe}</script>'


def significant(value: float | None, digits: int = 4) -> float | int | None:
    """A number with so many significant digits; null where it is none or not finite.

    >>> significant(6.38917875), significant(123456.0), significant(float("inf"))
    (6.389, 123500, None)
    """
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _asset(name: str) -> str:
    return files("failbench.publish.page").joinpath("assets", name).read_text(encoding="utf-8")
