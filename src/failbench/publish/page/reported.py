"""Numbers of the original beside ours; and, apart from these, the original against itself."""

# ``data/counterparts.csv`` has a row for every number of ``data/reported/paper.yaml``: the place of
# ours, ``intervals:19/ebm/accuracy``, and a note, the reason if ours is none.

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import polars as pl
from pydantic import BeforeValidator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows
from failbench.study.cells import words
from failbench.study.labels import ARCHITECTURE_LABELS, CATEGORY_LABELS, METHOD_LABELS
from failbench.study.paper_numbers import Reported

TABLE: Final = "src/failbench/publish/page/data/counterparts.csv"
PAPER: Final = "data/reported/paper.yaml"

_AUDITED = "claim place against quantity printed kind computed verdict note"
AUDIT_SCHEMA: Final = pl.Schema(dict.fromkeys(_AUDITED.split(), pl.String))
"""Columns of the audit's points, keyed by the first."""

VERDICTS: Final = {
    "inconsistent": "not consistent with its own figures",
    "consistent": "consistent with its own figures",
    "cannot be checked": "cannot be checked",
}

_UNITS: Final = {  # units of columns of tables; all others are fractions
    "parameters": "count",
    "drop": "points",
    **dict.fromkeys(("quality", "interpretability"), "number"),
}

_QUANTITIES: Final = {
    "interval": "95 % interval of accuracy",
    "standard_deviation": "standard deviation of accuracy",
    "abstention": "abstention rate",
    "quality": "rating of explanations from 1 to 5",
    "f1": "F1",
    "drop": "accuracy against the full framework",
    "share": "share of importance",
    "share_below": "share of importance (below)",
    "interpretability": "interpretability from 0 to 100",
}


Metrics = Mapping[str, Mapping[str, object]]  # by file of ``data/metrics``, without suffix

Row = dict[str, Any]


Words = Annotated[tuple[str, ...], BeforeValidator(str.split)]


class Counterpart(Record):
    """What stands beside one number of the original."""

    path: str
    ours: Words
    note: str


def counterparts() -> dict[str, Counterpart]:
    """The declared counterparts by path."""
    rows = packaged_rows("failbench.publish.page", "counterparts.csv", Counterpart)
    return {row.path: row for row in rows}


def looked_up(reference: str, metrics: Metrics, wanted: str) -> dict[str, float]:
    """The estimate or number at a place: ``value``, and ``ci_low``, ``ci_high``, ``n`` if known."""
    study, _, place = reference.partition(":")
    found: object = metrics.get(study)
    for key in place.split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping) and isinstance(found.get("value"), int | float):
        kept = ("value", "ci_low", "ci_high", "n")
        return {key: float(found[key]) for key in kept if key in found}
    if isinstance(found, int | float) and not isinstance(found, bool):
        return {"value": float(found)}
    problem = f"has no number, which {wanted}."
    remedy = "Run `dvc repro` for the stage that writes it, or correct what asks for it."
    raise BadInputError(f"data/metrics/{study}.json", place, problem, remedy)


def reported_section(paper: Reported, metrics: Metrics) -> list[Row]:
    """Every number that the original prints, and ours of the same quantity."""
    declared = counterparts()
    numbers = {number["path"]: number for number in paper_numbers(paper)}
    for path in sorted(numbers.keys() - declared.keys()):
        problem = f"has no row, although {PAPER} has the number."
        raise BadInputError(TABLE, path, problem, "Add a row.")
    for path in sorted(declared.keys() - numbers.keys()):
        raise BadInputError(TABLE, path, f"is no number of {PAPER}.", "Take the row out.")
    return [
        {
            **number,
            "ours": [
                {"where": place, **looked_up(place, metrics, f"{TABLE} sets beside {path}")}
                for place in declared[path].ours
            ],
            "note": declared[path].note,
        }
        for path, number in numbers.items()
    ]


def audit_section(audit: pl.DataFrame) -> Row:
    """Every claim of the original that was tested by its own figures."""
    keys = ("claim", "place", "quantity", "printed", "computed", "verdict", "note")
    rows = [{key: claim[key] or "" for key in keys} for claim in audit.to_dicts()]
    return {
        "rows": [{**row, "sections": sections_of(row["place"])} for row in rows],
        "verdicts": VERDICTS,
    }


def paper_numbers(paper: Reported) -> Iterator[Row]:
    """Every number or series of numbers of the original."""
    stated = paper.model_dump(mode="json", exclude_unset=True)
    for kind in ("tables", "figures"):
        for name, table in stated[kind].items():
            for row, cells in table["rows"].items():
                yield from _cells(f"{kind}.{name}.rows.{row}", table["place"], name, row, cells)
    for name, claim in stated["claims"].items():
        place, quantity, unit = claim["place"], claim["quantity"], claim["unit"]
        yield _number(f"claims.{name}", place, quantity, unit, claim["value"])


def _cells(path: str, place: str, table: str, row: str, cells: Any) -> Iterator[Row]:
    if isinstance(cells, list):
        quantity = f"{_label(row)}: answers by category, the last with abstentions"
        yield _number(path, place, quantity, "count", cells)
        return
    label = cells.get("label", _label(row))
    for name, value in cells.items():
        if isinstance(value, Mapping):
            for part, share in value.items():
                quantity = f"{label}: share of {words(part)}"
                yield _number(f"{path}.{name}.{part}", place, quantity, "fraction", share)
        elif not isinstance(value, str):
            quantity = _QUANTITIES.get(name, words(name))
            if table == "per_category" and name == "interval":
                quantity = "95 % interval of F1"
            unit = _UNITS.get(name, "fraction")
            yield _number(f"{path}.{name}", place, f"{label}: {quantity}", unit, value)


def _number(path: str, place: str, quantity: str, unit: str, value: object) -> Row:
    return {
        "path": path,
        "place": place,
        "sections": sections_of(place),
        "quantity": quantity,
        "unit": unit,
        "printed": list(value) if isinstance(value, list) else [value],
    }


def sections_of(place: str) -> list[str]:
    """The sections, tables and figures that a place names, one by one.

    >>> sections_of("Abstract; sections 1, 6.1 and 10; figure 2")
    ['Abstract', 'Section 1', 'Section 6.1', 'Section 10', 'Figure 2']
    """
    named, kind = [], ""
    for word in re.findall(r"[A-Za-z]+|\d+(?:\.\d+)*", place):
        noun = word.capitalize().rstrip("s")
        if noun == "Abstract":
            named.append(noun)
        elif noun in ("Section", "Table", "Figure", "Equation"):
            kind = noun
        elif word[0].isdigit() and kind:
            named.append(f"{kind} {word}")
    return named


def _label(name: str) -> str:
    tables: tuple[Mapping[Any, str], ...] = (METHOD_LABELS, CATEGORY_LABELS, ARCHITECTURE_LABELS)
    return next((labels[name] for labels in tables if name in labels), words(name))
