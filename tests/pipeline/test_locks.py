import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipeline import REPOSITORY

LOCKS = ("requirements.lock", "requirements-record.lock", "requirements-field.lock")


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


@pytest.mark.parametrize(
    ("extras", "lock"),
    [
        (("llm",), LOCKS[0]),
        (("mcp",), LOCKS[1]),
        (("dependencies", "pictures", "lab", "dev", "cluster"), LOCKS[0]),
        (("record", "integrations", "browser", "site"), LOCKS[1]),
        (("field",), LOCKS[2]),
    ],
)
def test_what_is_declared_is_locked_but_for_torch(extras, lock):
    for requirement in declared(*extras):
        version = locked(lock).get(canonicalize_name(requirement.name))
        assert (version is None) == (requirement.name == "torch"), (
            f"{requirement}: run `make lock`."
        )
        assert version is None or requirement.specifier.contains(version), f"{requirement}"


def test_torch_is_installed_by_the_makefile_as_declared_and_none_of_its_libraries_is_locked():
    (torch,) = [requirement for requirement in declared("record") if requirement.name == "torch"]
    assert f"$(INSTALL) {torch}" in (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    ofs = ("torch", "nvidia", "cuda", "triton")
    assert [name for name in locked(LOCKS[1]) if name.startswith(ofs)] == ["torchmetrics"]


def test_both_locks_agree_where_they_overlap():
    study, recorder = (locked(name) for name in LOCKS[:2])
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
