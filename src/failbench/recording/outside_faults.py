"""Faults of modules outside the package: found, read, imported, and trained with."""

from __future__ import annotations

import importlib.util
import inspect
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Scenario
from failbench.recording.fault_signatures import (
    Signatures,
    file_of,
    package_signatures,
    signatures_in,
)
from failbench.recording.fingerprint import outside_fault_codes
from failbench.recording.order import Line, RunOrder
from failbench.recording.sandbox import train


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
        return TrainingWithFaults(self.modules) if self.modules else train

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
            raise BadInputError(
                module.path,
                "@fault",
                "marks no function as a fault.",
                "Mark one with @fault of failbench.recording.faults.registry.",
            )
        for fault in signatures:
            if fault in package_signatures() or fault in added:
                owner = "another module" if fault in added else "the package"
                raise BadInputError(
                    module.path,
                    "@fault",
                    f"{fault!r} is the name of a fault of {owner}.",
                    "Give each fault a name of its own.",
                )
        added |= signatures
        codes |= outside_fault_codes(module.path, signatures)
        modules.append(module)
    return OutsideFaults(tuple(modules), codes, added)


def _located(name: str) -> FaultModule:
    if name.endswith(".py"):
        path = Path(name).resolve()
        if not path.is_file():
            raise BadInputError(name, "--faults", "is no file.", "Name a file that ends in .py.")
        if _hides_another(path):
            raise BadInputError(
                name,
                "--faults",
                f"another module is called {path.stem}, which could then not be imported.",
                "Rename the file.",
            )
        return FaultModule(path.stem, path, by_path=True)
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # whatever a package above it raises, or that it has no file
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise BadInputError(
            name,
            "--faults",
            "is no module that can be imported.",
            "Name its file, which ends in .py, or install it.",
        )
    return FaultModule(name, Path(spec.origin).resolve(), by_path=False)


def _hides_another(path: Path) -> bool:
    """Whether an import of the file's name would find another file."""
    spec = PathFinder.find_spec(path.stem)
    other = spec is not None and spec.origin and Path(spec.origin).resolve() != path
    return bool(other) or path.stem in sys.stdlib_module_names


def import_faults(modules: Sequence[FaultModule]) -> None:
    """Import modules, which registers their faults."""
    from failbench.recording.faults import data, memory, optimization, registry, software, unknown

    assert all((data, memory, optimization, software, unknown))  # registered first
    for module in modules:
        before = dict(registry._FAULTS)
        try:
            _import(module)
        except Exception as error:
            raise BadInputError(
                module.path,
                "--faults",
                f"cannot be imported ({type(error).__name__}: {error}).",
                "Correct it, or install what it imports.",
            ) from error
        replaced = [name for name in before if registry._FAULTS[name] is not before[name]]
        if replaced:
            registry._FAULTS.update(before)
            sys.modules.pop(module.name, None)
            raise BadInputError(
                module.path,
                "@fault",
                f"registers the fault {replaced[0]!r}, which another module has.",
                "Give each fault a name of its own.",
            )


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
    """Refuse scenarios whose fault the registry refuses, now that all modules are imported.

    What is read from source may differ from what is registered where a module does more than to
    mark functions.
    """
    from failbench.recording.faults.registry import find_fault

    for scenario in scenarios:
        find_fault(scenario.fault, file_of(scenario, folder))


@dataclass(frozen=True)
class TrainingWithFaults:
    """The child's side of a run whose fault may be of one of these modules."""

    modules: tuple[FaultModule, ...]

    def __call__(self, order: RunOrder, line: Line) -> None:
        """Import the modules, then train as any child does."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as training does, which has not begun
        import_faults(self.modules)
        train(order, line)
