"""Fingerprints: one hash of everything that a recorded run depends on, computed without torch."""

# Formatting, comments, docstrings and annotations are ignored; executable code, import lines
# included, is hashed.

import ast
import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, TypeAlias

from failbench.base.errors import BadInputError
from failbench.base.scenarios import FaultDeclaration, Optimizer
from failbench.recording.nominal import NominalRanges

_PACKAGE = Path(__file__).parent
_LOOP_MODULES = (
    *("architectures.py", "child.py", "corpus.py", "loop.py", "memory.py"),
    *("nominal.py", "paths.py", "reports.py", "unmonitored.py"),
)
_PARSING = Lock()
_FAULTS = "failbench.recording.faults."
_GPU_MODULES = (*_LOOP_MODULES, "gpu.py")
PROVENANCE = (  # run columns with the device, corpus and library versions of a run
    *("device", "corpus_sha256", "python_version"),
    *("torch_version", "transformers_version", "tokenizers_version"),
)

Place: TypeAlias = tuple[str, str]  # a module and a name in it

Definitions: TypeAlias = dict[Place, tuple[str, frozenset[Place]]]
"""Top-level definitions by their place: their code, and the places of the names that it uses."""


class _BehaviourOnly(ast.NodeTransformer):
    """Drops docstrings and type annotations, which have no effect on behaviour."""

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        return node


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _dump(node: object) -> str:
    """A syntax tree as text, without empty fields, which differ between Python versions."""
    if isinstance(node, list):
        return "[" + ",".join(map(_dump, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={_dump(value)}" for name, value in ast.iter_fields(node) if value not in (None, [])
    ]
    return f"{type(node).__name__}({','.join(fields)})"


def parsed(path: Path) -> ast.Module:
    """Syntax tree, a thread at a time: Python 3.11 raises ``SystemError`` when two parse."""
    text = path.read_text(encoding="utf-8")
    with _PARSING:
        return ast.parse(text)


def _module(path: Path) -> ast.Module:
    module = parsed(path)
    _BehaviourOnly().visit(module)  # in place
    return module


@cache
def loop_code(device: str = "cpu") -> str:
    """Hash of the code that every run on a device executes."""
    modules = _GPU_MODULES if device == "cuda" else _LOOP_MODULES
    return code_hash([_PACKAGE / name for name in modules])


def corpus_cache(folder: Path) -> Path:
    """Path of the corpus of this code, interpreter and tokenizer library."""
    # A cache under a fixed name once outlived its code: 500 runs could not be made again.
    code = code_hash([_PACKAGE / "corpus.py"])
    makers = (code, platform.python_version(), version("tokenizers"))
    return folder / f"corpus-{hashlib.sha256(' '.join(makers).encode()).hexdigest()[:12]}.json"


def code_hash(paths: Iterable[Path]) -> str:
    """Hash of what modules do, formatting, comments, docstrings and annotations aside."""
    dumps = [_dump(_module(path)) for path in paths]
    return hashlib.sha256("\n".join(dumps).encode()).hexdigest()


def _definitions(path: Path) -> Definitions:
    definitions: Definitions = {}
    module = _module(path)
    imported = _imported_faults(module)
    for node in module.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        places = frozenset(imported.get(name, (path.stem, name)) for name in used)
        for name in _names_bound(node):
            code, before = definitions.get((path.stem, name), ("", frozenset[Place]()))
            definitions[path.stem, name] = (code + _dump(node), before | places)
    return definitions


def _imported_faults(module: ast.Module) -> dict[str, Place]:
    """Where the names stand that a fault module imports from other fault modules."""
    return {
        alias.asname or alias.name: (node.module.removeprefix(_FAULTS), alias.name)
        for node in module.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_FAULTS)
        for alias in node.names
    }


def _names_bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    names = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


@cache
def _fault_definitions() -> Definitions:
    """Definitions of the fault modules but the registry: a further fault changes no other."""
    definitions: Definitions = {}
    for path in sorted((_PACKAGE / "faults").glob("*.py")):
        if path.name not in ("__init__.py", "registry.py"):
            definitions |= _definitions(path)
    return definitions


@cache
def fault_code(name: str) -> str:
    """Hash of a fault's function and of everything in the fault modules that it calls."""
    definitions = _fault_definitions()
    places = [place for place in definitions if place[1] == name]
    if not places:
        remedy = (
            "Use the name of a function marked with @fault in failbench.recording.faults, or name "
            "its module with --faults."
        )
        raise BadInputError("data/scenarios", "fault.name", f"there is no fault {name!r}.", remedy)
    return _reached_code(places, definitions)


def _reached_code(places: Iterable[Place], definitions: Definitions) -> str:
    reached, pending = set[Place](), [*places]
    while pending:
        used = pending.pop()
        if used in definitions and used not in reached:
            reached.add(used)
            pending.extend(definitions[used][1])
    code = "\n".join(definitions[used][0] for used in sorted(reached))
    return hashlib.sha256(code.encode()).hexdigest()


def outside_fault_codes(path: Path, names: Iterable[str]) -> dict[str, str]:
    """Hashes of faults of a module outside of the package, whose own do not change with them."""
    definitions = _definitions(path)
    return {name: _reached_code([(path.stem, name)], definitions) for name in names}


def fingerprint(
    ranges: NominalRanges,
    optimizer: Optimizer,
    declaration: FaultDeclaration | None,
    provenance: dict[str, Any],
    remedy: Mapping[str, Any] | None = None,
    outside: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Fingerprint of a run."""
    parts: dict[str, Any] = {
        "loop": loop_code(provenance["device"]),
        "ranges": ranges.model_dump(mode="json", exclude={"learning_rate"}),
        "learning_rate": ranges.learning_rate[optimizer],
        "provenance": {name: provenance[name] for name in PROVENANCE},
    }
    if declaration is not None:
        parts["fault"] = declaration.model_dump(mode="json")
        name = declaration.name
        parts["fault_code"] = outside[name] if name in outside else fault_code(name)
    if remedy is not None:
        parts["remedy"] = dict(remedy)
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
