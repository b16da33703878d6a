"""The first example of docs/first_run.md prints what docs/first_run.md says it prints."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch", reason="the example trains")


def test_it_prints_what_it_says(repository, tmp_path, monkeypatch, capsys):
    text = (repository / "docs/first_run.md").read_text(encoding="utf-8")
    code, printed = re.search(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE
    ).groups()
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/first_run.md", "exec"), {})
    assert capsys.readouterr().out == printed
