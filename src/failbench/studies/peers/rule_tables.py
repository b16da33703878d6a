"""Tables of the study of peers: the documented rules, and what they are held against."""

from __future__ import annotations

from functools import partial
from typing import Final

from failbench.peers.rules import Condition, PeerRule, peer_rules, rules_of
from failbench.peers.standards import standards
from failbench.reporting.cells import ABSENT, counted, words
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.peers.notes import COVERAGE_NOTE, rules_note
from failbench.studies.peers.shown import Shown, label


def coverage_table(shown: Shown) -> Table:
    """How many rules of each peer are held against what was recorded."""
    counts = {row["peer"]: row for row in shown.coverage.to_dicts()}
    total = {name: sum(row[name] for row in counts.values()) for name in SCOPE_LABELS}

    def count(scope: str, peer: str) -> str:
        return str(counts.get(peer, total)[scope])

    def about(field: str, peer: str) -> str:
        return str(getattr(standards()[peer], field)) if peer in counts else ""

    def missing(peer: str) -> str:
        signals = [
            rule.missing.partition(":")[0]
            for rule in peer_rules()
            if not rule.applies and rule.peer == peer
        ]
        return ", ".join(dict.fromkeys(signals)) or ABSENT

    return Table.of(
        "peers_coverage",
        (
            Column("Peer", align="left", cell=lambda peer: label(peer) if peer in counts else peer),
            Column("Version", align="left", cell=partial(about, "version")),
            *(
                Column(heading, "Rules", cell=partial(count, scope))
                for scope, heading in SCOPE_LABELS.items()
            ),
            Column("Signals that are not recorded", align="left", width=0.45, cell=missing),
        ),
        [*counts, "All"],
        "How many rules of each peer are held against what was recorded.",
        (COVERAGE_NOTE,),
    )


SCOPE_LABELS: Final = {"exact": "exact", "mapped": "stand-in", "not_applicable": "not applicable"}


def missing_table(shown: Shown) -> Table:
    """The signals that the rules are for which do not apply."""
    return Table.of(
        "peers_missing",
        (
            Column("Signal", align="left", cell=lambda row: row["missing"]),
            Column("Rules", cell=lambda row: str(row["rules"])),
            Column("Peers", align="left", cell=lambda row: ", ".join(map(label, row["peers"]))),
        ),
        shown.missing.to_dicts(),
        "What the rules that do not apply are for.",
    )


def rule_table(shown: Shown) -> Table:
    """Every rule that applies, and in how many runs it fires."""
    fired = {(row["peer"], row["rule"]): row for row in shown.rules.to_dicts()}
    rows: list[PeerRule | Divider] = []
    for peer in shown.by_group["rules"]:
        rows.append(Divider(label(peer)))
        rows += rules_of(peer)

    def count(kind: str, rule: PeerRule) -> str:
        return str(fired.get((rule.peer, rule.name), {}).get(kind, 0))

    kinds = {"failure": "failing", "twin": "twins", "success": "successes"}
    sizes = dict(shown.runs.group_by("kind").len().iter_rows())
    return Table.of(
        "peers_rules",
        (
            Column("Rule", align="left", width=0.24, cell=lambda rule: rule.name),
            Column("Held against", align="left", cell=lambda rule: SCOPE_LABELS[rule.scope]),
            Column("Fires if", align="left", width=0.4, cell=_conditions),
            *(
                Column(
                    f"{heading}, of {sizes[kind]}",
                    "Runs in which it fires",
                    cell=partial(count, kind),
                )
                for kind, heading in kinds.items()
            ),
        ),
        rows,
        "Every rule that applies, and the runs in which it fires.",
        (rules_note(shown), "Sources and stand-ins are in src/failbench/peers/data/rules.csv."),
    )


RELATIONS: Final = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}


def _conditions(rule: PeerRule) -> str:
    return " and ".join(_condition(each) for each in rule.conditions)


def _condition(condition: Condition) -> str:
    text = words(condition.signal)
    if condition.statistic != "value":
        window = f" of {condition.window}" if condition.window else ""
        text = f"{words(condition.statistic)}{window} ({text})"
    text += f" {RELATIONS[condition.relation]} {condition.threshold:g}"
    if condition.margin:
        text += f", margin {condition.margin:g}"
    if condition.looks > 1:
        text += f", {counted(condition.looks, 'time')} in a row"
    return text
