"""The report of language models: what they answered, beside what the paper reports of them."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.llm_agents.results import agent_metrics, agent_results
from failbench.studies.llm_agents.tables import agents_table


def report(
    predictions: pl.DataFrame,
    explanations: pl.DataFrame,
    answered: pl.DataFrame,
    paper: Reported,
    intervals: ScenarioIntervalSettings,
) -> StudyReport:
    """Score every model that answered every run; of the others say how many they answered.

    Parameters
    ----------
    predictions, explanations, answered
        As in :class:`failbench.studies.llm_agents.measure.AgentAnswers`.
    paper
        The numbers that the paper prints.
    intervals
        Of the section ``statistics`` of params.yaml.
    """
    models = agent_results(predictions, explanations, answered, intervals)
    rows = [
        (label, str(result.available), result.answered, result.runs)
        for label, result in models.items()
    ]
    return StudyReport(
        metrics=agent_metrics(models),
        tables=(agents_table(models, paper, confidence=intervals.confidence),),
        summary=(Summary(("model", "available", "answered", "runs"), rows),),
    )
