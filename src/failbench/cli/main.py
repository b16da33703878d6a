"""The command ``failbench``: finds a command, runs it, and says in one line why it cannot."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from inspect import cleandoc
from typing import TYPE_CHECKING, Final, NamedTuple

from failbench.base.errors import BadInputError
from failbench.cli.terminal import EndedError

if TYPE_CHECKING:
    from cyclopts import App

GROUPS: Final = {"tool": "Look at a training", "lab": "lab: the benchmark and its studies"}

EXTRAS: Final = {  # optional libraries by the extra that brings them; all others are of the lab
    "cluster": ("submitit", "distributed", "dask"),
    "llm": ("ollama", "httpx"),
    "mcp": ("mcp",),
    "pictures": ("matplotlib",),
    "record": ("torch", "transformers", "tokenizers"),
}


READ_INPUT: Final = ("diagnose", "read", "inspect")  # where a path is a hyphen, standard input


class Command(NamedTuple):
    """A command: a function of a module, which is imported when the command is called."""

    group: str
    name: str
    module: str
    says: str
    example: str

    @property
    def app(self) -> App:
        """Its arguments, which are those of its function."""
        from cyclopts import App, Parameter

        module = import_module(f"failbench.cli.{self.module}")
        app = App(
            name="failbench",
            default_parameter=Parameter(
                negative=(), consume_multiple=1, allow_repeating=True, show_default=False
            ),
            help_formatter="plain",
            help_format="plaintext",
            version_flags=(),
            result_action="return_value",
        )
        example = f"Example: failbench {self.name} {self.example}".rstrip()
        function = getattr(module, self.name.replace("-", "_"))
        # a docstring is broken at the width of code; the terminal breaks its paragraphs anew
        paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
        said = "\n\n".join(" ".join(each.split()) for each in paragraphs)
        app.command(function, name=self.name, help=said, help_epilogue=example)
        return app


def commands() -> dict[str, Command]:
    """All commands by name: first those that users need first."""
    table = files("failbench.cli").joinpath("commands.csv").read_text(encoding="utf-8")
    _, *rows = csv.reader(table.splitlines())
    return {row[1]: Command(*row) for row in rows}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; bad input ends it with one line on stderr and exit status 2."""
    given = sys.argv[1:] if arguments is None else arguments
    if given in ([], ["--help"], ["-h"]):
        print(overview())
        return 0 if given else 2
    # Not at the top: every process that a recording forks imports this module.
    from cyclopts import CycloptsError

    name, known = given[0], commands()
    try:
        if name not in known:
            similar = ", ".join(get_close_matches(name, known)) or "failbench --help lists them"
            problem = f"there is no such command ({similar})."
            raise BadInputError("failbench", name, problem, "Name one that is there.")
        return int(known[name].app(_tokens(given), exit_on_error=False, print_error=False) or 0)
    except BadInputError as error:
        sentence, status = str(error), 2
    except EndedError as end:
        sentence, status = str(end), end.status
    except CycloptsError as error:
        problem = " ".join(str(error).split())
        sentence, status = f"failbench {name}: {problem} `failbench {name} --help` says more.", 2
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in ("", "failbench"):
            raise
        extra = next((extra for extra, names in EXTRAS.items() if library in names), "lab")
        sentence = f"failbench {name}: needs {library}: pip install 'failbench[{extra}]'"
        status = 2
    from failbench.diagnose.readers.lines import clean  # a path may have escapes of a terminal

    print(clean(sentence), file=sys.stderr)
    return status


def _tokens(given: Sequence[str]) -> list[str]:
    """Arguments as the library reads them."""
    # An option that lists goes on after ``--option=value``, so these come last; and a lone hyphen
    # is an option without a name, but as the path of an input it is standard input.
    end = given.index("--") if "--" in given else len(given)
    before, after = given[:end], given[end:]
    joined = [each for each in before if each.startswith("--") and "=" in each]
    others = [each for each in before if each not in joined]
    if others[0] in READ_INPUT and "-" in others:
        others[others.index("-")] = "./-"
    return [*others, *joined, *after]


def overview() -> str:
    """All commands, each with what it says and an example."""
    lines = ["failbench COMMAND [--help]: why a training run failed, and the benchmark behind it."]
    for group, title in GROUPS.items():
        lines += ["", title]
        for command in commands().values():
            if command.group == group:
                lines.append(f"  {command.name:<17} {command.says}")
                lines.append(f"  {'':<17}   failbench {command.name} {command.example}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
