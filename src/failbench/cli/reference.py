"""The reference: a checkout with what was recorded of the benchmark, wherever a command runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import failbench
from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS
from failbench.cli.paths import FEATURE_TABLE, SCENARIOS


@dataclass(frozen=True)
class Reference:
    """A checkout of this repository; ``root`` is empty where it is the working directory."""

    root: Path

    @property
    def params(self) -> Path:
        """Its parameters: settings of methods, and how the benchmark is recorded."""
        return self.root / PARAMS

    @property
    def features(self) -> Path:
        """Features of what was recorded, which methods learn from."""
        return self.root / FEATURE_TABLE

    @property
    def scenarios(self) -> Path:
        """The scenarios of the benchmark."""
        return self.root / SCENARIOS

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
    if root is None:
        reference = known_reference()
        if reference is None:
            raise BadInputError(
                "command line",
                "--reference",
                "neither the working directory nor the installed package is a checkout.",
                remedy,
            )
        return reference
    reference = Reference(root)
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
