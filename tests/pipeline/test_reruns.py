"""What a change of one parameter runs again, read off the graph of stages as DVC sees it."""

from __future__ import annotations

import networkx as nx
import pytest
import yaml
from dvc.repo import Repo

from pipeline import REPOSITORY, foreach_items

METHODS = foreach_items()["nested_cv"]


@pytest.fixture(scope="module")
def repo() -> Repo:
    return Repo(str(REPOSITORY))


@pytest.fixture(scope="module")
def reruns(repo: Repo):
    """From a section of params.yaml to the names of all stages that a change of it runs again."""

    def names(section: str) -> set[str]:
        graph = repo.index.graph
        changed = {
            stage
            for stage in graph
            if any(section in getattr(dep, "params", ()) for dep in stage.deps)
        }
        # An edge leads from a stage to what it depends on.
        readers = {one for stage in changed for one in nx.ancestors(graph, stage)}
        return {stage.addressing for stage in changed | readers}

    return names


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_of_a_method_runs_no_other_method_again(reruns, method: str) -> None:
    predicted = {name for name in reruns(method) if "@" in name}
    assert predicted == {f"nested_cv@{method}", f"across_architectures@{method}"}


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_of_a_method_runs_its_readers_again(reruns, method: str) -> None:
    assert {"intervals", "significance", "tradeoff", "generalization"} <= reruns(method)


def test_other_settings_of_language_models_run_no_fit_again(reruns) -> None:
    found = reruns("llm_agents")
    assert {"llm_agents", "intervals", "significance", "generalization"} <= found
    assert not [name for name in found if "@" in name]


@pytest.mark.parametrize(
    ("section", "stages"),
    [
        ("paper_audit", {"paper_audit"}),
        ("gallery", {"gallery"}),
        ("controls", {"measure_controls", "controls"}),
        ("significance", {"significance", "portability"}),
        ("human_baseline", {"human_baseline"}),
        ("difficulty", {"difficulty", "human_baseline"}),
    ],
)
def test_a_parameter_of_a_study_runs_that_study_and_its_readers_alone(
    reruns, section: str, stages: set[str]
) -> None:
    assert reruns(section) == stages


def test_the_folds_of_all_studies_run_every_study_again(reruns, repo: Repo) -> None:
    everything = {stage.addressing for stage in repo.index.graph}
    apart = {"record", "check", "gallery", "paper_audit"}
    assert everything - reruns("features") == apart


def test_no_parameter_records_anything_again(reruns) -> None:
    sections = yaml.safe_load((REPOSITORY / "params.yaml").read_text(encoding="utf-8"))
    assert not [section for section in sections if "record" in reruns(section)]
