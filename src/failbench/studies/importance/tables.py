"""Tables of importance: by group of signals and by feature, reported beside measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from failbench.features.catalogue import PRIMARY_SET
from failbench.methods.reduced_tree import ERROR_TEXT
from failbench.reporting.cells import ABSENT, percent, signed, with_interval
from failbench.reporting.labels import GROUP_LABELS
from failbench.reporting.reported import Reported, reported_number, validate_reported
from failbench.reporting.table import Column, Table
from failbench.studies.importance.measure import TABLE_SIX, ImportanceSettings, Source
from failbench.studies.importance.results import SourceAgreement

METHODS: Final = {
    "random_forest": ("impurity", "Random forest"),
    "ebm": ("terms", "EBM"),
}
"""The methods of the tables: what each calls its own importance, and what it is called."""

REPORTED_GROUPS: Final = {ERROR_TEXT: "error_keywords"}
"""Groups that the paper's Table 6 has under another name."""

SET_LABELS: Final = {TABLE_SIX: "19 + keywords + trend", PRIMARY_SET: "19"}
"""Feature sets in the order of the table."""

DONORS: Final[dict[Source, str]] = {
    "training_fold": "a run of the training fold",
    "test_fold": "another run of the test fold",
}
"""Whose values replace those of a tested run."""

NOTE = (
    "Drop: percentage points of accuracy lost on held-out runs when the features take the values "
    "of {donor}, {replacements} times ({repeats} repeats of the main study's folds), with "
    "{confidence:g} % intervals by resampling n scenarios within categories; a group's features "
    "are replaced together. Share: of the sum of the drops {kind}, in percent, a rise counting as"
    " none. Impurity and terms: the share of the forest's decrease of impurity and of EBM's mean "
    "absolute contributions, in percent, with its standard deviation over {fits} fits, which "
    "share training runs: a description and no interval."
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
    "features in nearly the same order (Spearman's rank correlation {rank:.2f} for the forest) and "
    "{ratio} of the sum, of which {kept:.2f} is what runs that keep their own values leave; the "
    "largest difference is {largest} points."
)


def importance_tables(
    table: pl.DataFrame,
    agreement: Mapping[str, Mapping[str, SourceAgreement]],
    leading: Mapping[str, tuple[float, float, int]],
    reported: Mapping[str, object],
    settings: ImportanceSettings,
) -> tuple[Table, Table]:
    """Importance by group, and by feature.

    Parameters
    ----------
    table, agreement, leading
        As :mod:`failbench.studies.importance.results` returns them; the share of the leading
        features by feature set.
    reported
        The parsed ``data/reported/paper.yaml``.
    settings
        Of the study.

    Raises
    ------
    BadInputError
        If ``reported`` is not as :class:`failbench.reporting.reported.Reported` says.
    """
    paper = validate_reported(reported)
    rows = paper.tables.importance.rows
    fits = int(table["fits"][0])
    place = paper.tables.importance.place
    agreed = agreement[TABLE_SIX]["random_forest"]

    def note(kind: str) -> str:
        return NOTE.format(
            donor=DONORS[settings.source],
            replacements=settings.replacements,
            repeats=settings.repeats,
            confidence=100 * settings.confidence,
            kind=kind,
            fits=fits,
        )

    below = [one.share_below for one in rows.values() if one.share_below is not None]
    dynamics = rows["training_dynamics"]
    value, spread, _ = leading[TABLE_SIX]
    reported_note = REPORTED_NOTE.format(
        place=place,
        total=percent(sum(one.share for one in rows.values() if one.share is not None)),
        below=percent(below[0]),
        parts=percent(sum(dynamics.parts.values())),
        dynamics=percent(dynamics.share or 0.0),
        top=percent(reported_number(paper, "importance_top_ten")),
        leading=f"{percent(value)} ± {percent(spread)} %",
    )
    sources_note = SOURCES_NOTE.format(
        tested=agreed.tested,
        kept=1 - 1 / agreed.tested,
        rank=agreed.rank_correlation,
        ratio=ABSENT if agreed.ratio is None else f"{agreed.ratio:.2f}",
        largest=percent(agreed.largest_difference),
    )
    groups = tuple(
        (SET_LABELS[name], *cells)
        for name in SET_LABELS
        for cells in _rows(
            table, name, "group", _reported_groups(paper) if name == TABLE_SIX else {}
        )
    )
    features = _rows(table, TABLE_SIX, "feature", _reported_parts(paper))
    by_group = Table(
        "importance",
        (Column("Features", align="left"), *_columns("Group")),
        groups,
        "What each group of signals is worth to two classifiers, reported beside measured.",
        (note("of groups"), reported_note, sources_note),
    )
    by_feature = Table(
        "importance_features",
        (*_columns("Feature"), Column("Group", align="left")),
        tuple((*cells, GROUP_LABELS[_group_of(table, cells[0])]) for cells in features),
        "What each feature is worth to two classifiers, reported beside measured.",
        (note("of features"), REPORTED_NOTE.split(";")[0].format(place=place) + "."),
    )
    return by_group, by_feature


def _columns(first: str) -> tuple[Column, ...]:
    measured = (
        Column(heading, label)
        for own, label in METHODS.values()
        for heading in ("Drop", "Share", own.capitalize())
    )
    return (Column(first, align="left"), Column("Share", "reported"), *measured, Column("n"))


def _rows(
    table: pl.DataFrame, feature_set: str, kind: str, reported: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    mine = table.filter(pl.col("feature_set") == feature_set, pl.col("kind") == kind)
    names = mine["name"].unique(maintain_order=True).to_list()
    rows = []
    for name in names:
        cells: list[str] = []
        for method in METHODS:
            row = mine.filter(pl.col("name") == name, pl.col("method") == method).row(0, named=True)
            cells += [
                with_interval(row["value"], row["ci_low"], row["ci_high"], _points),
                ABSENT if row["share"] is None else percent(row["share"]),
                f"{percent(row['own'])} ± {percent(row['own_sd'])}",
            ]
        label = GROUP_LABELS[name] if kind == "group" else name
        rows.append((label, reported.get(name, ABSENT), *cells, str(mine["n"][0])))
    return tuple(rows)


def _points(value: float) -> str:
    return signed(100 * value)


def _group_of(table: pl.DataFrame, feature: str) -> str:
    rows = table.filter(pl.col("kind") == "feature", pl.col("name") == feature)
    return str(rows["group"][0])


def _reported_groups(paper: Reported) -> dict[str, str]:
    rows = paper.tables.importance.rows
    names = {REPORTED_GROUPS.get(group, group): group for group in GROUP_LABELS}
    return {
        names[key]: f"below {percent(one.share_below or 0.0)}"
        if one.share is None
        else percent(one.share)
        for key, one in rows.items()
    }


def _reported_parts(paper: Reported) -> dict[str, str]:
    return {
        feature: percent(share)
        for one in paper.tables.importance.rows.values()
        for feature, share in one.parts.items()
    }
