"""Page: what a preflight says, for people and for programs."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any, Final

from failbench.causes.catalogue import causes
from failbench.preflight.findings import Finding, Report, Severity
from failbench.preflight.memory import readable

HEADS: Final[dict[Severity, str]] = {
    "crash": "WILL CRASH",
    "failure": "CANNOT WORK",
    "warning": "LOOK AT THIS",
    "note": "NOTE",
}

WIDTH: Final = 96


def page(report: Report) -> str:
    """What a preflight says, in plain text."""
    lines = [_headline(report)]
    for each in report.findings:
        lines += ["", *_lines(each)]
    if report.memory is not None:
        lines += ["", *_memory_lines(report)]
    return "\n".join(lines)


def document(report: Report) -> dict[str, Any]:
    """What a preflight says as JSON-able values."""
    memory = report.memory
    return {
        "will_crash": report.crash is not None,
        "will_fail": report.fails,
        "findings": [
            {
                "id": each.id,
                "severity": each.severity,
                "category": each.category,
                "cause": each.cause,
                "where": each.where,
                "what": each.what,
                "why": each.why,
                "change": each.change,
                "error": each.error,
            }
            for each in report.findings
        ],
        "memory": None if memory is None else {**asdict(memory), "peak": memory.peak},
        "capacity_bytes": report.capacity_bytes,
        "seconds": round(report.seconds, 3),
    }


def _headline(report: Report) -> str:
    if report.crash is not None:
        return "The first step will crash."
    if report.fails:
        return "The first step will run, and the training cannot work."
    if any(each.severity == "warning" for each in report.findings):
        return "Nothing will crash in the first step. Something should be looked at."
    if any(each.id == "not_followed" for each in report.findings):
        return "Nothing was found; the step could not be followed to its end."
    return "Nothing stands out in the first step."


def _lines(each: Finding) -> list[str]:
    place = f" in {each.where}" if each.where else ""
    cause = "" if each.cause is None else f"  [{each.category}: {causes()[each.cause].title}]"
    return [
        f"{HEADS[each.severity]}{place}{cause}",
        *_filled(each.what),
        *_filled(f"Why: {each.why}"),
        *_filled(f"Change: {each.change}"),
    ]


def _memory_lines(report: Report) -> list[str]:
    memory = report.memory
    assert memory is not None
    parts = {
        "weights and buffers": memory.parameters + memory.buffers,
        "gradients": memory.gradients,
        "optimizer": memory.optimizer,
        "kept for the backward pass": memory.activations,
        "batch": memory.batch,
    }
    told = ", ".join(f"{name} {readable(count)}" for name, count in parts.items())
    capacity = report.capacity_bytes
    limit = "" if capacity is None else f" of {readable(capacity)}"
    return [f"Memory of a step: {readable(memory.peak)}{limit}", *_filled(told)]


def _filled(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent="  ", subsequent_indent="  ")
