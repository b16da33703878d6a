"""Tables of declarations have every row, and words of conditions say what the code asks."""

from __future__ import annotations

import re

import pytest

from failbench.features.catalogue import KEYWORD_FEATURES, PAPER_FEATURES
from failbench.methods.healthy_band import HealthyBand
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.improved_tree import TREE
from failbench.methods.improved_tree import band_features as improved_features
from failbench.methods.rules import Crosses, ErrorMatches, LeavesBand, PassesLimit, StaysInBand
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRulesSettings
from failbench.methods.simple_rules import band_features as simple_features
from failbench.monitor.invariants import CATALOGUE as INVARIANTS
from failbench.studies.benchmark import methods_tables as methods_module
from failbench.studies.benchmark.conditions import (
    SIGNAL_NAMES,
    in_words,
    number,
    origin,
    short,
    wordings,
)
from failbench.studies.benchmark.methods_tables import LONGEST, methods_tables, prompt_table
from failbench.studies.benchmark.rules_tables import nodes, rules_tables
from failbench.studies.benchmark.signals_tables import bound_words, families, signals_tables

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


@pytest.fixture(scope="module")
def signals():
    return {table.name: table for table in signals_tables()}


def test_features_keywords_and_invariants_have_a_row_each(signals):
    assert len(signals["features"].rows) == len(PAPER_FEATURES) == 19
    assert len(signals["keywords"].rows) == len(KEYWORD_FEATURES) == 17
    assert len(signals["invariants"].rows) == len(INVARIANTS) == 95
    assert {row[1] for row in signals["invariants"].rows} == {
        each.id.replace("_", " ") for each in INVARIANTS
    }


def test_families_hold_every_invariant_once(signals):
    assert sum(len(family.invariants) for family in families()) == len(INVARIANTS)
    for row in signals["invariants_families"].rows:
        count, logic, statistic, symptom, by_logic, fitted = map(int, row[1:7])
        assert logic + statistic + symptom == by_logic + fitted == count


def test_a_bound_is_fitted_exactly_where_the_catalogue_has_none():
    for invariant in INVARIANTS:
        assert bound_words(invariant).endswith("fitted") == (invariant.bound is None)
        assert bound_words(invariant).startswith(invariant.relation)


def test_simple_rules_stand_in_order_with_their_categories(rules):
    rows = rules["simple_rules"].rows
    assert len(rows) == len(SIMPLE_RULES) == 23
    assert [row[1] for row in rows] == [rule.name.replace("_", " ") for rule in SIMPLE_RULES]
    assert [row[2] for row in rows] == [rule.category.replace("_", " ") for rule in SIMPLE_RULES]


def test_a_threshold_is_the_one_that_the_rule_is_held_against(rules):
    thresholds = {row[1]: row[4] for row in rules["simple_rules"].rows}
    assert thresholds["gradient explosion"] == "1,000 (the paper)"
    assert thresholds["unknown tokens"] == "3.5 (healthy runs)"
    assert thresholds["low coverage"] == "0.5 (healthy runs)"
    assert thresholds["memory leak"] == "0.5 (what the feature means); 3.5 (healthy runs)"
    assert thresholds["killed"] == "–"


def test_the_tree_has_47_rows_in_depth_first_order(rules):
    rows = rules["improved_rules"].rows
    assert len(rows) == len(TREE.nodes) == 47
    leaves = [row[1] for row in rows if "." in row[0]]
    assert leaves == [leaf.name.replace("_", " ") for leaf in TREE.leaves]
    assert [node.depth for node in nodes()].count(1) == len(TREE.refinements)


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


def test_words_of_a_condition_name_its_feature_side_and_number():
    assert in_words(Crosses("steps_before_failure", "below", 2)) == "steps before failure below 2"
    assert in_words(LeavesBand("oov_rate", "above")) == "oov rate above the healthy band"
    assert in_words(StaysInBand("perplexity", "above")).startswith("perplexity known and not above")
    assert in_words(PassesLimit("perplexity", "perplexity")) == "perplexity above a limit"
    assert origin(PassesLimit("perplexity", "perplexity")) == "the paper"
    assert short(LeavesBand("loss_trend", "below")) == "loss trend low"
    assert "any error" in SIGNAL_NAMES.values()


def test_numbers_have_three_digits_and_no_exponent_where_they_are_whole():
    assert (number(10_000.0), number(0.0123456), number(1e-7)) == ("10,000", "0.0123", "1e-07")


@pytest.fixture(scope="module")
def methods():
    conditions = {"ebm": {"value": 13.58, "ci_low": 13.41, "ci_high": 13.75, "n": 76}}
    return {table.name: table for table in methods_tables(conditions)}


def test_a_method_shows_its_conditions_or_a_dash(methods):
    rows = {row[0]: row for row in methods["methods_read"].rows}
    assert len(rows) == 23
    assert rows["EBM"][-1] == "13.6 [13.4, 13.8]"
    assert rows["Mistral 7B"][-1] == "–"
    assert "made in view" in rows["Invariants"][2]
    assert "true category" in rows["Simulated human"][2]


def test_a_method_of_which_nothing_is_declared_yet_has_dashes(monkeypatch):
    monkeypatch.setattr(methods_module, "methods_facts", dict)
    rows = methods_tables({})[0].rows
    assert {row[3:] for row in rows} == {("–",) * 4}


@pytest.mark.parametrize("name", ["transfer", "transfer_data", "transfer_signals"])
def test_what_the_original_argues_is_marked_as_measured_nowhere(methods, name):
    assert methods[name].caption.startswith("Conceptual, not measured: ")
    assert "neither do we" in methods[name].notes[0]


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
    assert "last 4 steps; models are shown the last 50" in table.notes[0]
