"""Faults, registered by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from failbench.errors import BadInputError
from failbench.recording.loop import TrainingRun
from failbench.scenarios import FaultDeclaration

Moment = Literal["before_build", "at_onset"]

_FAULTS: dict[str, Fault] = {}


@dataclass(frozen=True)
class Fault:
    """A named change to a run, before the model is built or when its onset step begins."""

    name: str
    moment: Moment
    install: Callable[..., None]

    def check_parameters(self, declaration: FaultDeclaration, place: object) -> None:
        """Refuse parameters that the fault does not take, or lacks."""
        try:
            inspect.signature(self.install).bind(None, **declaration.parameters)
        except TypeError as error:
            raise BadInputError(
                place,
                "fault.parameters",
                f"do not fit the fault {self.name!r}: {error}.",
                "Give the keyword parameters of its function in failbench.recording.faults.",
            ) from error


def fault(moment: Moment) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function ``install(run, **parameters)`` as the fault of that name."""

    def register(install: Callable[..., None]) -> Callable[..., None]:
        _FAULTS[install.__name__] = Fault(install.__name__, moment, install)
        return install

    return register


def find_fault(declaration: FaultDeclaration, place: object) -> Fault:
    """The fault that a scenario declares, with its parameters checked."""
    # Imported here because each of these modules imports the decorator above.
    from failbench.recording.faults import data, memory, optimization, software, unknown

    assert all((data, memory, optimization, software, unknown))
    found = _FAULTS.get(declaration.name)
    if found is None:
        raise BadInputError(
            place,
            "fault.name",
            f"there is no fault {declaration.name!r}.",
            "Use the name of a function marked with @fault in failbench.recording.faults.",
        )
    found.check_parameters(declaration, place)
    return found


def apply_fault(run: TrainingRun, declared: Fault, declaration: FaultDeclaration) -> None:
    """Install the fault permanently."""
    declared.install(run, **declaration.parameters)
