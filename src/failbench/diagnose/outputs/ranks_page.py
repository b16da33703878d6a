"""Ranks page: which rank departed, when and by what, as lines of text and as a record."""

from collections.abc import Iterator
from typing import Any

from failbench.diagnose.outputs.outline import CATEGORY_WORDS
from failbench.diagnose.rank_departures import Departure
from failbench.diagnose.ranks import RanksDiagnosis, rank_signs, statement


def headline(answer: RanksDiagnosis) -> str:
    """The answer in one line."""
    count = len(answer.ranks)
    if answer.status == "none":
        return f"No rank departs: {count} ranks keep together as those of healthy runs do"
    what = "not clear" if answer.category is None else CATEGORY_WORDS[answer.category]
    if answer.rank is None:
        return f"All {count} ranks share it: {what}"
    at = "" if answer.step is None else f" at step {answer.step}"
    return f"Rank {answer.rank} of {count} departed first{at}: {what}"


def lines_of_ranks(answer: RanksDiagnosis) -> Iterator[str]:
    """The answer, its evidence, how the category follows and what to change, as lines of text."""
    yield headline(answer)
    if answer.status == "none":
        return
    yield from (f"  {evidence_line(each)}" for each in answer.evidence)
    yield f"  Category: {answer.follows}"
    if answer.is_by_convention:
        yield (
            "  Which rank it is depends on a convention: values differ without showing which "
            "departed. The weights of rank 0 are those that the others are given."
        )
    if answer.cause is not None and answer.advice is not None:
        yield f"  Likely: {answer.cause.title}. {answer.advice.remedies[0].change}"


def evidence_line(each: Departure) -> str:
    """A departure with its step, what it shows, and its numbers."""
    whose = "all ranks" if each.rank is None else f"rank {each.rank}"
    said = f" {each.said}" if each.said else ""
    return f"Step {each.step}, {whose}: {rank_signs()[each.sign].statement} {statement(each)}{said}"


def record_of(answer: RanksDiagnosis) -> dict[str, Any]:
    """The answer for programs."""
    return {
        "format": 1,
        "status": answer.status,
        "ranks": answer.ranks,
        "rank": answer.rank,
        "step": answer.step,
        "category": answer.category,
        "cause": None if answer.cause is None else answer.cause.id,
        "fix": None if answer.advice is None else answer.advice.remedies[0].change,
        "follows": answer.follows,
        "is_by_convention": answer.is_by_convention,
        "summary": f"{headline(answer)}.",
        "evidence": [vars(each) for each in answer.evidence],
    }
