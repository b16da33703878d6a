"""Tables of verdicts and numbers: what the lenses say of each condition, and what they should."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import polars as pl

from failbench.lenses.catalogue import LENSES, Lens, measure_kinds
from failbench.reporting.cells import ABSENT, two_decimals, words
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.reasoning_lenses.results import Kept, Rate
from failbench.studies.reasoning_lenses.sample import PARTS, Shown, in_order, rate_cell

COURSE: Final[tuple[tuple[Lens, str], ...]] = (
    ("surface", "accuracy"),
    ("surface", "boundary_length"),
    ("surface", "boundary_depth"),
    ("surface", "relative_fall"),
    ("surface", "truncated"),
    ("hazard", "wrong_incidence"),
    ("hazard", "wrong_ahead"),
    ("hazard", "front_loading"),
)
BYTES: Final[tuple[tuple[Lens, str], ...]] = tuple(
    ("compression", name)
    for name in (
        "token_ratio",
        "unmatched_difference",
        "matched_difference",
        "unmatched_auc",
        "matched_auc",
        "repetition_failed",
        "loops_failed",
        "growth",
    )
)
"""Numbers that a table shows by condition."""

MEANS_NOTE: Final = (
    "Means over tasks and seeds, with the least and the greatest mean of a seed in parentheses. –: "
    "not defined, as there are too few right or failed answers."
)
BYTES_NOTE: Final = (
    "Differences and AUC unmatched include those of length; beside them stand those of answers "
    "with the same number of tokens. The AUC is 0.5 where bytes say nothing."
)
VERDICTS_NOTE: Final = (
    "Verdicts and joint hypotheses with the number of slices (a model on a task) that got them, by "
    "rules that were fixed before any trace was looked at."
)
RULES_NOTE: Final = (
    "Slices (a model on a task) with the expected verdict, of all of the condition, of healthy "
    "models, and of all other conditions. Rules with "
    "their thresholds, and what is expected, were written down before any trace was looked at; the "
    "rules stand in src/failbench/lenses/data/rules.json with their reasons. Intervals "
    "are Wilson's at {interval:g} % with n = models, as looks at one model are not independent."
)

_PART_LABELS: Final[dict[str, str]] = {
    **PARTS,
    **{lens: lens for lens in LENSES},
}


def verdicts_table(verdicts: pl.DataFrame, shown: Shown) -> Table:
    """The verdicts of each lens by condition."""

    def cell(condition: str, lens: str) -> str:
        given = verdicts.filter(condition=condition, lens=lens)
        counts = Counter(given["verdict"].to_list())
        return ", ".join(f"{words(name)} {count}" for name, count in _by_count(counts))

    def hypotheses(condition: str) -> str:
        of_slices = verdicts.filter(condition=condition, lens=LENSES[0])["synthesis"]
        counts = Counter(of_slices.to_list())
        return ", ".join(f"{words(name)} {count}" for name, count in _by_count(counts))

    return Table.of(
        "reasoning_lenses_verdicts",
        (
            Column("Condition", align="left", width=0.13, cell=words),
            *(
                Column(
                    lens,
                    align="left",
                    width=0.17,
                    cell=partial(cell, lens=lens),
                )
                for lens in LENSES
            ),
            Column("Together", align="left", width=0.19, cell=hypotheses),
        ),
        in_order(shown),
        "What each lens says of the models of each condition, and all four together.",
        (
            shown.note,
            VERDICTS_NOTE,
        ),
    )


def rules_table(results: Sequence[Kept], rates: Mapping[str, Rate], shown: Shown) -> Table:
    """Whether verdicts are those that were expected."""
    telling = [each for each in results if each.expected.telling]
    silent = [each for each in results if not each.expected.telling]

    def share(count: int, n: int) -> str:
        return f"{count} of {n}" if n else ABSENT

    note = RULES_NOTE.format(interval=100 * shown.confidence)
    totals = "; ".join(f"{_PART_LABELS[name]} {rate_cell(rate)} %" for name, rate in rates.items())
    return Table.of(
        "reasoning_lenses_rules",
        (
            Column(
                "Condition", align="left", width=0.13, cell=lambda row: words(_of(row, "condition"))
            ),
            Column("Lens", align="left", width=0.1, cell=lambda row: _of(row, "lens")),
            Column(
                "Expected",
                align="left",
                width=0.14,
                cell=lambda row: " or ".join(map(words, row.expected.verdicts)),
            ),
            Column("Given", width=0.08, cell=lambda row: share(row.given, row.n)),
            Column("Healthy", width=0.08, cell=lambda row: share(row.healthy, row.n_healthy)),
            Column("Others", width=0.09, cell=lambda row: share(row.others, row.n_others)),
            Column("Most often", align="left", width=0.12, cell=lambda row: words(row.usual)),
            Column("Why expected", align="left", width=0.26, cell=lambda row: row.expected.why),
        ),
        [
            *telling,
            Divider("Not expected to see it"),
            *silent,
        ],
        f"Verdicts by fixed rules, beside what was expected. As expected: {totals}.",
        (shown.note, note),
    )


def _of(row: Kept, name: str) -> str:
    return str(getattr(row.expected, name))


def number_tables(numbers: pl.DataFrame, shown: Shown) -> tuple[Table, Table]:
    """Numbers of the lenses by condition: of the course of answers, and of their bytes."""
    means = (
        numbers.group_by("condition", "lens", "measure", "seed")
        .agg(pl.col("value").mean())
        .group_by("condition", "lens", "measure")
        .agg(
            pl.col("value").mean(),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
        )
    )
    known = {row[:3]: row[3:] for row in means.iter_rows()}

    def cell(condition: str, lens: Lens, name: str) -> str:
        value, low, high = known[condition, lens, name]
        if value is None:
            return ABSENT
        return f"{two_decimals(value)} ({two_decimals(low)} to {two_decimals(high)})"

    def table(name: str, shown_numbers: tuple[tuple[Lens, str], ...], of: str, note: str) -> Table:
        return Table.of(
            name,
            (
                Column("Condition", align="left", width=0.14, cell=words),
                *(
                    Column(
                        measure_kinds()[lens][measure].title,
                        lens,
                        width=0.86 / len(shown_numbers),
                        cell=partial(cell, lens=lens, name=measure),
                    )
                    for lens, measure in shown_numbers
                ),
            ),
            in_order(shown),
            f"Numbers of {of} by condition.",
            (shown.note, note),
        )

    return (
        table("reasoning_lenses_course", COURSE, "where and when answers go wrong", MEANS_NOTE),
        table("reasoning_lenses_bytes", BYTES, "compression", f"{MEANS_NOTE} {BYTES_NOTE}"),
    )


def _by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
