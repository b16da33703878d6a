import ast

import pytest

from pipeline import REPOSITORY, nodes

PACKAGE = REPOSITORY / "src/failbench"

LAYERS = (
    ("base",),
    ("errors", "records", "scenarios", "vocabulary"),
    ("causes", "features", "notebooks", "publish.reproduction"),
    ("messages", "monitor", "reasoning"),
    ("diagnose.readers", "monitor.records", "preflight"),
    ("diagnose", "diagnose.inspection", "neighbours.outside_list", "neighbours.rendering"),
    ("methods",),
    ("diagnose.outputs", "fitted", "neighbours.external", "neighbours.peers", "prediction"),
    ("diagnose.batch", "field", "recording"),
    ("ranks", "statistics"),
    ("crashes", "field.looks", "preflight.records", "recording.validity", "study"),
    ("agents", "neighbours.lenses", "publish"),
    ("cli",),
)
"""Rooms of the library, and parts of rooms that stand elsewhere, from left to right."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def layer_of(name):
    """The layer of a module: a part of a room, or the room."""
    room, *parts = name.removeprefix("failbench.").split(".")
    part = f"{room}.{parts[0]}" if parts else room
    return part if part in RANK else room


def layer(path):
    return layer_of(".".join(path.relative_to(PACKAGE).with_suffix("").parts))


def imported_layers(path):
    names = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {layer_of(name) for name in names if name.startswith("failbench.")}


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


@pytest.mark.parametrize("name", ["features", "methods", "prediction", "statistics", "study"])
def test_the_studies_need_no_recorder(name):
    for path in MODULES:
        if layer(path) == name:
            assert not imported_layers(path) & {"recording", "cli"}, path
