"""The section of reported numbers: the original's beside ours, and against its own figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.publish.page.counterparts import TABLE, Counterpart, Metrics, counterparts, looked_up
from failbench.study.labels import ARCHITECTURE_LABELS, CATEGORY_LABELS, METHOD_LABELS
from failbench.study.paper_numbers import Reported

PAPER: Final = "data/reported/paper.yaml"
AUDIT: Final = "data/plots/paper_audit.csv"

AUDIT_SCHEMA: Final = pl.Schema(
    dict.fromkeys(
        ("claim", "place", "against", "quantity", "printed", "kind", "computed", "verdict", "note"),
        pl.String(),
    )
)
"""Columns of the audit's points, keyed by the first."""

NOT_AUDITED: Final = "not audited"

VERDICTS: Final = {
    "inconsistent": "not consistent with its own figures",
    "consistent": "consistent with its own figures",
    "cannot be checked": "cannot be checked",
    NOT_AUDITED: "not tested",
}
"""Labels; a row has the first of these that a claim on it has."""

_UNITS: Final = {
    "parameters": "count",
    "quality": "number",
    "interpretability": "number",
}
"""Units of columns of tables; all others are fractions."""

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


def reported_section(paper: Reported, metrics: Metrics, audit: pl.DataFrame) -> dict[str, object]:
    """Every number that the original prints, and what is known of it here."""
    declared = counterparts()
    claims = {row["claim"]: row for row in audit.to_dicts()}
    numbers = {number["path"]: number for number in paper_numbers(paper)}
    _refuse_others(set(numbers), set(declared))
    rows = [_row(number, declared[str(path)], metrics, claims) for path, number in numbers.items()]
    tested = {name for part in declared.values() for name in part.audit}
    rows += [_statement(claim) for name, claim in claims.items() if name not in tested]
    return {
        "rows": rows,
        "verdicts": VERDICTS,
        "counts": {
            "rows": len(rows),
            "numbers": len(numbers),
            "claims": len(claims),
            "verdicts": dict(Counter(str(claim["verdict"]) for claim in claims.values())),
        },
    }


def paper_numbers(paper: Reported) -> Iterator[dict[str, object]]:
    """Every number or series of numbers of the original."""
    stated_there = paper.model_dump(mode="json", exclude_unset=True)
    for kind in ("tables", "figures"):
        for name, table in _mapping(stated_there[kind]).items():
            of_table = _mapping(table)
            place = str(of_table["place"])
            for row, cells in _mapping(of_table["rows"]).items():
                yield from _cells(f"{kind}.{name}.rows.{row}", place, name, row, cells)
    for name, claim in _mapping(stated_there["claims"]).items():
        stated = _mapping(claim)
        yield {
            "path": f"claims.{name}",
            "place": str(stated["place"]),
            "quantity": str(stated["quantity"]),
            "unit": str(stated["unit"]),
            "printed": _listed(stated["value"]),
        }


def _cells(
    path: str, place: str, table: str, row: str, cells: object
) -> Iterator[dict[str, object]]:
    if isinstance(cells, list):
        yield {
            "path": path,
            "place": place,
            "quantity": f"{_label(row)}: answers by category, the last with abstentions",
            "unit": "count",
            "printed": _listed(cells),
        }
        return
    of_row = _mapping(cells)
    label = str(of_row.get("label", _label(row)))
    for name, value in of_row.items():
        if isinstance(value, Mapping):
            for part, share in value.items():
                yield {
                    "path": f"{path}.{name}.{part}",
                    "place": place,
                    "quantity": f"{label}: share of {_words(part)}",
                    "unit": "fraction",
                    "printed": _listed(share),
                }
        elif not isinstance(value, str):
            quantity = _QUANTITIES.get(name, _words(name))
            if table == "per_category" and name == "interval":
                quantity = "95 % interval of F1"
            yield {
                "path": f"{path}.{name}",
                "place": place,
                "quantity": f"{label}: {quantity}",
                "unit": "points" if name == "drop" else _UNITS.get(name, "fraction"),
                "printed": _listed(value),
            }


def sections_of(place: str) -> list[str]:
    """The sections, tables and figures that a place names, one by one.

    >>> sections_of("Abstract; sections 1, 6.1 and 10; figure 2")
    ['Abstract', 'Section 1', 'Section 6.1', 'Section 10', 'Figure 2']
    """
    named = []
    kind = ""
    for word in re.findall(r"[A-Za-z]+|\d+(?:\.\d+)*", place):
        lower = word.lower().rstrip("s")
        if lower == "abstract":
            named.append("Abstract")
        elif lower in ("section", "table", "figure", "equation"):
            kind = lower.capitalize()
        elif word[0].isdigit() and kind:
            named.append(f"{kind} {word}")
    return named


def _row(
    number: Mapping[str, object],
    counterpart: Counterpart,
    metrics: Metrics,
    claims: Mapping[str, Mapping[str, object]],
) -> dict[str, object]:
    unknown = [name for name in counterpart.audit if name not in claims]
    if unknown:
        raise BadInputError(
            TABLE,
            counterpart.path,
            f"names {unknown[0]!r}, which the audit has not.",
            "Name claims of data/reported/claims.yaml.",
        )
    audited = [_audited(claims[name]) for name in counterpart.audit]
    return {
        **number,
        "sections": sections_of(str(number["place"])),
        "ours": [
            {"where": str(place), **looked_up(place, metrics, counterpart.path)}
            for place in counterpart.ours
        ],
        "audit": audited,
        "verdict": _worst([str(claim["verdict"]) for claim in audited]),
        "note": counterpart.note,
    }


def _statement(claim: Mapping[str, object]) -> dict[str, object]:
    """A claim that is tested although the original prints no number of it."""
    return {
        "path": f"audit.{claim['claim']}",
        "place": claim["place"],
        "quantity": claim["quantity"],
        "unit": "statement",
        "printed": [],
        "sections": sections_of(str(claim["place"])),
        "ours": [],
        "audit": [_audited(claim)],
        "verdict": claim["verdict"],
        "note": "a statement, or a relation between several numbers",
    }


def _audited(claim: Mapping[str, object]) -> dict[str, object]:
    return {
        key: claim[key] or ""
        for key in ("claim", "verdict", "quantity", "printed", "computed", "note")
    }


def _worst(verdicts: list[str]) -> str:
    return min(verdicts, key=list(VERDICTS).index, default=NOT_AUDITED)


def _refuse_others(numbers: set[object], declared: set[str]) -> None:
    for path in sorted(str(path) for path in numbers - declared):
        raise BadInputError(
            TABLE, path, f"has no row, although {PAPER} has the number.", "Add a row."
        )
    for path in sorted(declared - numbers):
        raise BadInputError(TABLE, path, f"is no number of {PAPER}.", "Take the row out.")


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise BadInputError(PAPER, "(structure)", f"{value!r} is no mapping.", "Restore the file.")
    return value


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value]


def _words(name: str) -> str:
    return name.replace("_", " ")


def _label(name: str) -> str:
    tables: tuple[Mapping[Any, str], ...] = (METHOD_LABELS, CATEGORY_LABELS, ARCHITECTURE_LABELS)
    return next((labels[name] for labels in tables if name in labels), _words(name))
