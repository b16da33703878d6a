"""The locks name, with hashes, everything that pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipeline import REPOSITORY

LOCKS = ("requirements.lock", "requirements-record.lock")


def locked(name: str) -> dict[str, str]:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, flags=re.MULTILINE))


def declared(*groups: str) -> list[Requirement]:
    """Requirements of extras, but for those that an extra takes from another."""
    with (REPOSITORY / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)["project"]
    extras = project["optional-dependencies"]
    texts = [text for group in groups for text in extras.get(group, project["dependencies"])]
    requirements = map(Requirement, texts)
    return [requirement for requirement in requirements if requirement.name != project["name"]]


def assert_satisfied(requirements: list[Requirement], lock: dict[str, str]) -> None:
    for requirement in requirements:
        version = lock.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is in no lock: run `make lock`."
        assert requirement.specifier.contains(version), f"{requirement} is locked at {version}."


def test_the_study_its_tools_and_its_clusters_are_locked():
    assert_satisfied(
        declared("dependencies", "pictures", "lab", "dev", "cluster"), locked("requirements.lock")
    )


def test_the_recorder_is_locked_but_for_torch():
    requirements = declared("record")
    assert "torch==2.13.0" in [str(requirement) for requirement in requirements]
    assert "torch" not in locked("requirements-record.lock")
    others = [requirement for requirement in requirements if requirement.name != "torch"]
    assert_satisfied(others, locked("requirements-record.lock"))


def test_what_the_monitor_is_tried_with_is_locked_without_torch_and_its_libraries():
    lock = locked("requirements-record.lock")
    assert_satisfied(declared("integrations"), lock)
    assert not [
        name
        for name in lock
        if name.startswith(("torch", "nvidia", "cuda", "triton")) and name != "torchmetrics"
    ]


@pytest.mark.parametrize("extra", ["browser", "site"])
def test_what_pages_are_built_and_tried_with_is_locked_with_the_recorder(extra):
    assert_satisfied(declared(extra), locked("requirements-record.lock"))


def test_the_makefile_installs_the_torch_that_is_declared():
    (torch,) = [requirement for requirement in declared("record") if requirement.name == "torch"]
    assert f"$(INSTALL) {torch}" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def test_both_locks_agree_where_they_overlap():
    study, recorder = (locked(name) for name in LOCKS)
    shared = study.keys() & recorder.keys()
    assert shared
    assert {name: study[name] for name in shared} == {name: recorder[name] for name in shared}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_a_hash_for_every_package_and_no_address(name):
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, entry.split(" ")[0]
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
