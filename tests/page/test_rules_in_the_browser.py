"""The rules in JavaScript answer what the rules in Python answer."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.errors import BadInputError
from failbench.features.catalogue import extract
from failbench.features.feature_table import to_frame
from failbench.features.observables import Observables, observe
from failbench.methods.healthy_band import healthy_band
from failbench.methods.rules import ErrorMatches
from failbench.methods.simple_rules import (
    FALLBACK,
    SIMPLE_RULES,
    SimpleRules,
    SimpleRulesSettings,
    band_features,
)
from failbench.page.regexes import browser_pattern
from failbench.page.rules import SIGNALS_OF_FEATURES, HealthyRuns, name_table, rules_section
from failbench.params import read_section
from failbench.readers.names import meaning
from failbench.telemetry import Telemetry
from page_engine import in_node
from page_sections import section as committed_section

ROOT = Path(__file__).parents[2]
HEALTHY = HealthyRuns("transformer", "adamw")
TEXT_PATTERNS = [
    condition.pattern
    for rule in SIMPLE_RULES
    for condition in rule.conditions
    if isinstance(condition, ErrorMatches)
]

VERDICT = """(input, rules) => {
  const log = logReader.read(input, rules);
  const result = rulesEngine.diagnose(log, log.capacity, rules);
  return {
    category: result.category,
    rule: result.rule && result.rule.name,
    features: result.features,
    error: log.error,
    signals: [...log.signals],
    notes: log.notes,
    states: result.rules.map(({ state }) => state),
  };
}"""


@cache
def feature_table():
    return pl.read_parquet(ROOT / "data/features/features.parquet")


@cache
def section():
    metrics = json.loads((ROOT / "data/metrics/intervals.json").read_text())
    chosen = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
    return rules_section(feature_table(), metrics, chosen, HEALTHY)


@cache
def in_python():
    chosen = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
    band = healthy_band(to_frame(HEALTHY.select(feature_table())), band_features())
    frame = to_frame(feature_table().head(1))
    return SimpleRules(band, **chosen.model_dump()).fit(frame, np.array(["unknown"], dtype=object))


def rules_that_decide(frame):
    """The name of the first rule that holds for each run, by Python; None where none does."""
    rules = in_python().rules_
    holds = np.stack([rule.holds(frame) for rule in rules])
    return [rules[row.argmax()].name if row.any() else None for row in holds.T]


def read(texts):
    return in_node(VERDICT, texts, section())


@cache
def runs():
    return pl.read_parquet(ROOT / "data/telemetry/runs.parquet")


def sample_of(count, setting="transformer-adamw"):
    """Failing runs of one setting, spread over scenarios, with their telemetry."""
    architecture, optimizer = setting.split("-")
    failing = (
        runs()
        .filter(
            pl.col("kind") == "failure",
            pl.col("architecture") == architecture,
            pl.col("optimizer") == optimizer,
        )
        .sort("seed", "run_id")
        .head(count)
    )
    steps = pl.read_parquet(ROOT / f"data/telemetry/steps/{setting}.parquet")
    return Telemetry(failing, steps.join(failing.select("run_id"), on="run_id", how="semi"))


# What the log shows of a step, by the names that it is written with.
EVERYTHING = {
    "step": "step",
    "loss": "loss",
    "gradient_norm": "grad_norm",
    "validation_loss": "val_loss",
    "learning_rate": "lr",
    "memory_bytes": "memory_bytes",
    "tokens": "tokens",
    "unknown_tokens": "unknown_tokens",
    "covered_tokens": "covered_tokens",
}


def observed(telemetry):
    at_failure = telemetry.runs.select("run_id", pl.col("failure_step").alias("last_step"))
    return observe(telemetry, at_failure)


def visible_features(observables, columns, with_capacity):
    """Python's features of what the log shows, by row; those of other signals are missing."""
    hidden = [
        name
        for name in ("loss", "gradient_norm", "validation_loss", "memory_bytes", "unknown_tokens")
        if name not in columns
    ]
    steps = observables.steps.with_columns(
        pl.lit(None).cast(observables.steps.schema[name]).alias(name) for name in hidden
    )
    features = extract(Observables(observables.runs, steps))
    shown = set(columns) | ({"capacity"} if with_capacity else set()) | {"error_text"}
    renamed = {"memory_bytes": "memory"}
    shown = {renamed.get(name, name) for name in shown}
    unread = [
        name
        for name, sets in SIGNALS_OF_FEATURES.items()
        if not any(set(signals) <= shown for signals in sets)
    ]
    frame = features.with_columns(pl.lit(None).cast(pl.Float64).alias(name) for name in unread)
    texts = observables.runs.select(
        pl.col(name).fill_null("") for name in ("error_type", "error_message")
    )
    return pl.concat([frame, texts], how="horizontal").to_pandas()


def written(observables, row, columns, line, with_capacity):
    """One run as a log, its error last as Python prints it."""
    of_run = observables.runs.row(row, named=True)
    steps = observables.steps.filter(pl.col("row") == of_run["row"])
    lines = []
    if with_capacity:
        lines.append(f"capacity_bytes={of_run['capacity_bytes']}")
    for step in steps.iter_rows(named=True):
        pairs = {columns[name]: step[name] for name in columns if step[name] is not None}
        lines.append(line(pairs))
    if of_run["error_type"]:
        lines.append("Traceback (most recent call last):")
        lines.append('  File "train.py", line 12, in main')
        lines.append("    loss.backward(retain=0.5)")
        message = of_run["error_message"]
        lines.append(f"{of_run['error_type']}: {message}" if message else of_run["error_type"])
    return "\n".join(lines)


def json_line(pairs):
    return json.dumps(pairs)


def equals_line(pairs):
    return "2026-03-14 10:41:07 INFO " + " ".join(
        f"{name}={value!r}" for name, value in pairs.items()
    )


def colon_line(pairs):
    return ", ".join(f"{name}: {value!r}" for name, value in pairs.items())


def bars_line(pairs):
    return "| " + " | ".join(f"{name} {value!r}" for name, value in pairs.items()) + " |"


def test_every_pattern_answers_alike_in_both_languages_on_every_recorded_error():
    failed = runs().filter(pl.col("error_type").is_not_null())
    texts = sorted(
        {
            f"{kind}: {message}"
            for kind, message in failed.select("error_type", "error_message").iter_rows()
        }
    )
    texts += [
        "",
        "é MemoryError",
        "éMemoryError",
        "MemoryError_",
        "Killed",
        "unKilled",
        "size of tensor a\nmust match",
        "size of tensor a\u2028must match",
    ]
    assert_alike(texts)


@given(
    st.lists(
        st.text()
        | st.sampled_from(
            [
                "size of tensor ",
                " must match",
                "MemoryError",
                "key(s) in state_dict",
                "Missing ",
                "\n",
                "\r",
                "\u2029",
                "Killed",
            ]
        ),
        max_size=6,
    )
)
@settings(max_examples=10, deadline=None)
def test_every_pattern_answers_alike_on_made_up_text(parts):
    texts = ["".join(parts), *("".join(parts[i:]) for i in range(len(parts)))]
    assert_alike([text.encode("utf-8", "replace").decode() for text in texts])


def assert_alike(texts):
    matched = in_node(
        "(input, rules) => rules.rules.flatMap(({ conditions }) => conditions)"
        ".filter(({ kind }) => kind === 'text')"
        ".map(({ pattern }) => rulesEngine.matched(pattern, input))",
        texts,
        section(),
    )
    for text, answers in zip(texts, matched, strict=True):
        expected = [found[0] if (found := re.search(p, text)) else None for p in TEXT_PATTERNS]
        assert answers == expected, text


@pytest.mark.parametrize("pattern", [r"\d+", "[a-z]", "^x", "a{2}", "(?i)x", "(x)", "x$", r"\w"])
def test_a_construct_that_may_differ_between_the_languages_is_refused(pattern):
    with pytest.raises(BadInputError, match="may mean another thing"):
        browser_pattern(pattern)


def test_all_rules_are_exported_in_their_order_with_every_threshold():
    exported = section()["rules"]
    assert [rule["name"] for rule in exported] == [rule.name for rule in SIMPLE_RULES]
    assert [rule["category"] for rule in exported] == [rule.category for rule in SIMPLE_RULES]
    for rule, resolved in zip(exported, in_python().rules_, strict=True):
        for part, condition in zip(rule["conditions"], resolved.conditions, strict=True):
            if part["kind"] == "crosses":
                assert part["threshold"] == pytest.approx(condition.threshold, rel=1e-11)
                assert (part["feature"], part["side"]) == (condition.feature, condition.side)


def test_names_in_logs_mean_what_the_readers_take_them_for():
    names = [
        "train/loss",
        "eval_loss",
        "lr-AdamW",
        "loss_scale",
        "trainer/global_step",
        "val/ppl",
        "train_loss_step",
        "grad_norm",
        "gnorm",
        "validation perplexity",
        "mean loss",
        "nonsense",
        "constructor",
        "toString",
        "epoch",
        "Loss",
        *name_table(),
    ]
    answers = in_node("(input, rules) => logNames.meaning(input, rules)", names, section())
    for name, answer in zip(names, answers, strict=True):
        known = meaning(name)
        if known is not None:
            assert answer == {"of": known.of, "split": known.split or ""}, name
        else:
            assert answer is None or name in name_table(), name


@pytest.mark.parametrize("line", [json_line, equals_line, colon_line, bars_line])
@pytest.mark.parametrize("setting", ["transformer-adamw", "t5-adamw"])
def test_with_every_signal_recorded_runs_get_the_verdict_of_python(line, setting):
    observables, _ = observed(sample_of(76 if line is json_line else 20, setting))
    texts = [
        written(observables, row, EVERYTHING, line, True) for row in range(observables.runs.height)
    ]
    frame = visible_features(observables, EVERYTHING, True)
    expected = in_python().predict(frame)
    decisive = rules_that_decide(frame)
    for row, answer in enumerate(read(texts)):
        assert (answer["category"], answer["rule"]) == (expected[row], decisive[row])
        for name, value in answer["features"].items():
            python = frame[name].iloc[row]
            assert (value is None) == bool(np.isnan(python)), name
            if value is not None:
                assert value == pytest.approx(python, rel=1e-6, abs=1e-12), name


@pytest.mark.parametrize(
    ("shown", "with_capacity"),
    [
        (("step", "loss"), False),
        (("step", "loss", "gradient_norm", "learning_rate"), False),
        (("step", "loss", "memory_bytes"), False),
        (("step", "memory_bytes"), True),
        (("loss",), False),
    ],
)
def test_with_fewer_signals_the_verdict_is_that_of_python_on_the_same_signals(shown, with_capacity):
    observables, _ = observed(sample_of(60))
    columns = {name: EVERYTHING[name] for name in shown}
    texts = [
        written(observables, row, columns, json_line, with_capacity)
        for row in range(observables.runs.height)
    ]
    frame = visible_features(observables, columns, with_capacity)
    answers = read(texts)
    expected = zip(in_python().predict(frame), rules_that_decide(frame), strict=True)
    assert [(answer["category"], answer["rule"]) for answer in answers] == list(expected)
    assert any(answer["rule"] for answer in answers)


def test_the_error_is_read_verbatim_from_a_traceback_even_over_several_lines():
    observables, _ = observed(sample_of(228))
    texts, expected = [], []
    for row, of_run in enumerate(observables.runs.iter_rows(named=True)):
        if of_run["error_type"]:
            texts.append(written(observables, row, EVERYTHING, colon_line, True))
            expected.append(f"{of_run['error_type']}: {of_run['error_message']}".rstrip(": "))
    answers = [answer["error"].rstrip(": ") for answer in read(texts)]
    assert answers == expected


def test_the_last_of_chained_exceptions_is_the_error():
    text = (
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2\n    raise\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    )
    (answer,) = read([text])
    assert answer["error"].startswith("torch.OutOfMemoryError: CUDA out of memory.")
    assert (answer["category"], answer["rule"]) == ("memory_hardware", "cuda_out_of_memory")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("step 1 | loss 2.5\nstep 2 | loss 2.4\nKilled", "killed"),
        (
            (
                '[rank0]: Traceback (most recent call last):\n[rank0]:   File "a"\n'
                "[rank0]: RuntimeError: size mismatch for x"
            ),
            "state_dict_size_mismatch",
        ),
        ("2026 ERROR train: UnicodeDecodeError: 'utf-8' codec can't decode byte", "decoding"),
        ("{'loss': 2.1, 'grad_norm': 4000.0, 'epoch': 1.0}", "gradient_explosion"),
        ("Epoch 1: 50%|##| 50/100 [00:10<00:10, loss=2.3, grad_norm=inf]", "gradient_explosion"),
        ("step=1 val_loss=9.3\nstep=2 val_loss=nan", "catastrophic_perplexity"),
        (
            "step: 1, mem: 10.0/16.0 GiB\nstep: 2, mem: 12.0/16.0 GiB\nstep: 3, mem: 15.9/16.0 GiB",
            "memory_leak",
        ),
        ("gpu_mem_gb: 1", None),
        ("\u001b[32mstep=1\u001b[0m loss=9\nstep=2 loss=3", "loss_explosion"),
    ],
)
def test_common_ways_of_logging_are_read(text, rule):
    (answer,) = read([text])
    assert answer["rule"] == rule
    if rule is None:
        assert answer["category"] == FALLBACK


def test_a_rule_whose_signals_are_not_shown_is_not_evaluated_and_not_denied():
    (answer,) = read(["step=1 loss=2.0\nstep=2 loss=1.9"])
    states = dict(zip([rule.name for rule in SIMPLE_RULES], answer["states"], strict=True))
    assert states["gradient_explosion"] == "not evaluated"
    assert states["unknown_tokens"] == "not evaluated"
    assert states["cuda_out_of_memory"] == "no match"
    assert states["catastrophic_perplexity"] == "no match"


def test_a_log_that_starts_anew_is_read_from_its_last_start():
    (answer,) = read(["step=1 loss=99\nstep=2 loss=99\nstep=1 loss=2.0\nstep=2 loss=1.0"])
    assert answer["features"]["max_loss"] == 2.0
    assert any("go back" in note for note in answer["notes"])


def test_memory_without_a_unit_is_said_not_to_be_read():
    (answer,) = read(["step=1 mem=15.9\nstep=2 mem=16"])
    assert answer["features"]["memory_warning"] is None
    assert any("without a unit" in note for note in answer["notes"])


def test_the_settings_of_the_export_are_those_of_the_pipeline(monkeypatch):
    monkeypatch.chdir(ROOT)
    chosen = read_section("simple_rules", SimpleRulesSettings)
    metrics = json.loads(Path("data/metrics/intervals.json").read_text())
    assert rules_section(feature_table(), metrics, chosen, HEALTHY) == section()


def test_metrics_without_the_accuracy_of_the_rules_are_refused():
    chosen = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
    with pytest.raises(BadInputError, match=r"simple_rules\.accuracy"):
        rules_section(feature_table(), {"19": {}}, chosen, HEALTHY)


def test_an_architecture_without_healthy_runs_is_refused():
    with pytest.raises(BadInputError, match="no success of mamba"):
        HealthyRuns("mamba", "adamw").select(feature_table())


def test_the_committed_page_has_the_section_that_python_makes():
    assert committed_section("rules") == json.loads(json.dumps(section()))
