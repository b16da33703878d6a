"""Catalogue: the methods that a folder of telemetry can be diagnosed by, and their settings."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from failbench.base.errors import BadInputError
from failbench.base.methods import CATALOGUE, ENTRIES, FEATURE_METHODS, MONITOR_METHODS
from failbench.base.params import read_section
from failbench.base.records import Record
from failbench.methods.catalogue import method_named

if TYPE_CHECKING:
    from failbench.methods.declaration import MethodDeclaration

# methods that read step series and error text, and no feature
RAW_METHODS: Final = tuple(
    entry.name for entry in CATALOGUE if entry.module and entry.family == "raw telemetry"
)

RAW_SECTION: Final = "raw_telemetry"  # section of params.yaml with the settings of all of them

# names of all methods that can diagnose, by what they read
READ_BY: Final = {
    "features": tuple(name for name in FEATURE_METHODS if not ENTRIES[name].reads_true_category),
    "a monitor's recording": MONITOR_METHODS,
    "raw telemetry": RAW_METHODS,
}


def refuse_unknown(name: str) -> None:
    """Refuse a name that is no method, or one that simulates people."""
    if any(name in names for names in READ_BY.values()):
        return
    problem = (
        "needs the true causes, which are unknown here."
        if name in ENTRIES and ENTRIES[name].reads_true_category
        else "is unknown."
    )
    *others, last = [f"{read} ({', '.join(names)})" for read, names in READ_BY.items()]
    remedy = f"Choose one that reads {', '.join(others)} or {last}."
    raise BadInputError("command line", "--method", f"{name!r} {problem}", remedy)


def declaration_named(name: str) -> MethodDeclaration:
    """The declaration of a method that can diagnose."""
    refuse_unknown(name)
    if name not in RAW_METHODS:
        return method_named(name)
    module = import_module(f"failbench.methods.{ENTRIES[name].module}")
    declarations: dict[str, MethodDeclaration] = module.DECLARATIONS
    return declarations[name]


def settings_of(name: str, params: Path) -> Record:
    """The settings of a method, from the file that studies read."""
    declaration = declaration_named(name)
    if name in RAW_METHODS:
        return read_section(RAW_SECTION, declaration.settings, params)
    sections = declaration.sections.items()
    return declaration.assemble(
        {section: read_section(section, record, params) for section, record in sections}
    )
