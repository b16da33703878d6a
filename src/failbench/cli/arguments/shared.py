"""What several commands' arguments are made of."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from failbench.base.params import PARAMS

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""To what commands are added."""

PREDICTORS = ("rules", "dry_run", "pyright", "pylint")
"""Of crashes; named here, as their catalogue brings libraries with it."""


def command(module: str, name: str) -> Callable[..., int]:
    """A function of a command, imported when it is called: most bring libraries with them."""

    def run(**options: object) -> int:
        function = getattr(import_module(f"failbench.cli.{module}"), name)
        return int(function(**options))

    return run


def add_faults(command: argparse.ArgumentParser) -> None:
    """Add the option that names modules with faults of others."""
    command.add_argument(
        "--faults",
        action="extend",
        nargs="+",
        default=[],
        metavar="MODULE",
        help="a file or a module with more faults; may be repeated",
    )


def add_params(command: argparse.ArgumentParser) -> None:
    """Add the option that names the file of parameters."""
    command.add_argument(
        "--params", type=Path, metavar="FILE", help=f"(default: {PARAMS}, or the reference's)"
    )


def add_predictors(command: argparse.ArgumentParser, usual: str) -> None:
    """Add the option that names predictors of crashes, and says which are asked without it."""
    command.add_argument(
        "--predictor",
        dest="predictors",
        action="extend",
        nargs="+",
        choices=PREDICTORS,
        default=[],
        help=f"only these (default: {usual})",
    )


def add_reference(command: argparse._ActionsContainer) -> None:
    """Add the option that names what methods learn from."""
    command.add_argument(
        "--reference",
        type=Path,
        metavar="CHECKOUT",
        help="what to learn from (default: the working directory, or what is installed)",
    )


def level(text: str) -> str:
    """A level of the monitor; any other word is refused."""
    from failbench.monitor.signals import LEVELS  # brings numpy, which few commands need

    if text not in LEVELS:
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(LEVELS)}")
    return text


def positive(text: str) -> int:
    """A whole number above 0; any other is refused."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number
