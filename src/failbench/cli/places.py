"""Where things are: default paths below the working folder, and a checkout to learn from."""

from __future__ import annotations

from pathlib import Path

import failbench
from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS
from failbench.cli.options import refused

SCENARIOS = Path("data/scenarios")
OUTSIDE_LIST = Path("data/outside")
EXTERNAL_DEFAULT = Path("data/external/default")
NOTEBOOKS = Path("data/notebooks")
CRASHES = Path("data/crashes/answers.parquet")
TELEMETRY = Path("data/telemetry")
FEATURE_TABLE = Path("data/features/features.parquet")
PEERS = Path("data/peers/verdicts.parquet")
PEERS_INSIDE = Path("data/peers/default_plus_plus.parquet")
PREFLIGHT = Path("data/preflight/answers.parquet")
MONITORED = Path("data/monitor")  # with the frozen versions of its rules
BROKEN = Path("data/measurements/invariants")
LLM_ANSWERS = Path("data/llm")
LLM_CRASH_ANSWERS = LLM_ANSWERS / "crashes"
REASONING = Path("data/reasoning")
RECORDING_WORK = Path("data/.recording")  # corpus, and journals of what is not in a table yet
REASONING_WORK = RECORDING_WORK / "reasoning"


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
