"""The rule for paths in error text: they are made package-relative, and nothing else changes.

Everything up to and including ``site-packages/`` is removed; so is everything before
``python3.<n>/`` of the standard library and before ``failbench/`` of this package; the run's
scratch folder becomes ``scratch/``.
"""

from __future__ import annotations

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"/[^\s\"']*/site-packages/"), ""),
    (re.compile(r"/[^\s\"']*/(python3\.\d+/)"), r"\1"),
    (re.compile(r"/[^\s\"']*/src/(failbench/)"), r"\1"),
    (re.compile(r"/[^\s\"']*failbench-run-[^/\s\"']*/"), "scratch/"),
)


def package_relative(text: str) -> str:
    """Error text with machine paths made package-relative."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
