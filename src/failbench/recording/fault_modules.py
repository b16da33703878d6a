"""Faults as their modules mark them, of the package or not; read from source, without torch."""

import ast
import importlib.util
import inspect
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeAlias

from failbench.base.errors import BadInputError
from failbench.base.scenarios import FaultDeclaration, Scenario
from failbench.recording.fingerprint import outside_fault_codes
from failbench.recording.order import Line, RunOrder
from failbench.recording.plan import Remedy, fault_of
from failbench.recording.sandbox import train

Signatures: TypeAlias = Mapping[str, inspect.Signature | None]
"""Signature of each fault by name; None where a second decorator may have changed it."""

OWN_NAME = "Give each fault a name of its own."
_FAULT_MODULES = Path(__file__).parent / "faults"

_IS_A: Mapping[str, Callable[[object], bool]] = {  # other annotations are not judged
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
}


def signatures_in(path: Path) -> dict[str, inspect.Signature | None]:
    """Signatures of the functions that a module marks with ``@fault``."""
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        problem = f"is no Python module ({error})."
        raise BadInputError(path, "(file)", problem, "Name a file of Python.") from error
    signatures: dict[str, inspect.Signature | None] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and any(map(_marks, node.decorator_list)):
            if node.name in signatures:
                problem = f"the fault {node.name!r} is registered twice."
                raise BadInputError(f"{path}, line {node.lineno}", "@fault", problem, OWN_NAME)
            plain = len(node.decorator_list) == 1
            signatures[node.name] = _signature(node.args) if plain else None
    return signatures


def _marks(decorator: ast.expr) -> bool:
    """Whether a decorator is ``fault(...)``, by whatever path."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == "fault"


def _signature(arguments: ast.arguments) -> inspect.Signature:
    """A signature, unevaluated, as only an import of the module may have its names."""
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
    """Refuse scenarios whose fault cannot be injected: its error would pass for a crash."""
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
                field = f"record.remedies.{name}.fault"
                _refuse_unusable(fault_of(scenario, remedy), place, field, signatures)


def file_of(scenario: Scenario, folder: Path) -> Path:
    """The file of a scenario that was read from a folder."""
    return folder / scenario.category / f"{scenario.id}.json"


def _refuse_unusable(
    declaration: FaultDeclaration, place: object, field: str, signatures: Signatures
) -> None:
    if declaration.name not in signatures:
        problem = f"there is no fault {declaration.name!r}."
        remedy = (
            "Use the name of a function marked with @fault in failbench.recording.faults, or name "
            "the module that has it with --faults."
        )
        raise BadInputError(place, f"{field}.name", problem, remedy)
    signature, fault = signatures[declaration.name], declaration.name
    if signature is None:
        return
    parameters = f"{field}.parameters"
    try:
        bound = signature.bind(None, **declaration.parameters)
    except TypeError as error:
        problem = f"do not fit the fault {fault!r}: {error}."
        remedy = f"Its function is {fault}{signature}: give what follows the run, by name."
        raise BadInputError(place, parameters, problem, remedy) from error
    for name, value in declaration.parameters.items():
        annotation = signature.parameters[name].annotation if name in bound.arguments else ""
        kind = str(annotation).strip("\"'")
        if kind in _IS_A and not _IS_A[kind](value):
            problem = f"is {value!r}, and the fault {fault!r} takes a value of type {kind}."
            remedy = f"Give a value of type {kind}."
            raise BadInputError(place, f"{parameters}.{name}", problem, remedy)


@dataclass(frozen=True)
class FaultModule:
    """A module with faults."""

    name: str
    path: Path
    by_path: bool

    @property
    def root(self) -> Path:
        """The folder in which an import of its name would begin."""
        above = self.name.count(".") + (self.path.stem == "__init__")
        return self.path.parents[above]


@dataclass(frozen=True)
class OutsideFaults:
    """The faults that modules outside the package add."""

    modules: tuple[FaultModule, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    added: Signatures = field(default_factory=dict)

    @property
    def signatures(self) -> Signatures:
        """Signatures of the package's faults and of these."""
        return {**package_signatures(), **self.added}

    @property
    def training(self) -> Callable[[RunOrder, Line], None]:
        """The child's side of a run that may have one of these faults."""
        return partial(train_with, self.modules) if self.modules else train

    @property
    def preloaded(self) -> tuple[str, ...]:
        """Modules of the package that the fork server imports for it."""
        return (__name__,) if self.modules else ()

    def relative(self, text: str) -> str:
        """Error text with the paths of the modules made relative, as those of the package are."""
        for module in self.modules:
            text = text.replace(f"{module.root}/", "")
        return text


def read_outside_faults(names: Sequence[str]) -> OutsideFaults:
    """Read the modules that are named, without importing them."""
    modules, codes = [], dict[str, str]()
    added: dict[str, inspect.Signature | None] = {}
    for name in dict.fromkeys(names):
        module = _located(name)
        signatures = signatures_in(module.path)
        if not signatures:
            remedy = "Mark one with @fault of failbench.recording.faults.registry."
            raise BadInputError(module.path, "@fault", "marks no function as a fault.", remedy)
        for fault in signatures:
            if fault in package_signatures() or fault in added:
                owner = "another module" if fault in added else "the package"
                problem = f"{fault!r} is the name of a fault of {owner}."
                raise BadInputError(module.path, "@fault", problem, OWN_NAME)
        added |= signatures
        codes |= outside_fault_codes(module.path, signatures)
        modules.append(module)
    return OutsideFaults(tuple(modules), codes, added)


def _located(name: str) -> FaultModule:
    if name.endswith(".py"):
        path = Path(name).resolve()
        if not path.is_file():
            raise BadInputError(name, "--faults", "is no file.", "Name a file that ends in .py.")
        spec = PathFinder.find_spec(path.stem)
        other = spec is not None and spec.origin and Path(spec.origin).resolve() != path
        if other or path.stem in sys.stdlib_module_names:
            problem = f"another module is called {path.stem}, which could then not be imported."
            raise BadInputError(name, "--faults", problem, "Rename the file.")
        return FaultModule(path.stem, path, by_path=True)
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # whatever a package above it raises, or that it has no file
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        remedy = "Name its file, which ends in .py, or install it."
        raise BadInputError(name, "--faults", "is no module that can be imported.", remedy)
    return FaultModule(name, Path(spec.origin).resolve(), by_path=False)


def import_faults(modules: Sequence[FaultModule]) -> None:
    """Import modules, which registers their faults."""
    from failbench.recording.faults import data, memory, optimization, registry, software, unknown

    assert all((data, memory, optimization, software, unknown))  # registered first
    for module in modules:
        before = dict(registry._FAULTS)
        try:
            _import(module)
        except Exception as error:
            problem = f"cannot be imported ({type(error).__name__}: {error})."
            remedy = "Correct it, or install what it imports."
            raise BadInputError(module.path, "--faults", problem, remedy) from error
        replaced = [name for name in before if registry._FAULTS[name] is not before[name]]
        if replaced:
            registry._FAULTS.update(before)
            sys.modules.pop(module.name, None)
            problem = f"registers the fault {replaced[0]!r}, which another module has."
            raise BadInputError(module.path, "@fault", problem, OWN_NAME)


def _import(module: FaultModule) -> None:
    if not module.by_path:
        import_module(module.name)
    elif getattr(sys.modules.get(module.name), "__file__", None) != str(module.path):
        spec = importlib.util.spec_from_file_location(module.name, module.path)
        assert spec is not None
        assert spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module.name] = loaded  # where its dataclasses look it up
        try:
            spec.loader.exec_module(loaded)
        except BaseException:
            del sys.modules[module.name]
            raise


def refuse_unregistered_faults(scenarios: Sequence[Scenario], folder: Path) -> None:
    """Refuse scenarios whose fault the registry refuses, now that modules are imported."""
    from failbench.recording.faults.registry import find_fault

    for scenario in scenarios:
        find_fault(scenario.fault, file_of(scenario, folder))


def train_with(modules: Sequence[FaultModule], order: RunOrder, line: Line) -> None:
    """Import modules with faults, then train as any child does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as training does, which has not begun
    import_faults(modules)
    train(order, line)
