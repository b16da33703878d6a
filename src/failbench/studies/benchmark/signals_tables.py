"""Tables of what methods read: features, keywords of error text, and invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from failbench.features.catalogue import KEYWORD_FEATURES, PAPER_FEATURES
from failbench.features.feature import CEILING, Feature
from failbench.features.keywords import KEYWORDS, Keyword
from failbench.monitor.invariants import CATALOGUE, Against, Bound, Invariant, Kind
from failbench.reporting.cells import words
from failbench.reporting.table import Column, Table

FEATURES_NOTE: Final = (
    "Measured from the first step of a run to its failure. A loss, norm or validation loss that is "
    "no finite number, or is above {ceiling:,.0f}, counts as {ceiling:,.0f}; what was never logged "
    "is missing. None of them reads a scenario, a category, an onset or a twin."
)
KEYWORDS_NOTE: Final = (
    "Each is 1 where the regular expression, without regard to case, matches type and message of "
    "the error. The list was written from the documentation of libraries before any method was "
    "scored."
)
INVARIANTS_NOTE: Final = (
    "A break speaks for the category whose invariant broke first. Logic never breaks in healthy "
    "training; a statistic seldom does; a symptom follows from nearly any cause and speaks only "
    "where nothing else did. Fitted bounds come from healthy runs of the same setting alone, "
    "logical ones are written down. Start, past, peak: the logarithm of the ratio to the median of "
    "the first measurements, to that of the last ones, to the largest. The catalogue is that of "
    "the last version of the monitor, which was made with the scenarios in view."
)
FAMILIES_NOTE: Final = (
    "Bound by logic: a number that is written down; by healthy runs: fitted to them. The families "
    "are what the study of the monitor leaves out one at a time."
)

KIND_ORDER: Final[tuple[Kind, ...]] = ("logic", "statistic", "symptom")

AGAINST_WORDS: Final[dict[Against, str]] = {
    "value": "itself",
    "first": "the first one",
    "start": "the start",
    "past": "its past",
    "peak": "its peak",
    "growth": "the most before",
}


@dataclass(frozen=True)
class Family:
    """The invariants of a family, which look at the same thing."""

    name: str
    invariants: tuple[Invariant, ...]


def families() -> tuple[Family, ...]:
    """The families in the order in which the catalogue first names them."""
    names = dict.fromkeys(invariant.family for invariant in CATALOGUE)
    return tuple(
        Family(name, tuple(each for each in CATALOGUE if each.family == name)) for name in names
    )


def signals_tables() -> tuple[Table, ...]:
    """Features, keywords, invariants and their families."""
    return (_features(), _keywords(), _families(), _invariants())


def _features() -> Table:
    return Table.of(
        "features",
        (
            Column("Feature", align="left", width=0.22, cell=_feature_name),
            Column("Group", align="left", width=0.14, cell=lambda each: words(each.group)),
            Column("Unit", align="left", width=0.16, cell=lambda each: each.unit),
            Column("Definition", align="left", width=0.34, cell=lambda each: each.formula),
            Column("Asked for by", align="left", width=0.14, cell=lambda each: each.source),
        ),
        PAPER_FEATURES,
        f"The {len(PAPER_FEATURES)} features of a run.",
        (FEATURES_NOTE.format(ceiling=CEILING),),
    )


def _feature_name(feature: Feature) -> str:
    return words(feature.name)


def _keywords() -> Table:
    def name(keyword: Keyword) -> str:
        return words(keyword.name)

    return Table.of(
        "keywords",
        (
            Column("Keyword", align="left", width=0.2, cell=name),
            Column("Matches", align="left", width=0.4, cell=lambda each: each.pattern),
            Column("Source of the wording", align="left", width=0.4, cell=lambda each: each.source),
        ),
        KEYWORDS,
        f"The {len(KEYWORD_FEATURES)} keywords of error text, features of their own in the set "
        "19 + keywords.",
        (KEYWORDS_NOTE,),
    )


def bound_words(invariant: Invariant) -> str:
    """What a compared value must be, as the table says it."""
    if invariant.bound is None:
        return f"{invariant.relation}: fitted"
    return _relation_words(invariant, invariant.bound)


def _relation_words(invariant: Invariant, bound: Bound) -> str:
    match invariant.relation:
        case "at most" | "within":
            return f"{invariant.relation} {bound.high:g}"
        case "at least":
            return f"at least {bound.low:g}"
        case "between":
            return f"between {bound.low:g} and {bound.high:g}"


def _invariants() -> Table:
    in_order = [invariant for family in families() for invariant in family.invariants]
    return Table.of(
        "invariants",
        (
            Column("Family", align="left", width=0.08, cell=lambda each: each.family),
            Column("Invariant", align="left", width=0.15, cell=lambda each: words(each.id)),
            Column("What must hold", align="left", width=0.22, cell=lambda each: each.statement),
            Column("Signal", align="left", width=0.12, cell=lambda each: words(each.signal)),
            Column(
                "Held against",
                align="left",
                width=0.08,
                cell=lambda each: AGAINST_WORDS[each.against],
            ),
            Column("Bound", align="left", width=0.11, cell=bound_words),
            Column("Kind", align="left", width=0.1, cell=lambda each: each.kind),
            Column("Speaks for", align="left", width=0.14, cell=lambda each: words(each.component)),
        ),
        in_order,
        f"The {len(CATALOGUE)} invariants of the monitor by family.",
        (INVARIANTS_NOTE,),
    )


def _families() -> Table:
    def counted(kind: Kind) -> Column:
        return Column(
            kind.capitalize(),
            "Kind",
            cell=lambda row: str(sum(each.kind == kind for each in row.invariants)),
        )

    def bounded(heading: str, *, fitted: bool) -> Column:
        return Column(
            heading,
            "Bound by",
            cell=lambda row: str(sum((each.bound is None) == fitted for each in row.invariants)),
        )

    return Table.of(
        "invariants_families",
        (
            Column("Family", align="left", width=0.14, cell=lambda row: row.name),
            Column("Invariants", cell=lambda row: str(len(row.invariants))),
            *(counted(kind) for kind in KIND_ORDER),
            bounded("logic", fitted=False),
            bounded("healthy runs", fitted=True),
            Column(
                "Breaks speak for",
                align="left",
                width=0.3,
                cell=lambda row: _components(row.invariants),
            ),
        ),
        families(),
        f"The {len(CATALOGUE)} invariants of the monitor, counted by family.",
        (INVARIANTS_NOTE, FAMILIES_NOTE),
    )


def _components(invariants: Sequence[Invariant]) -> str:
    counts = Counter(each.component for each in invariants)
    return ", ".join(
        f"{words(component)} ({count})"
        for component, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
