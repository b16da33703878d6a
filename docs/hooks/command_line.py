"""Writes the reference of the command line from the parser itself."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from failbench.cli.arguments.benchmark import add_benchmark_commands
from failbench.cli.arguments.diagnosing import add_diagnosing_commands
from failbench.cli.arguments.recording import add_recording_commands
from failbench.cli.arguments.shared import Commands

PAGE = "reference/commands.md"
COLUMNS = "88"
"""Letters of a line of help, whatever terminal the site is built in."""

HEAD = """\
# The command line

What `failbench COMMAND --help` prints, of every command. Bad input ends a command with one line on
standard error and exit status 2.
"""
GROUPS: tuple[tuple[str, Callable[[Commands], None]], ...] = (
    ("Look at a training", add_diagnosing_commands),
    ("Keep the benchmark and its results", add_benchmark_commands),
    ("Record", add_recording_commands),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(File.generated(config, PAGE, content=reference()))
    return files


def reference() -> str:
    """The page: a section per command, in the groups that the package has them in."""
    return "\n".join([HEAD, *(part for group in GROUPS for part in _group(*group))])


def _group(title: str, add: Callable[[Commands], None]) -> Iterator[str]:
    parser = argparse.ArgumentParser(prog="failbench")
    commands = parser.add_subparsers()
    add(commands)
    yield f"## {title}\n"
    with _terminal_width():
        for name, command in commands.choices.items():
            yield f"### failbench {name} {{ #{name} }}\n"
            yield f"```text\n{command.format_help().rstrip()}\n```\n"


@contextmanager
def _terminal_width() -> Iterator[None]:
    """Make argparse break lines at the same place on every machine."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
