import ast
import inspect
from importlib import import_module

import pytest

from failbench.neighbours.peers.mapping import Meaning, issues_of, mapping, rows_of, standards
from failbench.neighbours.peers.rules import rule_peers, rules_of
from failbench.neighbours.peers.skill import PEER, skill_rules


def test_every_issue_of_the_skill_is_mapped_and_no_other():
    assert issues_of(PEER) == {rule.issue for rule in skill_rules()}


def test_every_issue_of_the_installed_runmedic_is_mapped_and_no_other():
    checks = pytest.importorskip("runmedic.checks")
    tree = ast.parse(inspect.getsource(checks))
    made = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Finding"
        and isinstance(node.args[0], ast.Constant)
    }
    patterns = import_module("runmedic.logpatterns").PATTERNS
    assert made | {f"log:{pattern.id}" for pattern in patterns} == issues_of("runmedic")


def test_the_variants_are_found_in_the_source_of_the_installed_runmedic():
    source = inspect.getsource(pytest.importorskip("runmedic.checks"))
    for row in rows_of("variants.csv"):
        assert row["leads_with"].lstrip("^").replace(r"\d+ ", "") in source, row


def test_every_issue_of_the_installed_training_doctor_is_mapped_and_no_other():
    detectors = pytest.importorskip("training_doctor.detectors")
    base = detectors.BaseDetector
    classes = [value for value in vars(detectors).values() if inspect.isclass(value)]
    names = {one.name for one in classes if issubclass(one, base) and one is not base}
    assert names == issues_of("training_doctor")


def test_a_cause_of_another_category_is_refused():
    row = {"peer": "runmedic", "issue": "divergence", "reason": "Its first cause is this."}
    cause = {"cause": "learning_rate_too_high"}
    assert Meaning(**row, **cause, category="optimization").cause
    with pytest.raises(ValueError, match="is no cause of 'data_pipeline'"):
        Meaning(**row, **cause, category="data_pipeline")


def test_every_peer_has_a_mapping_and_says_from_where_on_it_stands_by_an_issue():
    judged = {peer for peer in standards() if peer not in rule_peers() or rules_of(peer)}
    assert {peer for peer, _ in mapping()} == judged
