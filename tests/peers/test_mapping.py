from __future__ import annotations

import ast
import inspect
from importlib import import_module

import pytest

from failbench.neighbours.peers.mapping import Meaning, issues_of, mapping, rows_of, standards
from failbench.neighbours.peers.rules import rule_peers, rules_of
from failbench.neighbours.peers.skill import PEER, skill_rules

ENUMERATED = {
    "runmedic": {
        "non_finite",
        "divergence",
        "loss_spikes",
        "no_learning",
        "overfitting",
        "val_below_train",
        "grad_spikes",
        "constant_lr_plateau",
        "input_bound",
        "slow_steps",
        "slowdown",
        "memory_growth",
        "log:cuda_oom",
        "log:dataloader_killed",
        "log:amp_overflow",
        "log:anomaly_nan",
        "log:nccl_timeout",
        "log:device_mismatch",
        "log:backward_twice",
        "log:inplace_grad",
        "log:unused_params",
    },
    "training_doctor": {
        "lr_too_high",
        "lr_too_low",
        "plateau",
        "early_plateau",
        "overfitting",
        "train_eval_mismatch",
        "gradient_instability",
        "mixed_precision_instability",
    },
}
"""What the sources of runmedic 0.1.1 and training-doctor 0.1.0 can report."""


@pytest.mark.parametrize("peer", ENUMERATED)
def test_every_issue_of_a_peer_is_mapped_and_no_other(peer):
    assert issues_of(peer) == ENUMERATED[peer]


def test_every_issue_of_the_skill_is_mapped_and_no_other():
    assert issues_of(PEER) == {rule.issue for rule in skill_rules()}


def test_the_issues_that_are_enumerated_are_those_of_the_installed_runmedic():
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
    assert made | {f"log:{pattern.id}" for pattern in patterns} == ENUMERATED["runmedic"]


def test_the_variants_are_found_in_the_source_of_the_installed_runmedic():
    source = inspect.getsource(pytest.importorskip("runmedic.checks"))
    tree = ast.parse(source)
    texts = [
        node.value if isinstance(node, ast.Constant) else ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr)
    ]
    for row in rows_of("variants.csv"):
        words = row["leads_with"].lstrip("^").replace(r"\d+ ", "")
        assert any(words in str(text) for text in texts), words


def test_the_issues_that_are_enumerated_are_those_of_the_installed_training_doctor():
    detectors = pytest.importorskip("training_doctor.detectors")
    base = detectors.BaseDetector
    classes = [value for value in vars(detectors).values() if inspect.isclass(value)]
    names = {one.name for one in classes if issubclass(one, base) and one is not base}
    assert names == ENUMERATED["training_doctor"]


def test_a_cause_of_another_category_is_refused():
    row = {"peer": "runmedic", "issue": "divergence", "reason": "Its first cause is this."}
    cause = {"cause": "learning_rate_too_high"}
    assert Meaning(**row, **cause, category="optimization").cause
    with pytest.raises(ValueError, match="is no cause of 'data_pipeline'"):
        Meaning(**row, **cause, category="data_pipeline")


def test_every_peer_has_a_mapping_and_says_from_where_on_it_stands_by_an_issue():
    judged = {peer for peer in standards() if peer not in rule_peers() or rules_of(peer)}
    assert {peer for peer, _ in mapping()} == judged


def test_a_severity_bounds_as_the_peer_orders_them():
    standard = standards()["runmedic"]
    assert standard.reaches("warning", "critical", None)
    assert standard.reaches("warning", "warning", None)
    assert not standard.reaches("warning", "info", None)


def test_a_confidence_bounds_from_itself_on():
    standard = standards()["training_doctor"]
    assert standard.reaches("0.3", "info", 0.3)
    assert not standard.reaches("0.3", "critical", 0.29)
