"""The report of the benchmark: what it consists of, and what its methods read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from failbench.features.catalogue import KEYWORD_FEATURES, PAPER_FEATURES
from failbench.features.feature_table import to_frame
from failbench.methods.catalogue import CATALOGUE
from failbench.methods.healthy_band import healthy_band
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.improved_tree import TREE
from failbench.methods.improved_tree import band_features as improved_features
from failbench.methods.llm.prompt import prompts_of
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRulesSettings
from failbench.methods.simple_rules import band_features as simple_features
from failbench.monitor.invariants import CATALOGUE as INVARIANTS
from failbench.monitor.signals import SIGNALS
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.cells import Estimate
from failbench.reporting.study_report import StudyReport, Summary
from failbench.scenarios import Scenario
from failbench.studies.benchmark.chosen_twin import ChosenTwin, chosen_twin
from failbench.studies.benchmark.declarations import checklist
from failbench.studies.benchmark.figure import twin_picture
from failbench.studies.benchmark.methods_tables import CONDITIONS, methods_tables, prompt_table
from failbench.studies.benchmark.results import Described, Scale, described, scale_of
from failbench.studies.benchmark.rules_tables import nodes, rules_tables
from failbench.studies.benchmark.settings import BenchmarkSettings
from failbench.studies.benchmark.signals_tables import KIND_ORDER, families, signals_tables
from failbench.studies.benchmark.tables import counts, scenarios_tables
from failbench.studies.benchmark.tree_figure import tree_picture, tree_points
from failbench.studies.benchmark.workflow_figure import workflow_picture, workflow_points
from failbench.telemetry import STEP_SCHEMA, Telemetry
from failbench.vocabulary import CATEGORIES


@dataclass(frozen=True)
class Inputs:
    """What is described."""

    telemetry: Telemetry
    scenarios: Sequence[Scenario]
    features: pl.DataFrame
    difficulty: pl.DataFrame
    estimates: Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True)
class MethodSettings:
    """Settings of methods that tables print."""

    simple: SimpleRulesSettings
    improved: ImprovedRulesSettings
    llm: LlmAgentsSettings


def report(
    inputs: Inputs, study: ReferenceStudy, methods: MethodSettings, settings: BenchmarkSettings
) -> StudyReport:
    """Describe the benchmark and the methods, from declarations and recordings."""
    in_reference = (
        (pl.col("architecture") == study.architecture)
        & (pl.col("optimizer") == study.optimizer)
        & (pl.col("scale") == study.scale)
    )
    runs = inputs.telemetry.runs
    rows = described(runs, inputs.scenarios, inputs.difficulty, in_reference)
    scale = scale_of(runs)
    chosen = chosen_twin(inputs.telemetry, inputs.scenarios, in_reference, settings)
    successes = study.successes(inputs.features)
    bounded = sorted({*simple_features(), *improved_features()})
    band = healthy_band(to_frame(successes), bounded)
    shown = methods.llm.model_copy(update={"steps": settings.prompt_steps})
    prompt = prompts_of(inputs.telemetry, [chosen.run_id], shown)[chosen.run_id]
    conditions = {
        method: estimates[CONDITIONS]
        for method, estimates in inputs.estimates.items()
        if CONDITIONS in estimates
    }
    of_tree = nodes()
    drawn = workflow_counts(len(rows))
    metrics = {
        **_metrics(rows, scale, chosen),
        "healthy_runs": successes.height,
    }
    return StudyReport(
        metrics=metrics,
        points={
            "twin": chosen.points,
            "improved_rules_tree": tree_points(of_tree),
            "workflow": workflow_points(drawn),
        },
        tables=(
            *scenarios_tables(rows, scale, f"{study.architecture} with {study.optimizer}"),
            *signals_tables(),
            *rules_tables(band, successes.height, methods.simple, methods.improved),
            *methods_tables(conditions, settings.confidence),
            prompt_table(
                prompt,
                chosen.run_id,
                settings.prompt_steps,
                methods.llm.steps,
                methods.llm.temperature,
            ),
        ),
        figures={
            "twin": twin_picture(chosen),
            "workflow": workflow_picture(drawn),
            "improved_rules_tree": tree_picture(),
        },
        summary=(
            Summary(
                ("category", "scenarios", "failing runs"),
                [
                    (
                        category,
                        sum(row.category == category for row in rows),
                        sum(row.runs for row in rows if row.category == category),
                    )
                    for category in CATEGORIES
                ],
            ),
            Summary(
                ("drawn over its twin", "onset", "failure", "departs first"),
                [(chosen.run_id, chosen.onset_step, chosen.failure_step, chosen.signal)],
            ),
        ),
    )


def workflow_counts(scenarios: int) -> dict[str, int]:
    """The numbers that boxes of the workflow print."""
    return {
        "scenarios": scenarios,
        "categories": len(CATEGORIES),
        "step_columns": len(STEP_SCHEMA) - 2,
        "signals": len(SIGNALS),
        "features": len(PAPER_FEATURES),
        "invariants": len(INVARIANTS),
    }


def _metrics(rows: Sequence[Described], scale: Scale, chosen: ChosenTwin) -> dict[str, object]:
    kinds = {kind: sum(each.kind == kind for each in INVARIANTS) for kind in KIND_ORDER}
    runs: dict[str, object] = {**scale.runs, "all": sum(scale.runs.values())}
    return {
        "scenarios": {
            "all": len(rows),
            "with_several_outcomes": sum(row.outcomes > 1 for row in rows),
            "by": counts(rows),
        },
        "runs": runs,
        "settings": scale.settings,
        "architectures": scale.architectures,
        "optimizers": scale.optimizers,
        "seeds": scale.seeds,
        **scale.spans,
        "features": len(PAPER_FEATURES),
        "keywords": len(KEYWORD_FEATURES),
        "signals": len(SIGNALS),
        "invariants": {
            "all": len(INVARIANTS),
            "fitted": sum(each.bound is None for each in INVARIANTS),
            "families": len(families()),
            "kinds": kinds,
        },
        "simple_rules": len(SIMPLE_RULES),
        "improved_rules": {
            "nodes": len(TREE.nodes),
            "refinements": len(TREE.refinements),
            "leaves": len(TREE.leaves),
        },
        "methods": {
            "all": len(CATALOGUE),
            "made_in_view": sum(entry.made_in_view for entry in CATALOGUE),
            "told_the_true_category": sum(entry.reads_true_category for entry in CATALOGUE),
        },
        "checklist": len(checklist()),
        "twin": {
            "run_id": chosen.run_id,
            "scenario": chosen.scenario.id,
            "title": chosen.scenario.title,
            "category": chosen.scenario.category,
            "root_cause": chosen.scenario.root_cause,
            "onset_step": chosen.onset_step,
            "failure_step": chosen.failure_step,
            "steps_to_failure": chosen.steps_to_failure,
            "candidates": chosen.candidates,
            "signal": chosen.signal,
            "departs_at": chosen.departs,
            "loss_at_failure": chosen.at("failing", chosen.failure_step, "loss"),
            "twin_loss_at_failure": chosen.at("twin", chosen.failure_step, "loss"),
            "signal_at_departure": chosen.at("failing", chosen.departs, chosen.signal),
            "twin_signal_at_departure": chosen.at("twin", chosen.departs, chosen.signal),
        },
    }
