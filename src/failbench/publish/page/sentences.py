"""Sentences: evidence in words, one condition or one broken invariant at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from failbench.base.verdicts import Evidence
from failbench.monitor.records.versions import Rules
from failbench.study.cells import words

NOTHING_BROKE = "Nothing that must hold was seen to break."


def number(value: float) -> str:
    """A number in words, with four significant digits.

    >>> number(4.5101), number(245787008.0), number(float("nan")), number(float("-inf"))
    ('4.51', '2.458e8', 'not a number', 'infinite')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    text = f"{value:.4g}"
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if power else text


def evidence_sentence(evidence: Evidence) -> str:
    """What a method saw, and what it held it against.

    >>> evidence_sentence(Evidence("max_loss", 8.317, "above", 6.514))
    'Max loss is 8.317, above 6.514.'
    >>> evidence_sentence(Evidence("perplexity", float("nan"), "above", 3.0))
    'Perplexity is missing.'
    >>> evidence_sentence(Evidence("error_text", "size mismatch", "matches", "size mismatch"))
    'The error text has “size mismatch”.'
    >>> evidence_sentence(Evidence("error_text", "", "matches", "size mismatch"))
    'The error text has nothing that matches /size mismatch/.'
    """
    if isinstance(evidence.value, str):
        if evidence.value:
            return f"The error text has “{evidence.value}”."
        return f"The error text has nothing that matches /{evidence.threshold}/."
    name = words(evidence.signal)
    name = name[0].upper() + name[1:]
    if math.isnan(evidence.value):
        return f"{name} is missing."
    limit = evidence.threshold
    held = limit if isinstance(limit, str) else number(limit)
    return f"{name} is {number(evidence.value)}, {evidence.relation} {held}."


def decided_sentence(
    decided: Mapping[str, object], end: Mapping[str, object], broken: pl.DataFrame, rules: Rules
) -> str:
    """What decided the answer of the monitor."""
    if decided["decided_by"] is None:
        return NOTHING_BROKE
    if decided["decided_kind"] == "ending":
        ending = next(each for each in rules.endings if each.id == decided["decided_by"])
        error = f" {end['error']}: {end['message']}" if end["error"] else ""
        return f"At step {end['end_step']}, phase {end['end_phase']}: {ending.statement}{error}"
    row = broken.filter(pl.col("invariant") == decided["decided_by"]).row(0, named=True)
    return _broken(row, rules)


def broken_sentences(
    broken: pl.DataFrame, decided_by: object, rules: Rules
) -> list[dict[str, object]]:
    """What broke, in its order: the step, the statement that no longer held, and what was seen."""
    known = {invariant.id: invariant for invariant in rules.invariants}
    return [
        {
            "step": row["step"],
            "statement": known[row["invariant"]].statement,
            "seen": f"{words(known[row['invariant']].signal)} is {number(row['value'])}",
            "kind": known[row["invariant"]].kind,
            "component": known[row["invariant"]].component,
            "decided": row["invariant"] == decided_by,
        }
        for row in broken.iter_rows(named=True)
    ]


def _broken(row: Mapping[str, object], rules: Rules) -> str:
    invariant = next(each for each in rules.invariants if each.id == row["invariant"])
    value = row["value"]
    assert isinstance(value, float)
    return (
        f"At step {row['step']}, {words(invariant.signal)} is {number(value)}. What must hold: "
        f"{invariant.statement}"
    )
