"""What is known of causes: complete, specific, and in agreement with the rest of the project."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import re
from pathlib import Path

import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import advice, cause_of_scenario, causes
from failbench.monitor.invariants import CATALOGUE

SCENARIOS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["category"]
    for path in Path("data/scenarios").glob("*/*.json")
}
REMEDIES = [
    (name, place, remedy)
    for name, known in advice().items()
    for place, remedy in enumerate(known.remedies)
]
MEASUREMENTS = [(name, one) for name, known in advice().items() for one in known.settle]
GENERIC = re.compile(
    r"(?:another|different|other) optimizer|add more layers|(?:try|use) (?:another|a different)"
    r"|batch norm|try (?:a|an) |play with|tune (?:the )?hyper|(?:more|better|clean) data\b"
    r"|as needed|appropriate|carefully|make sure|simply|best practice",
    re.IGNORECASE,
)
LOWER_RATE = re.compile(
    r"(?:lower|reduce|halve|divide|decrease)[^.;]{0,40}learning rate", re.IGNORECASE
)
SPECIFIC = re.compile(r"`[^`]+`|\d")
CHECKABLE = re.compile(
    r"\d|\b(?:fall|rise|stay|settle|end|pass|equal|agree|flat|constant|zero|half|empty|finite"
    r"|fewer|below|above|no longer|none|same|double|within)[a-z]*\b",
    re.IGNORECASE,
)
SPOILS = (
    "device_defect",
    "learning_rate_too_high",
    "loss_scale_wrong",
    "optimizer_state_wrong",
    "weight_decay_too_strong",
    "gradients_explode",
    "data_repeated",
    "text_corrupted",
    "labels_wrong",
    "tokenization_mismatch",
    "ranks_diverge",
    "loss_wrong",
    "objective_reversed",
    "layer_unstable",
    "gradients_not_cleared",
)
"""Causes that leave weights or state behind which cannot be trained on."""


def test_causes_stand_in_the_order_of_categories():
    order = [CATEGORIES.index(cause.category) for cause in causes().values()]
    assert order == sorted(order)
    assert set(order) == set(range(len(CATEGORIES)))


def test_titles_tell_causes_apart():
    titles = [cause.title for cause in causes().values()]
    assert len(set(titles)) == len(titles)


def test_every_cause_has_advice_in_the_same_order():
    assert list(advice()) == list(causes())


def test_every_scenario_has_a_cause_of_its_category():
    mapped = cause_of_scenario()
    assert set(mapped) == set(SCENARIOS)
    for scenario, cause in mapped.items():
        assert causes()[cause].category == SCENARIOS[scenario], scenario


def test_a_cause_has_at_most_three_remedies_and_two_measurements():
    for name, known in advice().items():
        assert 1 <= len(known.remedies) <= 3, name
        assert 1 <= len(known.settle) <= 2, name


def test_no_two_causes_have_the_same_first_change():
    first = {name: words_of(known.remedies[0].change) for name, known in advice().items()}
    for (one, these), (other, those) in itertools.combinations(first.items(), 2):
        assert len(these & those) < 0.6 * min(len(these), len(those)), (one, other)


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z_]{3,}", text.lower()))


@pytest.mark.parametrize("field", ["change", "why", "expected", "verify", "otherwise"])
def test_no_sentence_of_a_remedy_stands_twice(field):
    said = [getattr(remedy, field) for _, _, remedy in REMEDIES]
    assert len(set(said)) == len(said)


def test_no_remedy_is_generic():
    for name, _, remedy in REMEDIES:
        for text in remedy.model_dump(include={"change", "verify", "otherwise"}).values():
            assert not GENERIC.search(text), (name, text)


def test_only_a_rate_that_is_too_high_is_lowered():
    lowered = {name for name, _, remedy in REMEDIES if LOWER_RATE.search(remedy.change)}
    assert lowered == {"learning_rate_too_high"}


def test_a_change_names_a_setting_a_call_or_a_number():
    for name, _, remedy in REMEDIES:
        assert SPECIFIC.search(remedy.change + remedy.verify), name
    quick = [remedy for _, place, remedy in REMEDIES if place == 0 and remedy.quick]
    assert all("`" in remedy.change + remedy.verify for remedy in quick)


def test_what_is_expected_can_be_checked():
    for name, _, remedy in REMEDIES:
        assert CHECKABLE.search(remedy.expected), name
        assert len(remedy.metric) < 50, name


def test_what_can_be_tried_at_once_takes_minutes_and_risks_little():
    for name, _, remedy in REMEDIES:
        if remedy.quick:
            assert (remedy.effort, remedy.risk != "high") == ("minutes", True), name


@pytest.mark.parametrize("name", SPOILS)
def test_where_weights_are_spoilt_an_older_checkpoint_is_named(name):
    assert any(
        re.search(r"checkpoint (?:from before|whose|of)|start anew|from a fresh", remedy.change)
        for remedy in advice()[name].remedies
    )


def test_settling_names_invariants_that_the_monitor_has():
    known = {invariant.id for invariant in CATALOGUE}
    for name, measurement in MEASUREMENTS:
        named = measurement.invariants
        assert set(named) <= known, name
        assert len(set(named)) == len(named) <= 3, name


def test_most_causes_are_settled_by_the_monitor_and_every_category_is():
    watched = {name for name, measurement in MEASUREMENTS if measurement.invariants}
    assert len(watched) > len(causes()) * 2 / 3
    assert {causes()[name].category for name in watched} == set(CATEGORIES)


def test_the_monitor_is_asked_only_for_what_it_measures():
    for name, measurement in MEASUREMENTS:
        if "failbench.monitor" in measurement.measure:
            assert measurement.invariants or "memory map" in measurement.measure, name


def said_by(name):
    known = advice()[name]
    texts = [known.mechanism]
    for remedy in known.remedies:
        texts += [remedy.change, remedy.why, remedy.expected, remedy.verify, remedy.otherwise]
    return texts + [text for one in known.settle for text in (one.measure, one.tells)]


def test_every_name_of_torch_is_one_that_it_has():
    torch = pytest.importorskip("torch")
    for module in ("distributed.algorithms.join", "distributed.optim", "utils.collect_env"):
        pytest.importorskip(f"torch.{module}")
    named = {
        name
        for cause in advice()
        for text in said_by(cause)
        for name in re.findall(r"\btorch((?:\.\w+)+)", text)
    }
    assert len(named) > 30
    for name in named:
        *path, last = name.strip(".").split(".")
        assert hasattr(functools.reduce(getattr, path, torch), last), name


SETTINGS = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "gradient_checkpointing",
    "train_sampling_strategy",
    "per_device_eval_batch_size",
    "prediction_loss_only",
    "eval_accumulation_steps",
    "batch_eval_metrics",
    "eval_on_start",
    "use_liger_kernel",
    "dataloader_num_workers",
    "dataloader_prefetch_factor",
    "dataloader_persistent_workers",
    "warmup_steps",
    "max_grad_norm",
    "load_best_model_at_end",
    "ddp_timeout",
    "ddp_find_unused_parameters",
    "remove_unused_columns",
    "save_total_limit",
    "max_steps",
)


def test_settings_of_transformers_are_ones_that_it_has():
    transformers = pytest.importorskip("transformers")
    there = inspect.signature(transformers.TrainingArguments).parameters
    said = " ".join(text for cause in advice() for text in said_by(cause))
    for name in SETTINGS:
        assert name in there, name
        assert name in said, name


def test_advice_is_written_in_sentences():
    for name in advice():
        for text in said_by(name):
            assert text.endswith("."), (name, text)
            assert "  " not in text, (name, text)
            assert text.count("`") % 2 == 0, (name, text)
            assert text[0].isupper() or text[0] in "`s", (name, text)
