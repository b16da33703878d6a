"""The documented rules of other tools: what they are held against, and where they fire."""

from collections.abc import Iterator
from functools import partial

import polars as pl

from failbench import study as st
from failbench.neighbours.peers.rules import SCOPES, Condition, peer_rules, rule_peers, rules_of
from failbench.neighbours.peers.verdicts import standards

SCOPE_LABELS = {"exact": "exact", "mapped": "stand-in", "not_applicable": "not applicable"}
RELATIONS = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}
FIRES = "Runs in which it fires"
KINDS = {"failure": "failing", "twin": "twins", "success": "successes"}


def rule_counts(alarms: pl.DataFrame, runs: pl.DataFrame) -> pl.DataFrame:
    """In how many runs of each kind each rule fires as documented."""
    fired = alarms.filter(factor=1.0).join(runs.select("run_id", "kind"), on="run_id")
    counts = [(pl.col("kind") == kind).sum().cast(pl.Int64).alias(kind) for kind in KINDS]
    return fired.group_by("peer", "rule").agg(*counts).sort("peer", "rule")


def scope_counts() -> pl.DataFrame:
    """How many rules of each peer are held against what is recorded, and how."""
    counts: list[dict[str, str | int]] = []
    for peer in rule_peers():
        scopes = [rule.scope for rule in peer_rules() if rule.peer == peer]
        counts.append({"peer": peer, **{scope: scopes.count(scope) for scope in SCOPES}})
    return pl.DataFrame(counts)


def rule_tables(
    fired: pl.DataFrame,
    scopes: pl.DataFrame,
    runs: pl.DataFrame,
    peers: list[str],
    said: st.Captions,
) -> Iterator[st.Table]:
    """The documented rules, and what they are held against."""
    left = partial(st.Column, align="left")
    lacking = [rule for rule in peer_rules() if not rule.applies]
    body: list[tuple[str, ...] | st.Divider] = []
    for row in scopes.to_dicts():
        peer = standards()[row["peer"]]
        signals = [rule.missing.partition(":")[0] for rule in lacking if rule.peer == row["peer"]]
        counts = (str(row[scope]) for scope in SCOPES)
        texts = ", ".join(dict.fromkeys(signals)) or st.ABSENT
        body.append((peer.label, peer.version, *counts, texts))
    body.append(("All", "", *(str(scopes[scope].sum()) for scope in SCOPES), st.ABSENT))
    yield st.sheet("peers_coverage", body, said)

    unrecorded: dict[str, list[str]] = {}
    for rule in lacking:
        unrecorded.setdefault(rule.missing, []).append(standards()[rule.peer].label)
    body = [
        (signal, str(len(of)), ", ".join(dict.fromkeys(of)))
        for signal, of in sorted(unrecorded.items(), key=lambda item: -len(item[1]))
    ]
    yield st.sheet("peers_missing", body, said)

    counts_of = {row[:2]: row[2:] for row in fired.iter_rows()}
    kinds = dict(runs.group_by("kind").len().iter_rows())
    body = []
    for name in peers:
        body.append(st.Divider(standards()[name].label))
        for rule in rules_of(name):
            what = " and ".join(map(condition_text, rule.conditions))
            fires = counts_of.get((name, rule.name), (0, 0, 0))
            body.append((rule.name, SCOPE_LABELS[rule.scope], what, *map(str, fires)))
    columns = [
        *(left("Rule", width=0.24), left("Held against"), left("Fires if", width=0.4)),
        *(st.Column(f"{label}, of {kinds[kind]}", FIRES) for kind, label in KINDS.items()),
    ]
    yield st.sheet("peers_rules", body, said, columns=columns)


def condition_text(condition: Condition) -> str:
    text = st.words(condition.signal)
    if condition.statistic != "value":
        window = f" of {condition.window}" if condition.window else ""
        text = f"{st.words(condition.statistic)}{window} ({text})"
    text += f" {RELATIONS[condition.relation]} {condition.threshold:g}"
    if condition.margin:
        text += f", margin {condition.margin:g}"
    if condition.looks > 1:
        text += f", {st.counted(condition.looks, 'time')} in a row"
    return text
