"""The command ``failbench``."""

from __future__ import annotations

import argparse
import sys

from failbench.base.errors import BadInputError
from failbench.cli.arguments.benchmark import add_benchmark_commands
from failbench.cli.arguments.diagnosing import add_diagnosing_commands
from failbench.cli.arguments.recording import add_recording_commands


def main(arguments: list[str] | None = None) -> int:
    """Run the command; bad input ends it with one line on stderr and exit status 2."""
    options = vars(_parser().parse_args(arguments))
    run = options.pop("run")
    try:
        return int(run(**options))
    except BadInputError as error:
        from failbench.diagnose.readers.lines import (
            clean,  # a path may have escapes that a terminal obeys
        )

        print(clean(str(error)), file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="failbench", description="A benchmark of transformer training failures."
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    add_diagnosing_commands(commands)
    add_benchmark_commands(commands)
    add_recording_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
