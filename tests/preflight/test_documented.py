"""The example of docs/preflight.md prints what docs/preflight.md says it prints."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch", reason="the example looks at a live process")


def test_it_prints_what_it_says(repository, capsys):
    text = (repository / "docs/preflight.md").read_text(encoding="utf-8")
    code, printed = re.search(
        r"^```python\n(.*?)^```\n\n```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE
    ).groups()
    exec(compile(code, "docs/preflight.md", "exec"), {})
    assert capsys.readouterr().out == printed
