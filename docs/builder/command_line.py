"""Writes the reference of the command line from the commands themselves."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console

from failbench.cli.main import GROUPS, Command, commands

COLUMNS = 88
"""Letters of a line of help, whatever terminal the site is built in."""

HEAD = """\
# The command line

What `failbench COMMAND --help` prints, of every command. Bad input ends a command with one line on
standard error and exit status 2.
"""


def reference() -> str:
    """The page: a section per command, in the groups that the package has them in."""
    return "\n".join([HEAD, *(part for group in GROUPS for part in _group(group))])


def _group(group: str) -> Iterator[str]:
    yield f"## {GROUPS[group]}\n"
    for command in commands().values():
        if command.group == group:
            yield f"### failbench {command.name} {{ #{command.name} }}\n"
            yield f"```text\n{_help(command)}\n```\n"


def _help(command: Command) -> str:
    console = Console(file=io.StringIO(), width=COLUMNS, color_system=None)
    with console.capture() as printed:
        command.app.help_print([command.name], console=console)
    return "\n".join(line.rstrip() for line in printed.get().strip().splitlines())
