"""Document: what lenses say as JSON, for programs; what is not defined is null."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from failbench.neighbours.lenses.looking import Difference, Look, differences
from failbench.neighbours.lenses.measured import Measure
from failbench.neighbours.lenses.said import Said

FORMAT: Final = 1
"""Of the document; it grows when a field is removed or changes its meaning."""


def json_of(said: Sequence[Said], lens: str) -> str:
    """The document as JSON that any parser takes: ASCII, and finite numbers alone."""
    document = {"format": FORMAT, "lens": lens, "slices": [_slice(each) for each in said]}
    return json.dumps(document, indent=2, allow_nan=False)


def _slice(each: Said) -> dict[str, Any]:
    part = each.part
    record: dict[str, Any] = {
        "model": part.model,
        "condition": part.condition,
        "seed": part.seed,
        "tokenizer": part.tokenizer,
        "task": part.task,
        "answers": part.rows.height,
        "looks": {lens: _look(look) for lens, look in each.looks.items()},
    }
    if each.joined is not None:
        record["synthesis"] = {
            name: getattr(each.joined.synthesis, name)
            for name in ("id", "hypothesis", "action", "place")
        }
    if each.against is not None:
        reference = next(iter(each.against.values())).part
        record["against"] = {
            "model": reference.model,
            "verdicts": {lens: look.verdict for lens, look in each.against.items()},
            "differences": {
                lens: {
                    name: _bounds(difference)
                    for name, difference in differences(look, each.against[lens]).items()
                }
                for lens, look in each.looks.items()
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
            name: {
                "title": measure.kind.title,
                "unit": measure.kind.unit,
                "n": measure.n,
                **_bounds(measure),
            }
            for name, measure in look.measures.items()
        },
        "points": [
            {name: _finite(value) for name, value in row.items()}
            for row in look.points.iter_rows(named=True)
        ],
    }


def _bounds(of: Measure | Difference) -> dict[str, float | None]:
    return {name: _finite(getattr(of, name)) for name in ("value", "ci_low", "ci_high")}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
