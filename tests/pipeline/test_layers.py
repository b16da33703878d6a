"""Data flows one way through the library, and so do imports."""

from __future__ import annotations

import ast

import pytest

from pipeline import REPOSITORY

PACKAGE = REPOSITORY / "src/failbench"

LAYERS = (
    ("errors",),
    ("files", "validation"),
    ("scenarios", "params"),
    ("telemetry",),
    ("telemetry_stream",),
    ("detector", "partners"),
    ("recording",),
    ("rules_of_validity",),
    ("validity",),
    ("validity_report",),
    ("keywords", "observables"),
    ("features",),
    ("measurements",),
    ("feature_table",),
    ("raw_table",),
    ("methods",),
    ("evaluation",),
    ("diagnoses",),
    ("reporting",),
    ("commands",),
    ("cli",),
)
"""Modules and packages of the library, from left to right."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def layer(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_layers(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("failbench.")}


def test_every_module_has_a_place_from_left_to_right():
    assert {layer(path) for path in MODULES} <= set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_nothing_to_its_right(path):
    own = layer(path)
    beyond = {name for name in imported_layers(path) if RANK[name] >= RANK[own] and name != own}
    assert beyond == set()


@pytest.mark.parametrize("name", ["observables", "features", "methods", "evaluation", "reporting"])
def test_the_studies_need_no_recorder(name):
    for path in MODULES:
        if layer(path) == name:
            assert not imported_layers(path) & {"recording", "commands", "cli"}, path
