"""A contradiction of settings is found, and a close miss is not."""

import json

import pytest

from failbench.diagnose.configuration import read_configuration
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.setting_rules import configuration_findings, setting_rules

LOG = "step 1 lr 1e-3 loss 3 grad_norm 2\nstep 1000 lr 5e-4 loss 2 grad_norm 1\n"
EXPLODED = LOG + "step 1001 lr 5e-4 loss 9 grad_norm 5000\n"
LOST = LOG + "step 1001 lr 5e-4 loss nan grad_norm nan\n"
RATE = {"optimizer": "AdamW"}


def found(tmp_path, settings, log=""):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(settings, indent=1))
    return configuration_findings(read_configuration(path), read_text("-", [log.encode()]))


CASES = [
    ("adam_rate_high", {**RATE, "lr": 0.5}, "", {**RATE, "lr": 0.1}, ""),
    ("adam_rate_low", {**RATE, "lr": 1e-8}, "", {**RATE, "lr": 1e-7}, ""),
    ("sgd_rate_high", {"optim": "sgd", "lr": 11}, "", {"optim": "adafactor", "lr": 0.5}, ""),
    ("sgd_rate_low", {"optim": "SGD", "lr": 1e-6}, "", {**RATE, "lr": 1e-6}, ""),
    ("adafactor_rate_high", {"optim": "adafactor", "lr": 2}, "", {"optim": "sgd", "lr": 2}, ""),
    ("lion_rate_high", {"optim": "lion_8bit", "lr": 0.05}, "", {**RATE, "lr": 0.05}, ""),
    ("rate_zero", {"learning_rate": 0}, "", {"min_lr": 0}, ""),
    ("weight_decay_large", {"weight_decay": 0.9}, "", {"weight_decay": 0.5}, ""),
    ("half_without_scaling", {"fp16": {"enabled": True, "loss_scale": 1}}, "",
     {"fp16": {"enabled": True, "loss_scale": 0}}, ""),
    ("half_weights", {"precision": "16-true"}, "", {"precision": "16-mixed"}, ""),
    ("two_half_precisions", {"fp16": True, "bf16": True}, "", {"fp16": False, "bf16": True}, ""),
    ("warmup_longer_than_run", {"warmup_steps": 200, "max_steps": 100}, "",
     {"warmup_steps": 200, "max_steps": -1}, ""),
    ("decay_shorter_than_run", {"lr_decay_iters": 100, "max_iters": 600}, "",
     {"lr_decay_iters": 600, "max_iters": 600}, ""),
    ("decay_shorter_than_log", {"lr_decay_iters": 900}, LOG, {"lr_decay_iters": 1000}, LOG),
    ("run_longer_than_planned", {"max_steps": 400}, LOG, {"max_steps": 500}, LOG),
    ("table_smaller_than_tokenizer", {"vocab_size": 50257, "tokenizer": {"vocab_size": 50258}}, "",
     {"vocab_size": 50304, "tokenizer": {"vocab_size": 50258}}, ""),
    ("sequences_longer_than_positions", {"max_seq_length": 1025, "n_positions": 1024}, "",
     {"max_seq_length": 1024, "n_positions": 1024}, ""),
    ("no_clipping_zero", {"grad_clip": 0.0}, EXPLODED, {"grad_clip": 0.0}, LOG),
    ("no_clipping_none", {"gradient_clip_val": None}, LOST, {"gradient_clip_val": 1.0}, LOST),
    ("logged_rate_above", {"lr": 5e-5}, LOG, {"lr": 1.1e-4}, LOG),
    ("logged_rate_below", {"lr": 0.05, "warmup_steps": 100}, LOG,
     {"lr": 0.05, "warmup_steps": 5000}, LOG),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "wrong", "log", "right", "other_log"), CASES)
def test_a_rule_holds_where_it_must_and_not_beside_it(tmp_path, rule, wrong, log, right, other_log):
    assert rule in [finding.id for finding in found(tmp_path, wrong, log)]
    assert rule not in [finding.id for finding in found(tmp_path, right, other_log)]


def test_every_rule_has_its_case():
    assert [rule.id for rule in setting_rules()] == [case[0] for case in CASES]


def test_a_finding_names_file_setting_value_and_line(tmp_path):
    (finding,) = found(tmp_path, {"seed": 1, "warmup_steps": 200, "max_steps": 100})
    assert (finding.kind, finding.source, finding.line) == ("setting", "config.json", 3)
    assert finding.signal == "warmup_steps"
    assert (finding.value, finding.relation, finding.threshold) == (200.0, "above", 100.0)
    assert finding.quote == "warmup_steps: 200"
    assert finding.statement.startswith("warmup_steps is 200, and the run ends after 100 steps")


def test_a_usual_configuration_says_nothing(tmp_path):
    usual = {
        "learning_rate": 1e-3, "optim": "adamw_torch", "weight_decay": 0.1, "max_grad_norm": 1.0,
        "warmup_steps": 100, "max_steps": 1000, "bf16": True, "fp16": False, "vocab_size": 50304,
    }  # fmt: skip
    assert found(tmp_path, usual, EXPLODED) == ()
