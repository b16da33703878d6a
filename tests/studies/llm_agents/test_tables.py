from __future__ import annotations

from failbench.reporting.cells import ABSENT
from failbench.statistics.bootstrap import Interval
from failbench.studies.llm_agents.results import AgentResult
from failbench.studies.llm_agents.tables import FIGURES, agents_table

NOTHING = AgentResult(answered=0, runs=76, figures={})


def figure(value: float) -> Interval:
    return Interval(
        value=value,
        ci_low=value - 0.1,
        ci_high=value + 0.1,
        n=76,
        method="BCa bootstrap",
        resampling_unit="scenario",
        estimand="",
    )


def rows(models, raw_reported):
    table = agents_table(models, raw_reported, confidence=0.95)
    return {row[0]: row[1:] for row in table.rows}


def test_without_an_answer_the_papers_figures_stand_alone(raw_reported):
    found = rows({"mistral_7b": NOTHING, "llama_3_8b": NOTHING}, raw_reported)
    assert list(found) == ["Mistral 7B", "Llama 3 8B"]
    dashes = (ABSENT,) * len(FIGURES)
    assert found["Mistral 7B"] == ("77.6 [68.4, 86.8]", "3.8", "1 of 8", "0 of 76", *dashes)
    assert found["Llama 3 8B"] == ("73.7 [64.5, 82.9]", "3.5", "2 of 8", "0 of 76", *dashes)


def test_models_of_the_paper_stand_there_though_nobody_asks_them(raw_reported):
    found = rows({}, raw_reported)
    assert found["Llama 3 8B"][3:] == (ABSENT,) * (1 + len(FIGURES))


def test_what_was_measured_stands_beside_with_its_interval(raw_reported):
    figures = {name: figure(0.5) for name in FIGURES}
    found = rows({"llm_qwen_7b": AgentResult(76, 76, figures)}, raw_reported)
    assert list(found) == ["Mistral 7B", "Llama 3 8B", "qwen 7b"]
    assert found["qwen 7b"] == (
        *(ABSENT,) * 3,
        "76 of 76",
        *("50.0 [40.0, 60.0]",) * len(FIGURES),
    )


def test_a_part_of_the_runs_shows_how_many_and_no_figure(raw_reported):
    found = rows({"mistral_7b": AgentResult(75, 76, {})}, raw_reported)
    assert found["Mistral 7B"][3:] == ("75 of 76", *(ABSENT,) * len(FIGURES))
