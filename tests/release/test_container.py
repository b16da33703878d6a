import json
import re
import subprocess
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from failbench.publish.datacard.main_tables import Citation
from pipeline import REPOSITORY

TEXT = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
EXCLUDED = [
    line
    for line in (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def instructions() -> list[tuple[str, str]]:
    """Each instruction with its arguments, lines that go on joined."""
    code = "\n".join(line for line in TEXT.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\s*\\\n\s*", " ", code)
    lines = [line.split(None, 1) for line in joined.splitlines() if line]
    return [(name, arguments) for name, arguments in lines]


def arguments_of(name: str) -> list[str]:
    return [arguments for instruction, arguments in instructions() if instruction == name]


def set_in_makefile(name: str) -> str:
    (value,) = re.findall(rf"^{name} [:?]= (.+)$", MAKEFILE, flags=re.MULTILINE)
    return value


def ignored(path: str) -> bool:
    """Whether .dockerignore leaves out a path, or a folder that it is in."""
    parts = [Path(path), *Path(path).parents]
    patterns = [*EXCLUDED, *(each.removeprefix("**/") for each in EXCLUDED)]
    return any(fnmatchcase(part.as_posix(), each) for part in parts for each in patterns)


def test_it_is_the_python_of_the_makefile():
    (image,) = re.findall(r"^PYTHON_IMAGE=python:(\d+\.\d+)-", "\n".join(arguments_of("ARG")))
    assert arguments_of("FROM") == ["${PYTHON_IMAGE}"]
    assert set_in_makefile("PYTHON") == f"python{image}"
    assert f"python{image} -m venv {set_in_makefile('VENV')} " in "\n".join(arguments_of("RUN"))


def test_it_installs_the_lock_with_hashes_and_then_nothing_else():
    installs = re.findall(r"pip install ([^&\n]+)", "\n".join(arguments_of("RUN")))
    lock, package = (" ".join(each.split()) for each in installs)
    assert "--require-hashes -r requirements.lock" in lock
    assert "$(INSTALL) --require-hashes -r requirements.lock" in MAKEFILE
    assert {"--no-deps", "--no-build-isolation"} <= set(package.split())


@pytest.mark.parametrize("arguments", arguments_of("COPY"))
def test_what_it_copies_is_there_and_not_left_out(arguments):
    *sources, _ = [each for each in arguments.split() if not each.startswith("--")]
    for source in sources:
        assert (REPOSITORY / source).exists()
        assert source == "." or not ignored(source)


def test_it_leaves_out_no_committed_file():
    committed = subprocess.check_output(["git", "ls-files"], cwd=REPOSITORY, text=True)
    assert [path for path in committed.splitlines() if ignored(path)] == []
    assert not ignored(".git/HEAD")


def test_it_does_not_run_as_root_and_shows_the_help():
    assert arguments_of("USER")[-1].split(":")[0] not in {"0", "root"}
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("COPY")
    assert [json.loads(arguments) for arguments in arguments_of("CMD")] == [["failbench", "--help"]]


PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = Citation.model_validate(
    yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
)
RELEASES = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.MULTILINE)


def test_the_citation_has_the_version_the_licence_and_the_authors_of_the_package():
    assert CITATION.version == PROJECT["version"]
    assert CITATION.license == PROJECT["license"]
    assert [author.name for author in CITATION.authors] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_releases_are_in_order_and_the_last_is_the_version_that_is_cited():
    assert RELEASES[0] == (CITATION.version, CITATION.date_released.isoformat())
    numbers = [tuple(map(int, version.split("."))) for version, _ in RELEASES]
    dates = [date for _, date in RELEASES]
    assert numbers == sorted(set(numbers), reverse=True)
    assert dates == sorted(dates, reverse=True)
