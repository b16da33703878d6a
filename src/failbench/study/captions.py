"""Captions: what people read of a study, as data with placeholders and conditions.

``paper/captions/<study>.yaml`` has an entry for each table (``caption`` and ``notes``) and figure
(``finding`` and ``description``), and maybe ``labels`` and ``columns``. In a text

============  ================================================  =====================
``{name}``    a number or word that the study names             ``76``
``{path}``    an estimate of the study, with its interval        ``27.9 [19.6, 36.4]``
``|form``     either in one of :data:`~.cells.FORMS`             ``{confidence|share}``
============  ================================================  =====================

where a path is the keys of an estimate with dots between them; ``.value``, ``.ci_low``,
``.ci_high`` or ``.n`` behind it is that number alone. A text may be a list of parts, and a part a
mapping: ``text`` with ``when`` or ``unless``, names that decide whether the part is there, or with
``holds``, comparisons (``path < number`` or ``path < path``) without which it is refused as false.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from matplotlib.figure import Figure

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.study.cells import FORMS, estimate_text, written
from failbench.study.picture import Picture
from failbench.study.style import FULL_WIDTH

RESTORE: Final = "Restore it with git."
CAPTIONS: Final = Path("paper/captions")
PLACEHOLDER: Final = re.compile(r"\{(?P<path>[^{}|]+)(?:\|(?P<form>\w+))?\}")
CONDITION: Final = re.compile(r"^(?P<left>.+?) (?P<sign><=|>=|<|>) (?P<right>.+)$")
COMPARED: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
VALUES: Final = ("value", "difference")  # keys of the number itself in an estimate


class Captions:
    """Texts of a study with the numbers that they name filled in; ``place`` is their file."""

    def __init__(self, place: Path, texts: Mapping[str, Any], numbers: Mapping[str, Any]) -> None:
        self.place = place
        self._texts = texts
        self._numbers = numbers

    @classmethod
    def read(cls, study: str, *numbers: Mapping[str, Any] | Record) -> Captions:
        """Those of a study, with numbers, settings and nested estimates; later ones go before."""
        path = CAPTIONS / f"{study}.yaml"
        texts = read_yaml(path)
        if not isinstance(texts, dict) or not texts:
            raise BadInputError(path, "(file)", "has no entries.", RESTORE)
        for entry, content in texts.items():
            if not isinstance(content, dict):
                raise BadInputError(path, str(entry), "has no texts.", RESTORE)
        return cls(path, texts, {}).with_numbers(*numbers)

    def with_numbers(self, *numbers: Mapping[str, Any] | Record) -> Captions:
        """These with more numbers, where a study reads its captions before it computes for long."""
        named = dict(self._numbers)
        for part in numbers:
            named |= part.model_dump() if isinstance(part, Record) else part
        return Captions(self.place, self._texts, named)

    def caption(self, table: str) -> str:
        """The caption of a table."""
        return self.text(table, "caption")

    def labels(self, entry: str) -> dict[str, Any]:
        """What an entry calls things, by their names."""
        return dict(self._declared(entry, "labels", dict))

    def columns(self, entry: str) -> list[dict[str, Any]]:
        """The columns of a table as whoever makes them calls their parts; headings filled in."""
        field, columns = f"{entry}.columns", self._declared(entry, "columns", list)
        return [each | {"heading": self._filled(each["heading"], field)} for each in columns]

    def notes(self, table: str) -> tuple[str, ...]:
        """The notes of a table; those whose condition leaves nothing of them are left out."""
        notes = self._texts.get(table, {}).get("notes", [])
        filled = (self._filled(note, f"{table}.notes") for note in notes)
        return tuple(note for note in filled if note)

    def picture(
        self,
        figure: str,
        height: float,
        draw: Callable[[Figure], None],
        width: float = FULL_WIDTH,
    ) -> Picture:
        """A figure under its finding."""
        finding, description = (self.text(figure, key) for key in ("finding", "description"))
        return Picture(finding, description, width, height, draw)

    def text(self, entry: str, key: str) -> str:
        """A text of an entry, filled in."""
        text = self._texts.get(entry, {}).get(key)
        if text is None:
            raise self._refused(f"{entry}.{key}", "is missing.", "Write it.")
        return self._filled(text, f"{entry}.{key}")

    def unmet(self, conditions: Iterable[str], field: str) -> Iterator[str]:
        """Why conditions do not hold, of those that do not; errors name the field."""
        for condition in conditions:
            sides = CONDITION.match(condition)
            if sides is None:
                remedy = "Write `path < number`, or another path on the right."
                raise self._refused(field, f"{condition!r} is no comparison.", remedy)
            left, right = (self._number(sides[side], field) for side in ("left", "right"))
            if not COMPARED[sides["sign"]](left, right):
                yield f"{condition} is not so, with {left:g} on the left and {right:g} on the right"

    def estimates_in(self, text: str) -> Iterator[Mapping[str, Any]]:
        """The estimates that a text names, in its order; also where it names their values alone."""
        for placeholder in PLACEHOLDER.finditer(text):
            found = at_path(self._numbers, placeholder["path"].removesuffix(".value"))
            if _value(found) is not None:
                yield found

    def _declared(self, entry: str, key: str, kind: type) -> Any:
        declared = self._texts.get(entry, {}).get(key)
        if not isinstance(declared, kind):
            raise self._refused(f"{entry}.{key}", "are missing.", "Write them.")
        return declared

    def _filled(self, text: str | Mapping[str, Any] | list[Any], field: str) -> str:
        if isinstance(text, list):
            return _joined(self._filled(each, field) for each in text)
        if isinstance(text, Mapping):
            wanted, unwanted = (map(self._named, _names(text, key)) for key in ("when", "unless"))
            if not all(wanted) or any(unwanted):
                return ""
            for problem in self.unmet(_names(text, "holds"), field):
                raise self._refused(field, f"{problem}.", "Write what the metrics say.")
            return self._filled(text["text"], field)
        joined = " ".join(text.split())
        return PLACEHOLDER.sub(
            lambda match: self._written(match["path"], match["form"], field), joined
        )

    def _named(self, name: str) -> bool:
        return bool(at_path(self._numbers, name))

    def _written(self, path: str, form: str | None, field: str) -> str:
        found = at_path(self._numbers, path)
        if form is not None and form not in FORMS:
            remedy = f"Use one of {', '.join(FORMS)}, or none."
            raise self._refused(field, f"{form!r} is no form of a number.", remedy)
        if isinstance(found, str):
            return found
        if isinstance(found, int | float) and not isinstance(found, bool):
            is_count = isinstance(found, int) and form is None
            return str(found) if is_count else written(found, form or "percent")
        value = _value(found)
        if value is None:
            remedy = "Name a number of the study, or the path of one of its estimates."
            raise self._refused(field, f"{path!r} names no number.", remedy)
        return estimate_text({**found, "value": value}, form or "percent")

    def _number(self, side: str, field: str) -> float:
        try:
            return float(side)
        except ValueError:
            found = at_path(self._numbers, side)
            value = found if isinstance(found, int | float) else _value(found)
            if value is None:
                remedy = "Name an estimate of the study."
                raise self._refused(field, f"{side!r} names no number.", remedy) from None
            return float(value)

    def _refused(self, field: str, problem: str, remedy: str) -> BadInputError:
        return BadInputError(self.place, field, problem, remedy)


def read_yaml(path: Path) -> Any:
    """What a file of YAML that is kept by hand holds."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = f"cannot be read ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, RESTORE) from error


def _joined(parts: Iterable[str]) -> str:
    spaced = (part if part[0] in ",.;:)" else f" {part}" for part in parts if part)
    return "".join(spaced).strip()


def _names(part: Mapping[str, Any], key: str) -> list[str]:
    names = part.get(key, [])
    return names if isinstance(names, list) else [names]


def _value(found: object) -> float | None:
    if not isinstance(found, Mapping):
        return None
    return next((found[key] for key in VALUES if isinstance(found.get(key), int | float)), None)


def at_path(tree: object, path: str) -> Any:
    """What stands at a path of keys with dots between them, or None; keys may have dots too."""
    if not isinstance(tree, Mapping):
        return None
    if path in tree:
        return tree[path]
    for key in sorted(tree, key=len, reverse=True):
        if path.startswith(f"{key}."):
            found = at_path(tree[key], path[len(key) + 1 :])
            if found is not None:
                return found
    return None
