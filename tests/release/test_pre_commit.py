"""The hooks of pre-commit are what `make lint` calls, in the locked environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline import REPOSITORY

CONFIGURATION = REPOSITORY / ".pre-commit-config.yaml"
HOOKS = {
    hook["id"]: hook
    for repository in yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))["repos"]
    for hook in repository["hooks"]
}


def pre_commit(*arguments: str | Path, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    git = {"GIT_CONFIG_GLOBAL": "/dev/null", "PRE_COMMIT_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **git},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_configuration_is_valid(tmp_path):
    result = pre_commit("validate-config", CONFIGURATION, cwd=tmp_path, home=tmp_path / "home")
    assert (result.returncode, result.stdout) == (0, "")


def test_nothing_is_cloned_or_downloaded():
    repositories = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))["repos"]
    assert {repository["repo"] for repository in repositories} == {"local"}
    assert {hook["language"] for hook in HOOKS.values()} == {"system"}


def test_hooks_call_what_make_lint_calls():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", makefile, flags=re.MULTILINE)
    linted = re.findall(r"\$\(BIN\)/(ruff \w+|mypy)", recipe)
    called = [re.match(r"\.venv/bin/(ruff \w+|mypy)", hook["entry"]) for hook in HOOKS.values()]
    assert [match and match[1] for match in called] == linted


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the hooks, the settings of the tools, and the environment of this test."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / ".venv/bin").mkdir(parents=True)
    for tool in ("ruff", "mypy"):
        script = root / ".venv/bin" / tool
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {tool} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    for name in (CONFIGURATION.name, "pyproject.toml"):
        (root / name).write_bytes((REPOSITORY / name).read_bytes())
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return root


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('"""A module."""\n', False),
        ('"""A module."""\n\nimport os\n', True),
        ('"""A module."""\n\nname = (  1)\n', True),
    ],
    ids=["as it should be", "an import without use", "another form"],
)
def test_a_commit_that_lint_would_refuse_is_refused(project, text, refused):
    (project / "src/module.py").write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", "--all", "--", "src", "*.yaml"], cwd=project, check=True)
    results = [
        pre_commit("run", hook, cwd=project, home=project.parent / "home")
        for hook in HOOKS
        if hook.startswith("ruff")
    ]
    shown = "\n".join(result.stdout + result.stderr for result in results)
    assert any(result.returncode for result in results) == refused, shown
