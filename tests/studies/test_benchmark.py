"""What is declared fits the code and the data; what was recorded; the run over its twin."""

from __future__ import annotations

import re

import polars as pl
import pytest

import benchmark
from benchmark import (
    BROKEN,
    DIFFICULTY_SCHEMA,
    LONGEST,
    bound_words,
    declarations,
    described,
    scale_of,
    signals_of_tree,
)
from failbench.base.errors import BadInputError
from failbench.base.methods import ENTRIES, is_language_model
from failbench.base.telemetry import Telemetry
from failbench.base.vocabulary import ABSTAIN
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import TREE
from failbench.methods.rules import ErrorMatches
from failbench.methods.simple_rules import SIMPLE_RULES, band_features
from failbench.monitor.invariants import CATALOGUE as INVARIANTS
from failbench.study import read_facts
from failbench.study.rule_words import short, threshold_words, wordings
from failbench.study.style import LEAST_TEXT
from shared.benchmark_drawing import Workflow, lines_of, width_of
from shared.benchmark_twin import BenchmarkSettings, TwinRule, twin_of

REFERENCE = (pl.col("architecture") == "transformer") & (pl.col("optimizer") == "adamw")
SETTINGS = BenchmarkSettings(
    twin=TwinRule(seed=0, onset="mid_run", outcome="diverged"),
    signals=("learning_rate", "gradient_norm"),
    before=3,
    after=2,
    prompt_steps=2,
    confidence=0.95,
)


@pytest.fixture
def workflow(repository) -> Workflow:
    return read_facts(repository / "paper/captions/benchmark/workflow.json", Workflow)


def test_methods_that_never_abstain_by_the_table_never_did_and_the_others_do(repository):
    abstained = {}
    for path in sorted((repository / "data/predictions/nested_cv").glob("*.parquet")):
        answers = pl.read_parquet(path, columns=["method", "prediction"])
        for (method,), rows in answers.group_by("method"):
            abstained[method] = ABSTAIN in rows["prediction"]
    declared = {
        name: abstains.startswith("yes")
        for name, _, abstains, _ in declarations("methods", 4)[1:]
        if not is_language_model(name)
    }
    assert {name: abstained[name] for name in declared} == declared


def test_a_method_that_is_made_in_view_says_so_and_no_other_does():
    named = {name for name, learnt, *_ in declarations("methods", 4) if "made in view" in learnt}
    in_view = {name for name, entry in ENTRIES.items() if entry.made_in_view}
    assert named | {"invariants_abstaining"} == in_view  # which refers to the row of invariants


@pytest.mark.parametrize("row", ["ebm,folds,no", "ebm,,no,terms"])
def test_a_broken_row_is_refused_by_its_number(tmp_path, monkeypatch, row):
    (tmp_path / "methods.csv").write_text(f"method,learnt_from,abstains,readable\n{row}\n")
    monkeypatch.setattr(benchmark, "DECLARED", tmp_path)
    with pytest.raises(BadInputError, match=r"methods\.csv: row 1: "):
        declarations("methods", 4)


def test_every_method_has_a_box_of_the_workflow_or_is_left_out(workflow):
    drawn = [method for box in workflow.boxes for method in box.methods]
    assert sorted([*drawn, *workflow.left_out]) == sorted(ENTRIES)


def test_every_source_of_a_drawn_method_reaches_its_box_but_the_true_category(workflow):
    sources = {box.id: set(box.sources) for box in workflow.boxes}
    for box in workflow.boxes:
        reaching = set().union(*(sources[of] for of, to in workflow.joined if to == box.id))
        for method in box.methods:
            assert ENTRIES[method].reads - {"true category"} <= reaching, method


def test_lines_are_no_wider_than_asked_and_lose_no_word():
    text = "one of many root causes, injected into a training run at its onset"
    lines = lines_of(text, 60.0)
    assert len(lines) > 2
    assert all(width_of(line) <= 60.0 for line in lines)
    assert " ".join(lines) == text
    assert lines_of("incomprehensibilities all", 5 * LEAST_TEXT) == ("incomprehensibilities", "all")


@pytest.fixture
def difficulty(small_scenarios) -> pl.DataFrame:
    names = [scenario.id for scenario in small_scenarios]
    return pl.DataFrame({"scenario": names, "measured": "hard"}, schema=DIFFICULTY_SCHEMA)


@pytest.fixture
def telemetry(small_telemetry) -> Telemetry:
    """In which the gradient norm of the divergence departs one step before its learning rate."""
    run = pl.col("run_id") == "runaway-transformer-adamw-s0"
    step = pl.col("step")
    return Telemetry(
        small_telemetry.runs,
        small_telemetry.steps.with_columns(
            gradient_norm=pl.when(run & (step >= 5))
            .then(9.0)
            .otherwise("gradient_norm")
            .cast(pl.Float32),
            learning_rate=pl.when(run & (step >= 6)).then(0.5).otherwise("learning_rate"),
        ),
    )


def test_a_scenario_has_its_runs_outcome_and_steps(small_telemetry, small_scenarios, difficulty):
    rows = described(small_telemetry.runs, small_scenarios, difficulty, REFERENCE)
    assert rows["scenario"].to_list() == [scenario.id for scenario in small_scenarios]
    late = rows.row(by_predicate=pl.col("scenario") == "late_crash", named=True)
    assert (late["runs"], late["outcome"], late["outcomes"]) == (1, "crash", 1)
    assert (late["steps"], late["reference_steps"], late["measured"]) == (3.0, 3.0, "hard")


def test_runs_are_counted_by_kind_and_seeds_by_setting(small_telemetry):
    assert scale_of(small_telemetry.runs) == {
        "runs": {"failure": 3, "twin": 3, "all": 6},
        "settings": 1,
        "architectures": 1,
        "optimizers": 1,
        "seeds": 1,
    }


def test_a_scenario_that_was_not_recorded_is_refused(small_telemetry, small_scenarios, difficulty):
    runs = small_telemetry.runs.filter(pl.col("scenario") != "runaway")
    with pytest.raises(BadInputError, match=r"runs\.parquet.*'runaway'.*failbench record"):
        described(runs, small_scenarios, difficulty, REFERENCE)


def test_the_first_signal_to_depart_is_drawn_with_the_steps_around(telemetry, small_scenarios):
    twin, points = twin_of(telemetry, small_scenarios, REFERENCE, SETTINGS)
    assert (twin["run_id"], twin["candidates"]) == ("runaway-transformer-adamw-s0", 1)
    assert (twin["signal"], twin["departs_at"]) == ("gradient_norm", 5)
    assert (twin["onset_step"], twin["failure_step"], twin["steps_to_failure"]) == (5, 6, 1)
    assert points.columns == ["role", "step", "loss", "gradient_norm"]
    for role in ("failing", "twin"):
        assert points.filter(role=role)["step"].to_list() == list(range(2, 9))
    assert (twin["signal_at_departure"], twin["twin_signal_at_departure"]) == (9.0, 1.5)


def test_the_middle_run_is_chosen_whatever_the_order_of_rows(telemetry, small_scenarios):
    lags = {"runaway_a": 9, "runaway_b": 2, "runaway_c": 4}
    run = telemetry.runs.filter(pl.col("run_id") == "runaway-transformer-adamw-s0")
    twin = telemetry.runs.filter(pl.col("twin_of") == "runaway-transformer-adamw-s0")
    runs, steps = [], []
    for name, lag in lags.items():
        runs.append(run.with_columns(run_id=pl.lit(name), failure_step=pl.lit(lag, pl.Int32) + 5))
        runs.append(twin.with_columns(run_id=pl.lit(f"{name}-twin"), twin_of=pl.lit(name)))
        for run_id, source in ((name, run), (f"{name}-twin", twin)):
            of_source = telemetry.steps.filter(pl.col("run_id") == source["run_id"][0])
            steps.append(of_source.with_columns(run_id=pl.lit(run_id)))
    for order in (runs, runs[::-1]):
        several = Telemetry(pl.concat(order), pl.concat(steps))
        twin, _ = twin_of(several, small_scenarios, REFERENCE, SETTINGS)
        assert (twin["run_id"], twin["candidates"]) == ("runaway_c", 3)


def test_a_rule_that_no_run_fits_is_refused_by_its_parameter(telemetry, small_scenarios):
    none = SETTINGS.model_copy(update={"twin": TwinRule(seed=7, onset="mid_run", outcome="hung")})
    with pytest.raises(BadInputError, match=r"params\.yaml: benchmark\.twin: no recorded run"):
        twin_of(telemetry, small_scenarios, REFERENCE, none)


def test_a_bound_is_fitted_exactly_where_the_catalogue_has_none():
    for invariant in INVARIANTS:
        assert bound_words(invariant).endswith("fitted") == (invariant.bound is None)
        assert bound_words(invariant).startswith(invariant.relation)


def test_a_threshold_is_the_one_that_the_rule_is_held_against():
    band = HealthyBand(dict.fromkeys(band_features(), 2.0), dict.fromkeys(band_features(), 0.5))
    limits = {"gradient_norm": 1000.0, "perplexity": 10_000.0}
    thresholds = {
        rule.name: [threshold_words(each, band, 3.0, limits) for each in rule.conditions]
        for rule in SIMPLE_RULES
    }
    assert thresholds["gradient_explosion"] == ["1,000 (the paper)"]
    assert thresholds["unknown_tokens"] == ["3.5 (healthy runs)"]
    assert thresholds["low_coverage"] == ["0.5 (healthy runs)"]
    assert thresholds["memory_leak"] == ["0.5 (what the feature means)", "3.5 (healthy runs)"]
    assert thresholds["killed"] == ["–"]


def test_signals_have_names_of_their_own_and_those_of_text_come_first():
    signals = signals_of_tree()
    names = [short(each) for each in signals]
    assert len(set(names)) == len(names) == len(set(TREE.conditions()))
    of_text = [isinstance(each, ErrorMatches) for each in signals]
    assert of_text == sorted(of_text, reverse=True)


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


def test_long_lines_of_the_prompt_are_broken_after_commas_to_the_last_letter():
    line = ",".join(f"column_{n}" for n in range(30))
    parts = BROKEN.findall(line)
    assert "".join(parts) == line
    assert max(map(len, parts)) <= LONGEST
    assert all(part.endswith(",") for part in parts[:-1])
    unbroken = "x" * (2 * LONGEST)
    assert BROKEN.findall(f"{unbroken},y") == [f"{unbroken},", "y"]


def test_every_place_that_the_checklist_names_is_there(repository):
    for *_, where in declarations("reproduction_checklist", 4)[1:]:
        for place in where.split(", "):
            assert (repository / place).exists(), place
