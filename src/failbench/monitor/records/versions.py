"""Versions: the rules of the monitor as they were frozen, each still applicable.

``versions/<version>/`` has ``invariants.csv`` and ``endings.csv`` as they were, and
``bounds/<setting>.json``; ``frozen.json`` their dates and SHA-256. Code that later versions change
stays under a name in :data:`PROCEDURES`, and older versions go on naming it.
"""

import datetime
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final

from failbench.base.errors import BadInputError
from failbench.base.records import Record, validated
from failbench.monitor.bounds import read_bounds
from failbench.monitor.breaks import Break, breaks
from failbench.monitor.end import End
from failbench.monitor.endings import Ending, read_endings
from failbench.monitor.history import History
from failbench.monitor.invariants import Bound, Invariant, read_invariants
from failbench.monitor.records.first_break import decide

FROZEN: Final = "frozen.json"
VERSIONS: Final = "versions"
BOUNDS: Final = "bounds"
RULE_FILES: Final = ("invariants.csv", "endings.csv")  # rules as data, kept as they were
NO_BOUNDS: Final[Mapping[str, Bound]] = MappingProxyType({})  # logic alone

REMEDY: Final = "Restore data/monitor/versions and frozen.json from one commit."


@dataclass(frozen=True)
class Procedure:
    """The code of a version."""

    breaks: Callable[[History, Iterable[Invariant], Mapping[str, Bound]], tuple[Break, ...]]
    decide: Callable[[Sequence[Break], End, Sequence[Ending]], Break | Ending | None]


CURRENT: Final = "first_break"  # the procedure of the package as it is

PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType({CURRENT: Procedure(breaks, decide)})


class LaterBounds(Record):
    """Bounds of a setting that was recorded after its version was frozen: when, and SHA-256."""

    date: datetime.date
    sha256: str


class FrozenVersion(Record):
    """What was frozen."""

    date: datetime.date
    procedure: str
    rules: str
    files: Mapping[str, str]
    code: str
    bounds: Mapping[str, str]
    later_bounds: Mapping[str, LaterBounds]

    def all_bounds(self) -> dict[str, str]:
        """SHA-256 of all bounds of the version, by setting."""
        later = {setting: file.sha256 for setting, file in self.later_bounds.items()}
        return {**self.bounds, **later}


@dataclass(frozen=True)
class Rules:
    """A version, ready to diagnose."""

    version: str
    invariants: tuple[Invariant, ...]
    endings: tuple[Ending, ...]
    procedure: Procedure
    bounds: Mapping[str, Mapping[str, Bound]]


def read_frozen(folder: Path) -> dict[str, FrozenVersion]:
    """The versions that were frozen, in their order; none where nothing was."""
    path = folder / FROZEN
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(path, "(file)", "is not a JSON file.", REMEDY) from error
    if not isinstance(content, dict):
        raise BadInputError(path, "(file)", "is no mapping of versions.", REMEDY)
    return {
        version: validated(FrozenVersion, frozen, path, REMEDY, (version,))
        for version, frozen in content.items()
    }


def read_rules(folder: Path, version: str) -> Rules:
    """A frozen version, ready to diagnose."""
    frozen = read_frozen(folder)
    if version not in frozen:
        known = f"Choose one of {', '.join(frozen)}." if frozen else "Freeze it first."
        raise BadInputError(folder / FROZEN, version, "is no frozen version.", known)
    rules, place = frozen[version], folder / VERSIONS / version
    if rules.procedure not in PROCEDURES:
        problem = f"there is no procedure {rules.procedure!r}."
        remedy = f"Keep its code under this name in {__name__}."
        raise BadInputError(folder / FROZEN, f"{version}.procedure", problem, remedy)
    texts = {name: _unchanged(place / name, rules.files.get(name)) for name in RULE_FILES}
    try:
        invariants = read_invariants(texts["invariants.csv"])
        endings = read_endings(texts["endings.csv"], invariants)
    except (ValueError, KeyError) as error:
        raise BadInputError(place, "(files)", f"cannot be applied ({error}).", REMEDY) from error
    bounds = {}
    for setting, expected in rules.all_bounds().items():
        path = place / BOUNDS / f"{setting}.json"
        _unchanged(path, expected)
        bounds[setting] = read_bounds(path, invariants).intervals()
    return Rules(version, invariants, endings, PROCEDURES[rules.procedure], bounds)


def _unchanged(path: Path, expected: str | None) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(path, "(file)", "cannot be read.", REMEDY) from error
    if sha256(content).hexdigest() != expected:
        raise BadInputError(path, "(file)", "is not what was frozen.", REMEDY)
    return content.decode(encoding="utf-8")
