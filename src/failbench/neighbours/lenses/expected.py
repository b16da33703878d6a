"""Expected verdicts: what each lens should say of each condition, written before it was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import BeforeValidator, Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows
from failbench.neighbours.lenses.catalogue import Lens, rules

REMEDY = "Restore it with git, or correct it after the verdicts of lenses/data/rules.json."


def _split(text: object) -> object:
    return tuple(text.split()) if isinstance(text, str) else text


class Expected(Record):
    """A row of ``data/reasoning/expected_verdicts.csv``."""

    condition: str = Field(min_length=1)
    lens: Lens
    verdicts: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(min_length=1)
    telling: bool
    why: str = Field(min_length=10)


def read_expected(path: Path) -> tuple[Expected, ...]:
    """Read what is expected."""
    records = read_rows(path, Expected, REMEDY, ("condition", "lens"))
    if not records:
        raise BadInputError(path, "(rows)", "there are none.", REMEDY)
    for line, each in enumerate(records, start=2):
        known = {rule.verdict for rule in rules()[each.lens]}
        for verdict in each.verdicts:
            if verdict not in known:
                problem = f"{verdict!r} is no verdict of {each.lens}."
                raise BadInputError(f"{path}, line {line}", "verdicts", problem, REMEDY)
    return tuple(records)


def verdicts_given(
    verdicts: pl.DataFrame, expected: Iterable[Expected], healthy: str
) -> pl.DataFrame:
    """How often each expected verdict is given: of its condition, healthy, and other models.

    A row for what is expected, with ``given``, ``healthy`` and ``others`` beside the numbers of
    slices ``n_given``, ``n_healthy`` and ``n_others``, and the ``usual`` verdict of the condition.
    """
    rows = []
    for each in expected:
        of_lens = verdicts.filter(lens=each.lens)
        own = of_lens.filter(condition=each.condition)
        parts = {
            "given": own,
            "healthy": of_lens.filter(condition=healthy),
            "others": of_lens.filter(~pl.col("condition").is_in([each.condition, healthy])),
        }
        row = each.model_dump()
        for name, part in parts.items():
            given = part.filter(pl.col("verdict").is_in(each.verdicts))
            row |= {name: given.height, f"n_{name}": part.height}
        rows.append(row | {"usual": Counter(sorted(own["verdict"])).most_common(1)[0][0]})
    return pl.DataFrame(rows)
