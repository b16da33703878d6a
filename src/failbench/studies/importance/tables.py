"""Tables of importance: by group of signals and by feature, reported beside measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.methods.reduced_tree import ERROR_TEXT_SIGNAL
from failbench.reporting.captions import development_note
from failbench.reporting.cells import ABSENT, percent, signed, with_interval, words
from failbench.reporting.labels import GROUP_LABELS, METHOD_LABELS
from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.table import Column, Table
from failbench.studies.importance.measure import (
    KNOWN_SET,
    ON_KNOWN,
    TABLE_SIX,
    Kind,
    Source,
)
from failbench.studies.importance.removal import Removal
from failbench.studies.importance.results import ImportanceSettings, LeadingShare, SourceAgreement

BUILT_IN: Final = {
    "random_forest": ("Impurity", "Random forest"),
    "ebm": ("Terms", "EBM"),
}
"""The methods of the tables: the name of the built-in importance, and that of the method."""

REPORTED_GROUPS: Final = {ERROR_TEXT_SIGNAL: "error_keywords"}
"""Groups that the paper's Table 6 has under another name."""

ON_KNOWN_BUILT_IN: Final = {
    name: (built_in, METHOD_LABELS[name])
    for name, (built_in, _) in zip(ON_KNOWN, BUILT_IN.values(), strict=True)
}
"""The same of the classifiers on what the monitor knows."""

LEADING_FLAGS: Final = 20
"""Flags of the table of what the monitor knows, which has many more."""

SET_LABELS: Final = {TABLE_SIX: "19 + keywords + trend", PRIMARY_SET: "19"}
"""Feature sets in the order of the table."""

DONORS: Final[dict[Source, str]] = {
    "training_fold": "a run of the training fold",
    "test_fold": "another run of the test fold",
}
"""Whose values replace those of a tested run, by source."""

NOTE = (
    "Drop: percentage points of accuracy lost on held-out runs when the features take the values "
    "of {donor}, {replacements} times ({repeats} repeats of the main study's folds), with "
    "{confidence:g} % intervals by resampling n scenarios within categories, then their seeds; a "
    "group's features are replaced together. Share: of the sum of the drops {kind}, in percent, a "
    "rise counting as none. Impurity and terms: the share of the forest's decrease of impurity and "
    "of EBM's mean absolute contributions, in percent, with its standard deviation over {fits} "
    "fits, which share training runs: a description and no interval."
)
REPORTED_NOTE = (
    "Reported: the paper's shares ({place}), which it calls permutation importance; they add up to "
    "{total} and one that is below {below}, and the parts that it names of training dynamics to "
    "{parts}, not {dynamics}. –: not reported. It gives its ten leading features {top} % together; "
    "here the ten leading features of the forest have {leading} of the impurity, on all features "
    "of the table."
)
SOURCES_NOTE = (
    "Values of other runs of the test fold, which has about {tested:.0f}, give drops of single "
    "features whose order has a rank correlation (Spearman) of {rank:.2f} for the forest, and "
    "{ratio} of the sum, of which {kept:.2f} is what runs that keep their own values leave; the "
    "largest difference is {largest} points."
)


REMOVAL_NOTE = (
    "Replacing the error text costs a fitted forest {drop} points of accuracy, and taking it away "
    "before fitting changes it by {removal} (table ablation_left_out, {repeats} repeats). In a "
    "forest that never had the error text the drop of {substitute} is the one that grows most "
    "({without} against {beside} points). A drop says what a fit rests on and not what is lost "
    "without it."
)


@dataclass(frozen=True)
class ImportanceRow:
    """A row of a table: what one feature or group is worth to every method."""

    feature_set: str
    name: str
    group: str
    reported: str
    measured: Mapping[str, Mapping[str, Any]]

    @property
    def n(self) -> int:
        """Scenarios."""
        return max(int(row["n"]) for row in self.measured.values())


def importance_tables(
    table: pl.DataFrame,
    agreement: Mapping[str, Mapping[str, SourceAgreement]],
    leading: Mapping[str, LeadingShare],
    removed: Removal,
    paper: Reported,
    settings: ImportanceSettings,
) -> tuple[Table, Table]:
    """Importance by group, and by feature."""
    reported = {TABLE_SIX: _reported_groups(paper)}
    groups = [
        row
        for feature_set in SET_LABELS
        for row in _rows(table, feature_set, "group", reported.get(feature_set, {}))
    ]
    by_group = Table.of(
        "importance",
        (
            Column("Features", align="left", cell=lambda row: SET_LABELS[row.feature_set]),
            Column("Group", align="left", cell=lambda row: GROUP_LABELS[row.name]),
            *NUMBERS,
        ),
        groups,
        "What each group of signals is worth to two classifiers, reported beside measured.",
        (
            _note(table, settings, "of groups"),
            _reported_note(paper, leading[TABLE_SIX]),
            _sources_note(agreement[TABLE_SIX]["random_forest"]),
            _removal_note(table, removed),
        ),
    )
    place = paper.tables.importance.place
    by_feature = Table.of(
        "importance_features",
        (
            Column("Feature", align="left", cell=lambda row: row.name),
            *NUMBERS,
            Column("Group", align="left", cell=lambda row: GROUP_LABELS[row.group]),
        ),
        _rows(table, TABLE_SIX, "feature", _reported_parts(paper)),
        "What each feature is worth to two classifiers, reported beside measured.",
        (
            _note(table, settings, "of features"),
            REPORTED_NOTE.split(";")[0].format(place=place) + ".",
        ),
    )
    return by_group, by_feature


def known_table(table: pl.DataFrame, settings: ImportanceSettings) -> tuple[Table, ...]:
    """What invariants and the ending are worth together and one by one; none where nobody asked."""
    of_known = table.filter(pl.col("feature_set") == KNOWN_SET)
    if of_known.is_empty():
        return ()
    asked = [name for name in ON_KNOWN if name in set(of_known["method"])]
    flags = list(_rows(of_known, KNOWN_SET, "feature", {}))
    flags.sort(key=lambda row: (-max(row.measured[name]["value"] for name in asked), row.name))
    return (
        Table.of(
            "importance_invariants",
            (
                Column("What is known", align="left", cell=lambda row: words(row.name)),
                *(
                    column
                    for name in asked
                    for column in _measured_columns(name, *ON_KNOWN_BUILT_IN[name])
                ),
                Column("n", cell=lambda row: str(row.n)),
            ),
            (*_rows(of_known, KNOWN_SET, "group", {}), *flags[:LEADING_FLAGS]),
            "What all invariants, the ending, and the flags that lead are worth to classifiers on "
            "what the monitor knows.",
            (_note(table, settings, "of all groups, or of all flags"), *development_note(asked)),
        ),
    )


def _note(table: pl.DataFrame, settings: ImportanceSettings, kind: str) -> str:
    return NOTE.format(
        donor=DONORS[settings.source],
        replacements=settings.replacements,
        repeats=settings.repeats,
        confidence=100 * settings.confidence,
        kind=kind,
        fits=int(table["fits"][0]),
    )


def _reported_note(paper: Reported, leading: LeadingShare) -> str:
    rows = paper.tables.importance.rows
    below = [row.share_below for row in rows.values() if row.share_below is not None]
    dynamics = rows["training_dynamics"]
    return REPORTED_NOTE.format(
        place=paper.tables.importance.place,
        total=percent(sum(row.share for row in rows.values() if row.share is not None)),
        below=percent(below[0]),
        parts=percent(sum(dynamics.parts.values())),
        dynamics=percent(dynamics.share or 0.0),
        top=percent(reported_number(paper, "importance_top_ten")),
        leading=f"{percent(leading.value)} ± {percent(leading.sd)} %",
    )


def _sources_note(agreement: SourceAgreement) -> str:
    ratio = agreement.ratio
    return SOURCES_NOTE.format(
        tested=agreement.tested,
        kept=1 - 1 / agreement.tested,
        rank=agreement.rank_correlation,
        ratio=ABSENT if ratio is None else f"{ratio:.2f}",
        largest=percent(agreement.largest_difference),
    )


def _removal_note(table: pl.DataFrame, removed: Removal) -> str:
    beside, without = (
        dict(
            table.filter(feature_set=feature_set, method="random_forest", kind="group")
            .select("name", "value")
            .iter_rows()
        )
        for feature_set in (TABLE_SIX, PRIMARY_SET)
    )
    substitute = max(without, key=lambda name: (without[name] - beside[name], name))
    return REMOVAL_NOTE.format(
        drop=percent(beside[ERROR_TEXT_SIGNAL]),
        removal=_points(removed.change),
        repeats=removed.repeats,
        substitute=GROUP_LABELS[substitute],
        without=_points(without[substitute]),
        beside=_points(beside[substitute]),
    )


def _rows(
    table: pl.DataFrame, feature_set: str, kind: Kind, reported: Mapping[str, str]
) -> Iterator[ImportanceRow]:
    units = table.filter(pl.col("feature_set") == feature_set, pl.col("kind") == kind)
    for (name, group), rows in units.group_by("name", "group", maintain_order=True):
        measured = {row["method"]: row for row in rows.iter_rows(named=True)}
        yield ImportanceRow(
            feature_set, str(name), str(group), reported.get(str(name), ABSENT), measured
        )


def _measured_columns(method: str, built_in: str, label: str) -> tuple[Column, ...]:
    """Drop, share of the drops and built-in share of one method."""
    cells: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "Drop": _drop,
        "Share": _share,
        built_in: _built_in_share,
    }

    def of_method(cell: Callable[[Mapping[str, Any]], str]) -> Callable[[ImportanceRow], str]:
        return lambda row: cell(row.measured[method])

    return tuple(Column(heading, label, cell=of_method(cell)) for heading, cell in cells.items())


def _drop(row: Mapping[str, Any]) -> str:
    return with_interval(row["value"], row["ci_low"], row["ci_high"], _points)


def _share(row: Mapping[str, Any]) -> str:
    return ABSENT if row["share"] is None else percent(row["share"])


def _built_in_share(row: Mapping[str, Any]) -> str:
    return f"{percent(row['own'])} ± {percent(row['own_sd'])}"


def _points(value: float) -> str:
    return signed(100 * value)


NUMBERS = (
    Column("Share", "reported", cell=lambda row: row.reported),
    *(
        column
        for method, (built_in, label) in BUILT_IN.items()
        for column in _measured_columns(method, built_in, label)
    ),
    Column("n", cell=lambda row: str(row.n)),
)
"""The columns that both tables have."""


def _reported_groups(paper: Reported) -> dict[str, str]:
    rows = paper.tables.importance.rows
    names = {REPORTED_GROUPS.get(group, group): group for group in GROUP_LABELS}
    return {
        names[key]: f"below {percent(row.share_below or 0.0)}"
        if row.share is None
        else percent(row.share)
        for key, row in rows.items()
    }


def _reported_parts(paper: Reported) -> dict[str, str]:
    return {
        feature: percent(share)
        for row in paper.tables.importance.rows.values()
        for feature, share in row.parts.items()
    }
