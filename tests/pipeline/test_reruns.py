from collections.abc import Callable

import pytest
import yaml

from failbench.cli.main import main
from failbench.publish.reproduction.reruns import Pipeline
from pipeline import REPOSITORY

DOCUMENTS = {"crosswalk", "data_card", "negative_results", "page", "paper"}
"""Stages that show what others found, and run again whenever one of these does."""


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline(REPOSITORY)


@pytest.fixture(scope="module")
def reruns(pipeline: Pipeline) -> Callable[[str], set[str]]:
    """From a section of params.yaml to the studies that a change of it runs again."""
    return lambda section: (
        {name.removeprefix("study@") for name in pipeline.reruns(section)} - DOCUMENTS
    )


@pytest.mark.parametrize(
    ("section", "stages"),
    [
        *((name, {name}) for name in ("paper_audit", "gallery", "significance", "risk_coverage")),
        *((name, {name}) for name in ("human_baseline", "benchmark")),
        ("controls", {"measure_controls", "controls"}),
        ("difficulty", {"measure_difficulty", "difficulty", "human_baseline", "benchmark"}),
    ],
)
def test_a_parameter_of_a_study_runs_that_study_and_its_readers_alone(
    reruns, section: str, stages: set[str]
) -> None:
    assert reruns(section) == stages


OUTSIDE = (
    "outside_list",
    "measure_external_default",
    "external_default",
    "reasoning_lenses",
    "crash_prediction",
    "equal_code",
)
"""Stages that are about runs of others, models of another kind, or notebooks."""

MONITOR = (
    *("monitor_bounds", "invariants", "known", "carried_bounds", "measure_learners"),
    *("measure_budget", "budget"),
    "rank_bounds",
)
"""Stages of what the monitor measured in which nothing is learnt in the folds of scenarios."""


def test_the_folds_of_all_studies_run_every_study_again(reruns, pipeline) -> None:
    recordings = {"record", "check", "gallery", "measure_case_studies", "measure_peers"}
    apart = {*recordings, *OUTSIDE, *MONITOR}
    studies = {name.removeprefix("study@") for name in pipeline.stages}
    assert studies - reruns("features") - DOCUMENTS == apart


def test_no_parameter_records_anything_again(reruns) -> None:
    sections = yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
    assert not [section for section in sections if "record" in reruns(section)]


def test_what_studies_share_fits_nothing_again_and_a_key_runs_what_its_section_runs(reruns) -> None:
    models = reruns("llm_agents")
    assert {"llm_agents", "intervals", "significance", "generalization"} <= models
    assert not [name for name in models if "@" in name]
    fitting = ("measure_", "nested_cv", "raw_telemetry", "hybrids")
    readers = reruns("statistics.power")
    assert not [name for name in readers if name.startswith(fitting)]
    assert {"significance", "importance", "risk_coverage"} <= readers
    assert reruns("intervals.floor_draws") == reruns("intervals")
    added = reruns("methods")
    assert {name for name in added if "@" in name} == {"nested_cv@<another>"}
    assert {"intervals", "significance"} <= added
    assert "hybrids" not in added


@pytest.mark.parametrize(
    ("parameter", "known"),
    [
        ("galery", "The sections are ablation, "),
        ("gallery.runid", "The keys of gallery are architecture, "),
        ("gallery.seed.deeper", "gallery.seed has no keys."),
    ],
)
def test_an_unknown_parameter_is_one_sentence_that_names_known_ones(
    pipeline, monkeypatch, capsys, parameter: str, known: str
) -> None:
    # DVC takes seconds to make the graph, and the one that it made above is the same.
    monkeypatch.setattr("failbench.publish.reproduction.reruns.Pipeline", lambda _: pipeline)
    monkeypatch.chdir(REPOSITORY)
    assert main(["reruns", parameter]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"params.yaml: {parameter}: there is no such parameter. {known}")
    assert error.count("\n") == 1
