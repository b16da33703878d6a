"""Stage llm_agents: how often language models are right, and how far their explanations hold.

Only models that answered every run are scored; where nothing is cached, the metrics say so.
"""

from pathlib import Path
from typing import Any

import polars as pl

from failbench import study as st
from shared.llm_agents import ANSWERED_SCHEMA, EXPLANATION_SCHEMA

PREDICTIONS = Path("data/predictions/nested_cv/llm_agents.parquet")
MEASUREMENTS = Path("data/measurements/llm_agents")

ESTIMANDS = {
    "unreadable": (
        "probability that the answer to a run of a new scenario cannot be read, and so counts as "
        "wrong"
    ),
    "cites_evidence": "probability that the answer to a run of a new scenario cites any value",
    "evidence_found": (
        "mean share of the values cited for a new scenario that the record shows; an answer that "
        "cites none counts as zero"
    ),
    "evidence_points": (
        "mean share of the signals cited for a new scenario that speak for the category named; an "
        "answer that cites none counts as zero"
    ),
}
"""What is estimated of explanations, by column of ``EXPLANATION_SCHEMA``."""


def estimates(
    predictions: pl.DataFrame, explanations: pl.DataFrame, intervals: st.ScenarioIntervalSettings
) -> pl.DataFrame:
    """Of one model, whose answer to a run stands in every repeat and for every feature set."""
    once = predictions.unique("run_id").sort("run_id")
    rows = once.join(explanations, on="run_id", validate="1:1").with_columns(repeat=pl.lit(0))
    values = (
        st.proportion(name, st.over_scenarios(rows, pl.col(name)), estimand)
        for name, estimand in ESTIMANDS.items()
    )
    return st.of_scenarios(rows, (st.METRICS["accuracy"],), intervals, tuple(values))


def metrics(
    predictions: pl.DataFrame,
    explanations: pl.DataFrame,
    answered: pl.DataFrame,
    intervals: st.ScenarioIntervalSettings,
) -> dict[str, dict[str, Any]]:
    """By model how many runs it answered, and its estimates if it answered all."""
    models = {}
    for label, answers, runs in answered.iter_rows():
        models[label] = {"available": answers == runs, "answered": answers, "runs": runs}
        if answers == runs:
            of_model = predictions.filter(method=label), explanations.filter(method=label)
            models[label] |= st.nest(estimates(*of_model, intervals), "metric")
    return models


def main() -> None:
    answered = st.read_output(MEASUREMENTS / "answered.parquet", ANSWERED_SCHEMA)
    models = metrics(
        st.read_output(PREDICTIONS, st.PREDICTION_SCHEMA, may_be_empty=True),
        st.read_output(
            MEASUREMENTS / "explanations.parquet", EXPLANATION_SCHEMA, may_be_empty=True
        ),
        answered,
        st.read_statistics(st.ScenarioIntervalSettings),
    )
    st.publish("llm_agents", metrics=models, summary=answered)


if __name__ == "__main__":
    st.run(main)
