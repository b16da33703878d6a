"""Fingerprint: one hash of everything that the traces of a model depend on.

Computed from source text, so that the check needs no torch. Comments, docstrings and the form of
the code change nothing.
"""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Final

from failbench.reasoning.declared import Declared, Planned

MODULES: Final = (
    "arithmetic",
    "brackets",
    "examples",
    "grading",
    "grid",
    "model",
    "paths",
    "problems",
    "sampling",
    "tokenizers",
    "training",
)
"""What is executed from a problem to its trace."""

DIGITS: Final = 16


def fingerprint(declared: Declared, planned: Planned) -> str:
    """The hash of a model: its condition and seed, what all have in common, and the code."""
    condition = planned.condition
    tokenizers = (condition.tokenizer, condition.prompt_tokenizer)
    parts = [
        condition.model_dump(mode="json", exclude={"what"}),
        planned.seed,
        declared.settings.model_dump(mode="json", exclude={"seeds"}),
        [cell.model_dump(mode="json") for cell in declared.cells],
        [declared.tokenizers[name].model_dump(mode="json") for name in tokenizers],
        [_code(Path(__file__).with_name(f"{name}.py")) for name in MODULES],
    ]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@cache
def _code(path: Path) -> str:
    """The syntax tree of a module, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
