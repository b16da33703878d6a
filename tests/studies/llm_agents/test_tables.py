from __future__ import annotations

from failbench.reporting.cells import ABSENT
from failbench.statistics.bootstrap import Interval
from failbench.studies.llm_agents.results import AgentResult
from failbench.studies.llm_agents.tables import HEADINGS, agents_table

NOTHING = AgentResult(answered=0, runs=76, estimates={})


def estimate(value: float) -> Interval:
    return Interval(
        value=value,
        ci_low=value - 0.1,
        ci_high=value + 0.1,
        n=76,
        method="BCa bootstrap",
        resampling_unit="scenario",
        estimand="",
    )


def rows(models, reported):
    table = agents_table(models, reported, confidence=0.95)
    return {row[0]: row[1:] for row in table.rows}


def test_without_an_answer_the_papers_figures_stand_alone(reported):
    shown = rows({"mistral_7b": NOTHING, "llama_3_8b": NOTHING}, reported)
    assert list(shown) == ["Mistral 7B", "Llama 3 8B"]
    dashes = (ABSENT,) * len(HEADINGS)
    assert shown["Mistral 7B"] == ("77.6 [68.4, 86.8]", "3.8", "1 of 8", "0 of 76", *dashes)
    assert shown["Llama 3 8B"] == ("73.7 [64.5, 82.9]", "3.5", "2 of 8", "0 of 76", *dashes)


def test_models_of_the_paper_stand_there_though_nobody_asks_them(reported):
    shown = rows({}, reported)
    assert shown["Llama 3 8B"][3:] == (ABSENT,) * (1 + len(HEADINGS))


def test_what_was_measured_stands_beside_with_its_interval(reported):
    estimates = {name: estimate(0.5) for name in HEADINGS}
    shown = rows({"llm_qwen_7b": AgentResult(76, 76, estimates)}, reported)
    assert list(shown) == ["Mistral 7B", "Llama 3 8B", "qwen 7b"]
    assert shown["qwen 7b"] == (
        *(ABSENT,) * 3,
        "76 of 76",
        *("50.0 [40.0, 60.0]",) * len(HEADINGS),
    )


def test_a_part_of_the_runs_shows_how_many_and_no_figure(reported):
    shown = rows({"mistral_7b": AgentResult(75, 76, {})}, reported)
    assert shown["Mistral 7B"][3:] == ("75 of 76", *(ABSENT,) * len(HEADINGS))
