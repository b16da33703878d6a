"""The documented rules of other tools: what they are held against, and where they fire."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from failbench.neighbours.peers.mapping import standards
from failbench.neighbours.peers.rules import SCOPES, Condition, peer_rules, rule_peers, rules_of
from failbench.study import Captions, Estimates, Row, Text, table
from failbench.study.cells import ABSENT, counted, words
from failbench.study.plain_table import Divider, Table

SCOPE_LABELS = {"exact": "exact", "mapped": "stand-in", "not_applicable": "not applicable"}
RELATIONS = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}
KINDS = {"failure": "failing", "twin": "twins", "success": "successes"}


def rule_counts(alarms: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """In how many runs of each kind each rule fires as documented."""
    fired = alarms.filter(factor=1.0).join(runs.select("run_id", "kind"), on="run_id")
    counts = [(pl.col("kind") == kind).sum().cast(pl.Int64).alias(kind) for kind in KINDS]
    return fired.group_by("peer", "rule").agg(*counts).sort("peer", "rule")


def scope_counts() -> pl.DataFrame:
    """How many rules of each peer are held against what is recorded, and how."""
    scopes = {
        peer: [rule.scope for rule in peer_rules() if rule.peer == peer] for peer in rule_peers()
    }
    counts = [
        {"peer": peer, **{scope: of.count(scope) for scope in SCOPES}}
        for peer, of in scopes.items()
    ]
    return pl.DataFrame(counts)


def rule_tables(
    fired: pl.DataFrame, scopes: pl.DataFrame, runs: pl.DataFrame, peers: list[str], said: Captions
) -> Iterator[Table]:
    """The documented rules, and what they are held against."""
    nothing = Estimates(fired)
    lacking = [rule for rule in peer_rules() if not rule.applies]
    columns = [
        *(Text("Peer"), Text("Version")),
        *(Text(heading, "Rules", "right") for heading in SCOPE_LABELS.values()),
        Text("Signals that are not recorded", width=0.45),
    ]
    body: list[Row | Divider] = []
    for counts in scopes.to_dicts():
        peer = counts["peer"]
        signals = [rule.missing.partition(":")[0] for rule in lacking if rule.peer == peer]
        texts = (
            standards()[peer].label,
            standards()[peer].version,
            *(str(counts[scope]) for scope in SCOPES),
        )
        body.append(Row((*texts, ", ".join(dict.fromkeys(signals)) or ABSENT)))
    body.append(Row(("All", "", *(str(scopes[scope].sum()) for scope in SCOPES), ABSENT)))
    yield table("peers_coverage", nothing, columns, body, said)

    unrecorded: dict[str, list[str]] = {}
    for rule in lacking:
        unrecorded.setdefault(rule.missing, []).append(standards()[rule.peer].label)
    body = [
        Row((signal, str(len(of)), ", ".join(dict.fromkeys(of))))
        for signal, of in sorted(unrecorded.items(), key=lambda item: -len(item[1]))
    ]
    columns = [Text("Signal"), Text("Rules", align="right"), Text("Peers")]
    yield table("peers_missing", nothing, columns, body, said)

    counts_of = {row[:2]: row[2:] for row in fired.iter_rows()}
    kinds = dict(runs.group_by("kind").len().iter_rows())
    group = "Runs in which it fires"
    columns = [
        *(Text("Rule", width=0.24), Text("Held against"), Text("Fires if", width=0.4)),
        *(Text(f"{heading}, of {kinds[kind]}", group, "right") for kind, heading in KINDS.items()),
    ]
    body = []
    for peer in peers:
        body.append(Divider(standards()[peer].label))
        for rule in rules_of(peer):
            what = " and ".join(map(condition_text, rule.conditions))
            fires = counts_of.get((peer, rule.name), (0, 0, 0))
            body.append(Row((rule.name, SCOPE_LABELS[rule.scope], what, *map(str, fires))))
    yield table("peers_rules", nothing, columns, body, said)


def condition_text(condition: Condition) -> str:
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
