"""Tables of the study of peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from failbench.peers.rules import peer_rules, rules_of
from failbench.reporting.cells import (
    ABSENT,
    one_decimal,
    percent,
    signed,
    with_interval,
    words,
)
from failbench.reporting.labels import SHORT_LABELS
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.peers.elsewhere import Asked
from failbench.studies.peers.notes import (
    BEST_NOTE,
    CATEGORIES_NOTE,
    COLUMNS_NOTE,
    DIFFERENCE_NOTE,
    ISSUES_NOTE,
    elsewhere_note,
    notes,
)
from failbench.studies.peers.results import ENDS_ITSELF, RUNS_ON
from failbench.studies.peers.rule_tables import coverage_table, missing_table, rule_table
from failbench.studies.peers.schemas import DOCUMENTED
from failbench.studies.peers.shown import GROUPS, Shown, label
from failbench.vocabulary import CATEGORIES


def tables(shown: Shown) -> tuple[Table, ...]:
    """All tables of the study."""
    return (
        _main_table(shown),
        _alarm_table(shown),
        _best_table(shown),
        _category_table(shown),
        coverage_table(shown),
        missing_table(shown),
        rule_table(shown),
        *([_issue_table(shown)] if shown.by_group["elsewhere"] else []),
    )


def _cell(shown: Shown, choice: str, metric: str, method: str) -> str:
    row = shown.rate(choice, method, metric)
    if row is None:
        return ABSENT
    form = _points if metric == "gain" else percent
    return with_interval(row["value"], row["ci_low"], row["ci_high"], form)


def _points(difference: float) -> str:
    return signed(100 * difference)


def _number(shown: Shown, metric: str, form: Callable[[float], str], method: str) -> str:
    row = shown.rate(DOCUMENTED, method, metric)
    if row is None:
        return ABSENT
    return with_interval(row["value"], row["ci_low"], row["ci_high"], form)


def _whole(value: float) -> str:
    return f"{value:.0f}".replace("-", "−")


def _rows(shown: Shown, *groups: str) -> Iterator[str | Divider]:
    for group in groups:
        if shown.by_group[group]:
            yield Divider(GROUPS[group])
            yield from shown.by_group[group]


def _name(shown: Shown, method: str) -> str:
    if Asked.of(method):
        return f"{label(method)} (n = {shown.sizes(method)['failure']})"
    rules = [rule for rule in peer_rules() if rule.peer == method]
    if not rules:
        return label(method)
    return f"{label(method)} ({len(rules_of(method))} of {len(rules)})"


def _main_table(shown: Shown) -> Table:
    rate = partial(_cell, shown, DOCUMENTED)
    return Table.of(
        "peers",
        (
            Column("Tool or method", align="left", cell=partial(_name, shown)),
            Column("Detected", cell=partial(rate, "detected")),
            Column("successes", "False alarms", cell=partial(rate, "alarm_success")),
            Column("twins", "False alarms", cell=partial(rate, "alarm_twin")),
            Column("Category right", cell=partial(rate, "accuracy")),
            Column("When named", cell=partial(rate, "named_accuracy")),
            Column("Named", cell=partial(rate, "named")),
            Column("Steps ahead", cell=partial(_number, shown, "lead", _whole)),
            Column("Conditions", cell=partial(_number, shown, "conditions", one_decimal)),
        ),
        _rows(shown, *GROUPS),
        "What documented rules, other tools and ours make of the same runs.",
        (*notes(shown), COLUMNS_NOTE),
    )


def _alarm_table(shown: Shown) -> Table:
    rate = partial(_cell, shown, DOCUMENTED)
    rows = [
        row
        for row in _rows(shown, *GROUPS)
        if isinstance(row, Divider) or shown.rate(DOCUMENTED, row, "gain")
    ]
    return Table.of(
        "peers_alarms",
        (
            Column("Tool or method", align="left", cell=partial(_name, shown)),
            Column("Detected", cell=partial(rate, "detected")),
            Column("Twins alarmed", cell=partial(rate, "alarm_twin")),
            Column("Difference", cell=partial(rate, "gain")),
            Column("F1", cell=partial(rate, "f1")),
            Column("First alarm before the fault", cell=partial(rate, "premature")),
            Column("Steps ahead", cell=partial(_number, shown, "lead", _whole)),
        ),
        rows,
        "How much more often failing runs are alarmed than the same runs without their fault.",
        (
            *notes(shown),
            DIFFERENCE_NOTE,
        ),
    )


def _best_table(shown: Shown) -> Table:
    def chosen(objective: str, method: str) -> str:
        rows = shown.chosen.filter(objective=objective, method=method)
        whole = rows["folds"].sum()
        first = rows.sort("folds", descending=True, maintain_order=True).row(0, named=True)
        return f"{first['choice']} ({first['folds']} of {whole})"

    return Table.of(
        "peers_best",
        (
            Column("Tool", align="left", cell=partial(_name, shown)),
            Column(
                "detected − twins", "As documented", cell=partial(_cell, shown, DOCUMENTED, "gain")
            ),
            Column(
                "category right",
                "As documented",
                cell=partial(_cell, shown, DOCUMENTED, "accuracy"),
            ),
            Column("chosen", "Best for detection", "left", cell=partial(chosen, "best_detection")),
            *(
                Column(
                    heading,
                    "Best for detection",
                    cell=partial(_cell, shown, "best_detection", metric),
                )
                for heading, metric in (
                    ("detected", "detected"),
                    ("twins", "alarm_twin"),
                    ("detected − twins", "gain"),
                )
            ),
            Column("chosen", "Best for categories", "left", cell=partial(chosen, "best_category")),
            Column(
                "right",
                "Best for categories",
                cell=partial(_cell, shown, "best_category", "accuracy"),
            ),
            Column(
                "twins",
                "Best for categories",
                cell=partial(_cell, shown, "best_category", "alarm_twin"),
            ),
        ),
        _rows(shown, "rules", "tools"),
        "Each peer with the thresholds that do best on other scenarios.",
        (BEST_NOTE.format(repeats=shown.repeats, folds=shown.folds), *notes(shown)[:3]),
    )


def _category_table(shown: Shown) -> Table:
    def both(group: str, method: str) -> str:
        of_method = shown.detail.filter(method=method, group=group)
        values = dict(of_method.select("metric", "value").iter_rows())
        return " / ".join(
            percent(values[metric]) if metric in values else ABSENT
            for metric in ("detected", "accuracy")
        )

    def size(group: str) -> str:
        return str(shown.detail.filter(group=group, metric="accuracy")["n"].max())

    headings = {str(name): SHORT_LABELS[name] for name in CATEGORIES}
    headings |= {ENDS_ITSELF: "ended early", RUNS_ON: "ran on"}
    return Table.of(
        "peers_categories",
        (
            Column("Tool or method", align="left", cell=partial(_name, shown)),
            *(
                Column(f"{heading} (n = {size(group)})", cell=partial(both, group))
                for group, heading in headings.items()
            ),
        ),
        _rows(shown, *GROUPS),
        "Failing runs detected, and their category named right, by the category of the cause.",
        (
            CATEGORIES_NOTE.format(seeds=shown.runs.filter(kind="failure")["seed"].n_unique()),
            *notes(shown),
        ),
    )


def _issue_table(shown: Shown) -> Table:
    rows: list[dict[str, Any] | Divider] = []
    for method in shown.by_group["elsewhere"]:
        asked = Asked.of(method)
        if asked is not None and not asked.read:
            rows.append(Divider(_name(shown, method)))
            rows += shown.elsewhere.issues.filter(peer=asked.peer, setting=asked.setting).iter_rows(
                named=True
            )
    return Table.of(
        "peers_elsewhere",
        (
            Column("What it says", align="left", cell=lambda row: words(row["issue"])),
            Column("failing", "Runs", cell=lambda row: str(row["failure"])),
            Column("twins", "Runs", cell=lambda row: str(row["twin"])),
        ),
        rows,
        "What a tool that is called in trainings says of runs of other architectures.",
        (ISSUES_NOTE, elsewhere_note(shown)),
    )
