"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter, Token
from cyclopts.validators import Number

from failbench.base.errors import BadInputError


def _whole(_: type, tokens: Sequence[Token]) -> int:
    """A whole number; the library rounds fractions in silence."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no whole number.") from error


def refused(field: str, problem: str, remedy: str) -> BadInputError:
    """The error of an option that cannot be followed."""
    return BadInputError("command line", field, problem, remedy)


WHOLE = Parameter(converter=_whole)
POSITIVE = Parameter(converter=_whole, validator=Number(gte=1))

Log: TypeAlias = Annotated[Path, Parameter(help="a file, a folder, or - for input")]
Run: TypeAlias = Annotated[str | None, Parameter(help="of a folder of telemetry")]
Json: TypeAlias = Annotated[bool, Parameter(help="for programs")]
Output: TypeAlias = Annotated[Path, Parameter(help="where it is written", show_default=True)]
Telemetry: TypeAlias = Annotated[Path, Parameter(help="recorded runs", show_default=True)]
Corpus: TypeAlias = Annotated[Path, Parameter(help="pairs of notebooks", show_default=True)]
Only: TypeAlias = Annotated[Sequence[str], Parameter(help="these alone")]
Workers: TypeAlias = Annotated[int, Parameter(help="at a time", show_default=True), POSITIVE]
Minutes: TypeAlias = Annotated[float | None, Parameter(help="stop cleanly after this many minutes")]
Faults: TypeAlias = Annotated[
    Sequence[str], Parameter(help="files or modules with more faults; may be repeated")
]
Params: TypeAlias = Annotated[
    Path | None, Parameter(help="(default: params.yaml, or the reference's)")
]
Checkout: TypeAlias = Annotated[
    Path | None,
    Parameter(help="what to learn from (default: the working directory, or what is installed)"),
]
PREDICTORS = Literal["rules", "dry_run", "pyright", "pylint"]

Predictors: TypeAlias = Annotated[
    Sequence[PREDICTORS], Parameter(name="--predictor", help="only these")
]
