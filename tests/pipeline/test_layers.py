"""Data flows one way through the library, and so do imports."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from pipeline import REPOSITORY

PACKAGE = REPOSITORY / "src/failbench"

LAYERS = (
    ("errors", "records", "vocabulary", "arrays"),
    ("files", "validation", "verdicts", "predictions"),
    ("scenarios", "params"),
    ("telemetry",),
    ("telemetry_stream",),
    ("detector", "partners"),
    ("monitor", "features", "causes"),
    ("messages",),
    ("monitored", "readers"),
    ("rendering",),
    ("diagnose", "peers", "fitted"),
    ("outputs",),
    ("outside_list", "notebooks", "reasoning", "preflight"),
    ("inspection", "recording"),
    ("preflighted",),
    ("validity",),
    ("methods",),
    ("external", "prediction"),
    ("statistics",),
    ("crashes",),
    ("reporting",),
    ("lenses",),
    ("stage",),
    ("study",),
    ("audit", "batch", "scoring"),
    ("page", "paper", "datacard"),
    ("reproduction",),
    ("commands",),
    ("cli",),
)
"""Modules and packages of the library, from left to right."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def layer(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def import_statements(path):
    """Every import of a module, wherever it stands; parsing is what these tests cost."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_layers(path):
    names = set()
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("failbench.")}


def test_every_module_has_a_place_from_left_to_right():
    assert {layer(path) for path in MODULES} <= set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_nothing_to_its_right(path):
    home = layer(path)
    beyond = {name for name in imported_layers(path) if RANK[name] >= RANK[home] and name != home}
    assert beyond == set()


def test_a_folder_holds_at_most_about_thirty_modules():
    folders = {path.parent for path in MODULES}
    assert {folder: n for folder in folders if (n := len(list(folder.glob("*.py")))) > 33} == {}


@pytest.mark.parametrize("name", ["features", "methods", "prediction", "statistics", "reporting"])
def test_the_studies_need_no_recorder(name):
    for path in MODULES:
        if layer(path) == name:
            assert not imported_layers(path) & {"recording", "commands", "cli"}, path
