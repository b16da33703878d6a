"""Tables of the study of peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from failbench.peers.rules import Condition, PeerRule, peer_rules, rules_of
from failbench.peers.standards import standards
from failbench.reporting.captions import development_note
from failbench.reporting.cells import (
    ABSENT,
    counted,
    one_decimal,
    percent,
    signed,
    with_interval,
    words,
)
from failbench.reporting.labels import SHORT_LABELS
from failbench.reporting.table import Column, Divider, Table
from failbench.studies.peers.results import ENDS_ITSELF, RUNS_ON
from failbench.studies.peers.schemas import DOCUMENTED
from failbench.studies.peers.shown import GROUPS, Shown, label
from failbench.vocabulary import CATEGORIES

RUNS_NOTE: Final = (
    "Runs: the {failing} failing runs of the reference setting ({scenarios} scenarios, {seeds} "
    "seeds), their {twins} healthy twins and {successes} successes; small models of 280 to 320 "
    "steps. Nobody who is asked for alarms is told that a run failed. Detected: any alarm up to "
    "the end of the recording. {interval:g} % intervals by resampling scenarios and their seeds, "
    "Wilson's at the edges; of false alarms Wilson's with n = runs."
)
RULES_NOTE: Final = (
    "Rules are those of src/failbench/peers/data/rules.csv, with thresholds as documented; they "
    "read loss, gradient norm, learning rate, time, padding and held-out loss of every step, and "
    "no error message. That a tool ends a training which no longer improves counts as an alarm, "
    "too. In brackets how many of the peer's rules apply to what is recorded. Verdicts are mapped "
    "to categories by src/failbench/peers/data/mapping.csv; one that names no category is wrong. "
    "To call every run a failure of optimization would be right in {optimization} %."
)
TOOLS_NOTE: Final = (
    "Tools were given complete logs ({reads}) to the end of the recording, with the error message "
    "where the format has one, and afterwards, so that they have no first alarm. "
    "ml-training-debugger is a skill for agents, of which the documented thresholds were taken."
)
OURS_NOTE: Final = (
    "failbench diagnose is given complete logs that end at the failure, with the error message, "
    "and models that learnt from other scenarios, and is not told that a run failed. The methods "
    "below it are told; they learn, if they do, from other scenarios, and answer in ten repeats of "
    "the folds with the paper's 19 features. Alarms of the invariants are those of the monitor, "
    "which reads weights, activations and batches besides, in whole logs."
)
COLUMNS_NOTE: Final = (
    "Steps ahead: median steps from the first alarm to the failure, of runs with an alarm, below "
    "zero where it comes later. Conditions: what a person checks to verify a verdict: the "
    "thresholds of the rule that decided and one of every other rule, or all checks of a tool; "
    "of our methods as in the trade-off. –: it has none, or is told."
)
BEST_NOTE: Final = (
    "For each fold the factor of all thresholds of a peer, or the bound from which its verdicts "
    "count, was chosen on the scenarios of the other folds and their twins ({repeats} repeats of 5 "
    "folds), and judged on those of the fold: once for detection less alarms of twins, once for "
    "right categories. In brackets the choice that was made most often. A threshold of zero has no "
    "factor. Who chooses for categories alone may alarm everything."
)

DIFFERENCE_NOTE: Final = (
    "Difference: paired, of each failing run and its twin; below zero where twins, which run to "
    "the end, are alarmed more often. Before the fault a run and its twin are equal, and an "
    "alarm is false: steps ahead are worth what is left of them."
)
CATEGORIES_NOTE: Final = (
    "Percent detected / percent right; n scenarios of three runs each, intervals in "
    "data/plots/peers_detail.csv. Ended early: by an exception, a signal or by hanging, which is "
    "seen without any tool; some scenarios have runs of both kinds."
)
COVERAGE_NOTE: Final = (
    "Exact: against the signal that the rule is for. Stand-in: against another that is declared "
    "with the rule, such as the norm of all gradients in place of a layer's, or the steps "
    "between two validations in place of an epoch. Not applicable: the signal was not recorded, "
    "or there is no threshold. TheDeepChecker trains on a single batch and on layers, and none "
    "of its rules applies."
)


def tables(shown: Shown) -> tuple[Table, ...]:
    """All tables of the study."""
    return (
        _main_table(shown),
        _alarm_table(shown),
        _best_table(shown),
        _category_table(shown),
        _coverage_table(shown),
        _missing_table(shown),
        _rule_table(shown),
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
        yield Divider(GROUPS[group])
        yield from shown.by_group[group]


def _name(method: str) -> str:
    rules = [rule for rule in peer_rules() if rule.peer == method]
    if not rules:
        return label(method)
    return f"{label(method)} ({len(rules_of(method))} of {len(rules)})"


def _notes(shown: Shown) -> tuple[str, ...]:
    kinds = dict(shown.runs.group_by("kind").len().iter_rows())
    failing = shown.runs.filter(kind="failure")
    reads = ", ".join(f"{label(peer)} as {words(form)}" for peer, form in shown.reads.items())
    return (
        RUNS_NOTE.format(
            failing=kinds["failure"],
            twins=kinds["twin"],
            successes=kinds["success"],
            scenarios=failing["scenario"].n_unique(),
            seeds=failing["seed"].n_unique(),
            interval=100 * shown.confidence,
        ),
        _rules_note(shown),
        TOOLS_NOTE.format(reads=reads),
        OURS_NOTE,
        *development_note(shown.methods),
    )


def _rules_note(shown: Shown) -> str:
    scenarios = shown.runs.filter(kind="failure").select("scenario", "category").unique()
    share = scenarios.filter(category="optimization").height / scenarios.height
    return RULES_NOTE.format(optimization=percent(share))


def _main_table(shown: Shown) -> Table:
    rate = partial(_cell, shown, DOCUMENTED)
    return Table.of(
        "peers",
        (
            Column("Tool or method", align="left", cell=_name),
            Column("Detected", cell=partial(rate, "detected")),
            Column("successes", "False alarms", cell=partial(rate, "alarm_success")),
            Column("twins", "False alarms", cell=partial(rate, "alarm_twin")),
            Column("Category right", cell=partial(rate, "accuracy")),
            Column("When named", cell=partial(rate, "named_accuracy")),
            Column("Named", cell=partial(rate, "named")),
            Column("Steps ahead", cell=partial(_number, shown, "lead", _whole)),
            Column("Conditions", cell=partial(_number, shown, "conditions", one_decimal)),
        ),
        _rows(shown, "rules", "tools", "ours"),
        "What documented rules, other tools and ours make of the same runs.",
        (*_notes(shown), COLUMNS_NOTE),
    )


def _alarm_table(shown: Shown) -> Table:
    rate = partial(_cell, shown, DOCUMENTED)
    rows = [
        row
        for row in _rows(shown, "rules", "tools", "ours")
        if isinstance(row, Divider) or shown.rate(DOCUMENTED, row, "gain")
    ]
    return Table.of(
        "peers_alarms",
        (
            Column("Tool or method", align="left", cell=_name),
            Column("Detected", cell=partial(rate, "detected")),
            Column("Twins alarmed", cell=partial(rate, "alarm_twin")),
            Column("Difference", cell=partial(rate, "gain")),
            Column("First alarm before the fault", cell=partial(rate, "premature")),
            Column("Steps ahead", cell=partial(_number, shown, "lead", _whole)),
        ),
        rows,
        "How much more often failing runs are alarmed than the same runs without their fault.",
        (
            *_notes(shown),
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
            Column("Tool", align="left", cell=_name),
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
        (BEST_NOTE.format(repeats=shown.repeats), *_notes(shown)[:3]),
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
            Column("Tool or method", align="left", cell=_name),
            *(
                Column(f"{heading} (n = {size(group)})", cell=partial(both, group))
                for group, heading in headings.items()
            ),
        ),
        _rows(shown, "rules", "tools", "ours"),
        "Failing runs detected, and their category named right, by the category of the cause.",
        (
            CATEGORIES_NOTE,
            *_notes(shown),
        ),
    )


def _coverage_table(shown: Shown) -> Table:
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


def _missing_table(shown: Shown) -> Table:
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


def _rule_table(shown: Shown) -> Table:
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
        (_rules_note(shown), "Sources and stand-ins are in src/failbench/peers/data/rules.csv."),
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
