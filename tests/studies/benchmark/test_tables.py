"""Tables of declarations have every row, and words of conditions say what the code asks."""

from __future__ import annotations

import re

import pytest

from failbench.methods.healthy_band import HealthyBand
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.improved_tree import TREE
from failbench.methods.improved_tree import band_features as improved_features
from failbench.methods.rules import ErrorMatches
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRulesSettings
from failbench.methods.simple_rules import band_features as simple_features
from failbench.monitor.invariants import CATALOGUE as INVARIANTS
from failbench.studies.benchmark.conditions import (
    short,
    wordings,
)
from failbench.studies.benchmark.methods_tables import LONGEST, prompt_table
from failbench.studies.benchmark.rules_tables import rules_tables
from failbench.studies.benchmark.signals_tables import bound_words

BAND = HealthyBand(
    dict.fromkeys({*simple_features(), *improved_features()}, 2.0),
    dict.fromkeys({*simple_features(), *improved_features()}, 0.5),
)
SIMPLE = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
IMPROVED = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)


@pytest.fixture(scope="module")
def rules():
    return {table.name: table for table in rules_tables(BAND, 50, SIMPLE, IMPROVED)}


def test_a_bound_is_fitted_exactly_where_the_catalogue_has_none():
    for invariant in INVARIANTS:
        assert bound_words(invariant).endswith("fitted") == (invariant.bound is None)
        assert bound_words(invariant).startswith(invariant.relation)


def test_a_threshold_is_the_one_that_the_rule_is_held_against(rules):
    thresholds = {row[1]: row[4] for row in rules["simple_rules"].rows}
    assert thresholds["gradient explosion"] == "1,000 (the paper)"
    assert thresholds["unknown tokens"] == "3.5 (healthy runs)"
    assert thresholds["low coverage"] == "0.5 (healthy runs)"
    assert thresholds["memory leak"] == "0.5 (what the feature means); 3.5 (healthy runs)"
    assert thresholds["killed"] == "–"


def test_signals_have_names_of_their_own_and_each_that_the_tree_asks_has_a_row(rules):
    asked = dict.fromkeys(TREE.conditions())
    names = [short(condition) for condition in asked]
    assert len(set(names)) == len(names)
    rows = [row[0] for row in rules["improved_signals"].rows]
    assert sorted(rows) == sorted(names)
    of_text = [isinstance(condition, ErrorMatches) for condition in asked].count(True)
    assert rows == sorted(rows[:of_text]) + sorted(rows[of_text:])


def test_every_wording_matches_the_pattern_that_it_is_read_from():
    for rule in SIMPLE_RULES:
        for condition in rule.conditions:
            if isinstance(condition, ErrorMatches):
                for wording in wordings(condition.pattern):
                    for text in _alternatives(wording):
                        assert re.search(condition.pattern, text), (rule.name, text)


def _alternatives(wording: str) -> list[str]:
    """Texts that a printed wording stands for."""
    text = wording.replace("…", "anything")
    either = re.match(r"(\w+) or (\w+) (key.*)", text)
    return [f"{either[n]} {either[3]}" for n in (1, 2)] if either else [text]


def test_the_prompt_is_printed_to_the_last_letter():
    class Printed:
        system = "One.\n\nTwo words."
        user = "BEGIN\n" + ",".join(f"column_{n}" for n in range(30)) + "\nEND"

    table = prompt_table(Printed, "a-run", 4, 50, 0.0)  # type: ignore[arg-type]
    assert [row[0] for row in table.rows].count("system") == 1
    assert max(len(row[1]) for row in table.rows) <= LONGEST
    of_user = [row[0] for row in table.rows].index("user")
    system, user = table.rows[:of_user], table.rows[of_user:]
    assert "\n".join(row[1] for row in system) == Printed.system
    assert "".join(row[1] for row in user) == Printed.user.replace("\n", "")
