"""Freezing: what the monitor's rules are, as hashes, before they meet a failing run."""

import csv
import datetime
import io
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import failbench.monitor
from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.monitor.bounds import read_bounds
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.records.versions import (
    BOUNDS,
    CURRENT,
    FROZEN,
    RULE_FILES,
    VERSIONS,
    FrozenVersion,
    LaterBounds,
    read_frozen,
)
from failbench.recording.fingerprint import code_hash

PACKAGE: Final = Path(failbench.monitor.__file__).parent
FILES: Final = (*RULE_FILES, "signals.csv")
CODE: Final = ("breaks.py", "endings.py", "records/first_break.py")
HISTORY: Final = "versions.csv"
COLUMNS: Final = ("version", "date", "hash", "changed", "why", "first_scored")
"""Columns of ``versions.csv``; ``first_scored`` is added by hand, and stays."""

REMEDY: Final = "Free space or choose another folder; an existing file is unchanged."


def rule_hashes(package: Path = PACKAGE) -> tuple[dict[str, str], str]:
    """SHA-256 of the rules' data, by file, and of what their code does, docstrings aside."""
    files = {name: _hash((package / "data" / name).read_bytes()) for name in FILES}
    return files, code_hash(package / name for name in CODE)


def rules_hash(files: Mapping[str, str], code: str) -> str:
    """One SHA-256 of all that decides but bounds."""
    return _hash(json.dumps({"files": dict(files), "code": code}, sort_keys=True).encode())


def frozen_hash(version: FrozenVersion) -> str:
    """One SHA-256 of a version as it was frozen: its rules, and the bounds frozen with them."""
    content = {"rules": version.rules, "bounds": dict(version.bounds)}
    return _hash(json.dumps(content, sort_keys=True).encode())


def version_of_today(folder: Path, package: Path = PACKAGE) -> str | None:
    """The last frozen version that has the rules of the package as it is; None if none has."""
    today = rules_hash(*rule_hashes(package))
    same = [name for name, frozen in read_frozen(folder).items() if frozen.rules == today]
    return same[-1] if same else None


def freeze(
    folder: Path,
    version: str,
    date: datetime.date,
    changed: str = "",
    why: str = "",
    package: Path = PACKAGE,
) -> FrozenVersion:
    """Freeze the package's rules and the bounds in ``folder``, those new to a known version."""
    files, code = rule_hashes(package)
    rules = rules_hash(files, code)
    known = read_frozen(folder)
    before = known.get(version)
    if before is None and not (changed and why):
        problem = "a new version needs words for what changed and why."
        raise BadInputError(folder / HISTORY, version, problem, "Give both.")
    if before is not None and before.rules != rules:
        problem, remedy = "was frozen with other rules.", "Give the rules of today a new label."
        raise BadInputError(folder / FROZEN, version, problem, remedy)
    kept = before.all_bounds() if before is not None else {}
    place = folder / VERSIONS / version
    added = {}
    for path in sorted((folder / BOUNDS).glob("*.json")):
        if path.stem not in kept:
            read_bounds(path, CATALOGUE)
            added[path.stem] = path.read_bytes()
    if not added:
        problem, remedy = "has no bounds to freeze.", "Fit them to healthy runs."
        raise BadInputError(folder / BOUNDS, "(folder)", problem, remedy)
    for setting, content in added.items():
        write_atomically(place / BOUNDS / f"{setting}.json", content, REMEDY)
    hashes = {setting: _hash(content) for setting, content in added.items()}
    if before is not None:
        later = {setting: LaterBounds(date=date, sha256=sha) for setting, sha in hashes.items()}
        frozen = before.model_copy(update={"later_bounds": {**before.later_bounds, **later}})
        _write_frozen(folder, {**known, version: frozen})
        return frozen
    for name in RULE_FILES:
        write_atomically(place / name, (package / "data" / name).read_bytes(), REMEDY)
    decided = {"procedure": CURRENT, "rules": rules, "files": files, "code": code}
    frozen = FrozenVersion(date=date, **decided, bounds=hashes, later_bounds={})
    _write_frozen(folder, {**known, version: frozen})
    _add_to_history(folder / HISTORY, version, frozen, changed, why)
    return frozen


def _write_frozen(folder: Path, versions: Mapping[str, FrozenVersion]) -> None:
    content = {name: version.model_dump(mode="json") for name, version in versions.items()}
    text = json.dumps(content, indent=2) + "\n"
    write_atomically(folder / FROZEN, text.encode(), REMEDY)


def _add_to_history(
    path: Path, version: str, frozen: FrozenVersion, changed: str, why: str
) -> None:
    text = io.StringIO(newline="")
    text.write(path.read_text(encoding="utf-8") if path.exists() else ",".join(COLUMNS) + "\n")
    row = (version, frozen.date.isoformat(), frozen_hash(frozen), changed, why, "")
    csv.writer(text, lineterminator="\n").writerow(row)
    write_atomically(path, text.getvalue().encode(), REMEDY)


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
