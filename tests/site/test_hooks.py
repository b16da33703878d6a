import doctest
import importlib.util
from types import ModuleType

import pytest

from failbench.cli.main import commands
from pipeline import REPOSITORY

pytest.importorskip("mkdocs", reason="the site needs the extra `site`")


def hook(name: str) -> ModuleType:
    path = REPOSITORY / f"docs/hooks/{name}.py"
    spec = importlib.util.spec_from_file_location(f"site_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_has_every_command_with_its_options() -> None:
    page = hook("command_line").reference()
    assert page.count("### failbench ") == len(commands())
    sections = page.split("### failbench ")[1:]
    for command, section in zip(commands().values(), sections, strict=True):
        assert section.startswith(f"{command.name} {{ #{command.name} }}")
        arguments = command.app[command.name].assemble_argument_collection()
        options = {argument.name for argument in arguments if argument.name.startswith("--")}
        assert all(name in section for name in options)


def test_examples_of_hooks_are_true() -> None:
    result = doctest.testmod(hook("page_links"))
    assert (bool(result.attempted), result.failed) == (True, 0)


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("`docs/logs.md`", "[`docs/logs.md`](logs.md)"),
        ("`docs/tutorials/index.md`", "[`docs/tutorials/index.md`](tutorials/index.md)"),
        ("`CONTRIBUTING.md`", "[`CONTRIBUTING.md`](contributing.md)"),
        ("[`docs/logs.md`](logs.md)", "[`docs/logs.md`](logs.md)"),
        ("`docs/studies`", "`docs/studies`"),
        ("`paper/tables/cost.md`", "`paper/tables/cost.md`"),
        ("```text\n`docs/logs.md`\n```\n", "```text\n`docs/logs.md`\n```\n"),
    ],
)
def test_paths_in_prose_are_linked_and_nothing_else(text: str, linked: str) -> None:
    shared = {"CONTRIBUTING.md": "contributing.md"}
    assert hook("page_links").with_links(text, "page.md", shared) == linked
    around = f"a `docs/logs.md`\n\n{text}\n\nz `docs/logs.md`\n"
    link = "[`docs/logs.md`](logs.md)"
    assert (
        hook("page_links").with_links(around, "page.md", shared)
        == f"a {link}\n\n{linked}\n\nz {link}\n"
    )
