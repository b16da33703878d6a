"""Signatures of faults, read from source: scenarios are held against them without torch."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from failbench.base.errors import BadInputError
from failbench.base.scenarios import FaultDeclaration, Scenario
from failbench.recording.plan import Remedy

Signatures: TypeAlias = Mapping[str, inspect.Signature | None]
"""Signature of each fault by name; None where a second decorator may have changed it."""

_FAULT_MODULES = Path(__file__).parent / "faults"

_IS_A: Mapping[str, Callable[[object], bool]] = {
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
}
"""Whether a value of a scenario is of a type; other annotations are not judged."""


def signatures_in(path: Path) -> dict[str, inspect.Signature | None]:
    """Signatures of the functions that a module marks with ``@fault``."""
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise BadInputError(
            path, "(file)", f"is no Python module ({error}).", "Name a file of Python."
        ) from error
    signatures: dict[str, inspect.Signature | None] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and any(map(_marks, node.decorator_list)):
            if node.name in signatures:
                raise BadInputError(
                    f"{path}, line {node.lineno}",
                    "@fault",
                    f"the fault {node.name!r} is registered twice.",
                    "Give each fault a name of its own.",
                )
            plain = len(node.decorator_list) == 1
            signatures[node.name] = _signature(node.args) if plain else None
    return signatures


def _marks(decorator: ast.expr) -> bool:
    """Whether a decorator is ``fault(...)``, by whatever path."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == "fault"


def _signature(arguments: ast.arguments) -> inspect.Signature:
    """The signature of a function, its annotations as text and its defaults as None.

    Neither is evaluated: they may name what only an import of the module has.
    """
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [default and ast.Constant(None) for default in arguments.kw_defaults]
    header = f"def marked({ast.unparse(arguments)}): ..."
    namespace: dict[str, Callable[..., None]] = {}
    exec(f"from __future__ import annotations\n{header}", namespace)  # noqa: S102 - no values
    return inspect.signature(namespace["marked"])


@cache
def package_signatures() -> Signatures:
    """Signatures of the package's faults."""
    return {
        name: signature
        for path in sorted(_FAULT_MODULES.glob("*.py"))
        for name, signature in signatures_in(path).items()
    }


def refuse_unusable_faults(
    scenarios: Iterable[Scenario], folder: Path, signatures: Signatures
) -> None:
    """Refuse scenarios whose fault could not be injected.

    Such a run would end in an error at once, and pass for the crash of a fault of the kind
    ``start_crash``.
    """
    for scenario in scenarios:
        _refuse_unusable(scenario.fault, file_of(scenario, folder), "fault", signatures)


def refuse_unusable_remedies(
    scenarios: Iterable[Scenario],
    remedies: Mapping[str, Remedy],
    place: Path,
    signatures: Signatures,
) -> None:
    """Refuse remedies, of a file of parameters, that replace the fault by one of no use."""
    for scenario in scenarios:
        for name, remedy in remedies.items():
            if remedy.fault is not None and remedy.run.partition("-")[0] == scenario.id:
                declaration = scenario.fault.model_copy(update={"name": remedy.fault})
                _refuse_unusable(declaration, place, f"record.remedies.{name}.fault", signatures)


def file_of(scenario: Scenario, folder: Path) -> Path:
    """The file of a scenario that was read from a folder."""
    return folder / scenario.category / f"{scenario.id}.json"


def _refuse_unusable(
    declaration: FaultDeclaration, place: object, field: str, signatures: Signatures
) -> None:
    if declaration.name not in signatures:
        raise BadInputError(
            place,
            f"{field}.name",
            f"there is no fault {declaration.name!r}.",
            "Use the name of a function marked with @fault in failbench.recording.faults, or name "
            "the module that has it with --faults.",
        )
    signature = signatures[declaration.name]
    if signature is None:
        return
    parameters = f"{field}.parameters"
    try:
        bound = signature.bind(None, **declaration.parameters)
    except TypeError as error:
        raise BadInputError(
            place,
            parameters,
            f"do not fit the fault {declaration.name!r}: {error}.",
            f"Its function is {declaration.name}{signature}: give what follows the run, by name.",
        ) from error
    for name, value in declaration.parameters.items():
        annotation = signature.parameters[name].annotation if name in bound.arguments else ""
        kind = str(annotation).strip("\"'")
        if kind in _IS_A and not _IS_A[kind](value):
            raise BadInputError(
                place,
                f"{parameters}.{name}",
                f"is {value!r}, and the fault {declaration.name!r} takes a value of type {kind}.",
                f"Give a value of type {kind}.",
            )
