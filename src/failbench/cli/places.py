"""Options that commands share, and places where the repository keeps what they read and write."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter, Token
from cyclopts.validators import Number

import failbench
from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS


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
Pattern: TypeAlias = Annotated[
    str | None, Parameter(help="a regular expression whose named groups are a line's numbers")
]
Decimal: TypeAlias = Annotated[
    Literal[".", ","] | None, Parameter(help="sign of numbers (default: what the log shows)")
]
Json: TypeAlias = Annotated[bool, Parameter(help="for programs")]
Output: TypeAlias = Annotated[Path, Parameter(help="where it is written", show_default=True)]
Telemetry: TypeAlias = Annotated[Path, Parameter(help="recorded runs", show_default=True)]
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


SCENARIOS = Path("data/scenarios")
OUTSIDE_LIST = Path("data/outside")
FIELD = Path("data/field")
REPORTS = Path("data/reports")
EXTERNAL_DEFAULT = Path("data/external/default")
NOTEBOOKS = Path("data/notebooks")
EQUAL_NOTEBOOKS = Path("data/equal_notebooks")
CRASHES = Path("data/crashes/answers.parquet")
EQUAL_CRASHES = Path("data/crashes/equal_answers.parquet")
READERS = Path("data/crashes/readers")
TELEMETRY = Path("data/telemetry")
FEATURE_TABLE = Path("data/features/features.parquet")
PEERS = Path("data/peers/verdicts.parquet")
PEERS_OUTSIDE = Path("data/peers/outside.parquet")
PEERS_INSIDE = Path("data/peers/default_plus_plus.parquet")
PREFLIGHT = Path("data/preflight/answers.parquet")
RANKS = Path("data/ranks")
MONITORED = Path("data/monitor")  # with the frozen versions of its rules
BROKEN = Path("data/measurements/invariants")
LLM_ANSWERS = Path("data/llm")
LLM_CRASH_ANSWERS = LLM_ANSWERS / "crashes"
REASONING = Path("data/reasoning")
RECORDING_WORK = Path("data/.recording")  # corpus, and journals of what is not in a table yet
REASONING_WORK = RECORDING_WORK / "reasoning"
FIELD_WORK = RECORDING_WORK / "field"


def second_opinions() -> Path:
    """Where answers of a user's local models are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "failbench/llm"


class Reference:
    """A checkout of this repository; ``root`` is empty where it is the working directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.params = root / PARAMS  # settings of methods, and how the benchmark is recorded
        self.features = root / FEATURE_TABLE  # of what was recorded, which methods learn from
        self.scenarios = root / SCENARIOS

    @property
    def missing(self) -> Path | None:
        """What a checkout would hold and this folder does not, if anything."""
        needed = (self.params, self.features, self.scenarios)
        return next((path for path in needed if not path.exists()), None)


def known_reference() -> Reference | None:
    """The working directory if it is a checkout, else the one that was installed in place."""
    installed = Path(failbench.__file__).resolve().parents[2]
    candidates = (Reference(Path()), Reference(installed))
    return next((reference for reference in candidates if reference.missing is None), None)


def reference_at(root: Path | None) -> Reference:
    """The reference in a folder, or that of :func:`known_reference`."""
    remedy = "Name the root of a checkout of failbench with --reference."
    reference = known_reference() if root is None else Reference(root)
    if reference is None:
        problem = "neither the working directory nor the installed package is a checkout."
        raise refused("--reference", problem, remedy)
    if reference.missing is not None:
        raise BadInputError(root, "--reference", f"has no {reference.missing}.", remedy)
    return reference


def params_file(given: Path | None) -> Path:
    """The parameters of a recording: as given, of the working directory, or of the reference."""
    if given is not None or PARAMS.exists():
        return given or PARAMS
    reference = known_reference()
    if reference is None:
        raise BadInputError(
            PARAMS,
            "--params",
            "the working directory has no such file, and there is no checkout to take it from.",
            "Name a file with the sections record and detector; that of the repository is one.",
        )
    return reference.params


def work_folder(output: Path) -> Path:
    """Where corpus and journals are: by the telemetry, unless this is a project of scenarios."""
    return RECORDING_WORK if SCENARIOS.is_dir() else output / RECORDING_WORK.name


def journal_folder(output: Path) -> Path:
    """A folder for journals that no other output folder shares."""
    if not SCENARIOS.is_dir():
        return work_folder(output)
    absolute = output.resolve()
    parent = Path.cwd() if absolute.is_relative_to(Path.cwd()) else "/"
    return RECORDING_WORK / absolute.relative_to(parent)
