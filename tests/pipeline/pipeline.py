"""What dvc.yaml declares, and what the stage scripts really import, read and write.

Run as a program, from anywhere, it prints, as YAML, the parameters of each stage and the code
dependencies that it may declare.
"""

import ast
import importlib
import re
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from failbench.base.methods import CATALOGUE
from failbench.diagnose.batch import RAW_METHODS, RAW_SECTION, READ_BY, declaration_named

REPOSITORY = Path(__file__).parents[2]
EXPERIMENTS = REPOSITORY / "experiments"
IMPORT_ROOTS = (REPOSITORY / "src", EXPERIMENTS)
SHARED_SCRIPTS = {"known_logs", "known_runs", "recordings"}
"""Files of experiments/ that stages import and that are no stage themselves."""

REEXPORTS = {
    f"src/failbench/{name}.py" for name in ("errors", "records", "scenarios", "vocabulary")
}
"""Names that recorded code imports, of modules that lie in ``base``."""

NAMESPACE = "st."
"""What scripts call ``failbench.study``, which offers what studies are written in."""

READERS = {"read_section", "read_names", "read_with_statistics"}
"""Functions that read the section of params.yaml that they are called with."""

SHARED_READERS = {"read_statistics", "read_with_statistics"}
"""Functions that read the section ``statistics``."""

PUBLISHED = ("data/metrics", "data/plots", "figures", "paper/tables")
"""Folders that ``publish`` writes to, under names that it makes of the study's."""

SHARED_INPUTS = {
    "read_reported": ["data/reported/paper.yaml"],
    "read_main_study": ["data/predictions/nested_cv"],
    "read_recorded_model": ["data/predictions/recorded"],
    "read_across_architectures": ["data/predictions/across_architectures"],
    "read_features": ["data/features/features.parquet"],
    "read_splits": ["data/features/splits.parquet"],
    "read_recordings": ["data/telemetry", "data/scenarios"],
    "read_outside": [
        *("data/field/development", "data/healthy_ranks", "data/reports"),
        "data/messages/examples.csv",
    ],
    "healthy_ranks": ["data/healthy_ranks"],
    "read_of_a": [
        "data/monitor/runs.parquet",
        "data/monitor/signals",
        "data/measurements/invariants/ends.parquet",
    ],
    "read_of_b": [f"data/author_b/{name}" for name in ("readers.csv", "scenarios", "telemetry")],
    "bounds_of_monitor": [
        "data/monitor/frozen.json",
        "data/monitor/versions",
        "data/measurements/carried_bounds.parquet",
    ],
    "publish": ["figures/matplotlibrc"],
    "publish_estimates": ["figures/matplotlibrc"],
}
"""Files that scripts read through functions that they share, by function."""

METHOD_MODULE = "f'failbench.methods.{module}'"

PROJECT_PATH = re.compile(
    r"^(figures|CITATION\.cff|(data|docs|figures|paper|src/failbench/fitted)(/[\w.@+-]+)+)$"
)


@dataclass(frozen=True)
class Stage:
    """One stage as dvc.yaml declares it.

    A foreach stage over methods is one stage, with ``${item}`` inside. Each study of studies.yaml
    is a stage of its own, which declares what studies of its form read: more than it reads itself.
    """

    name: str
    body: dict[str, Any]
    of_form: bool = False

    @property
    def target(self) -> str:
        """What DVC calls it."""
        return f"study@{self.name}" if self.of_form else self.name

    @property
    def script(self) -> Path:
        return EXPERIMENTS / f"{self.name}.py"

    @property
    def deps(self) -> set[str]:
        return set(self.body.get("deps", []))

    @property
    def code(self) -> set[str]:
        """Files and folders of code that it depends on; fitted models are data."""
        code = {dep for dep in self.deps if dep.startswith(("src/", "experiments/"))}
        return {dep for dep in code if not dep.startswith("src/failbench/fitted/")}

    @property
    def inputs(self) -> set[str]:
        """Files and folders of data that it reads."""
        data = self.deps - self.code
        if not self.of_form:
            return data
        named = paths_named(self.script)
        read: set[str] = set()
        for path in data:
            within = {each for each in named if holds(path, each)}
            whole = path in within or any("@" in each for each in within)
            read |= {path} if whole else within
        return {path for path in read if not any(holds(path, each) for each in read - {path})}

    @property
    def params(self) -> set[str]:
        """Sections of params.yaml that it depends on."""
        return set(self.body.get("params", []))

    @property
    def sections(self) -> set[str]:
        """Sections of params.yaml that it reads."""
        return parameters_read(self.script)[0] if self.of_form else self.params

    @cached_property
    def outputs(self) -> dict[str, dict[str, Any]]:
        """Paths of outs, metrics and plots, with their options."""
        outputs: dict[str, dict[str, Any]] = {}
        for kind in ("outs", "metrics", "plots"):
            for entry in self.body.get(kind, []):
                outputs |= entry if isinstance(entry, dict) else {entry: {}}
        return outputs


@cache
def _parsed(text: str) -> Any:
    """What YAML says; the files are read anew each time and are parsed once, which is the cost."""
    return yaml.safe_load(text)


def _read_yaml(name: str) -> Any:
    return _parsed((REPOSITORY / name).read_text(encoding="utf-8"))


def stages() -> dict[str, Stage]:
    """Every stage by name."""
    declared = dict(_read_yaml("dvc.yaml")["stages"])
    form = declared.pop("study")["do"]
    found = {name: Stage(name, body.get("do", body)) for name, body in declared.items()}
    for name, row in _read_yaml("studies.yaml")["studies"].items():
        found[name] = Stage(name, filled(form, {"key": name} | row), of_form=True)
    return found


def filled(template: Any, row: dict[str, str]) -> Any:
    """What a template of dvc.yaml comes to for a row of studies.yaml."""
    if isinstance(template, dict):
        return {filled(key, row): filled(value, row) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, row) for value in template]
    if isinstance(template, str):
        return re.sub(r"\$\{(?:item\.)?(\w+)\}", lambda match: row[match[1]], template)
    return template


def foreach_items() -> dict[str, list[str]]:
    """The items of the stages that are made for each method."""
    declared, params = _read_yaml("dvc.yaml")["stages"], _read_yaml("params.yaml")
    methods = {name for name, body in declared.items() if body.get("foreach") == "${methods}"}
    return {name: list(params["methods"]) for name in methods}


def scripts() -> list[Path]:
    return sorted(path for path in EXPERIMENTS.glob("*.py") if path.stem not in SHARED_SCRIPTS)


def import_closure(script: Path) -> set[str]:
    """Every file of the project that a script imports, directly or not, and the script itself.

    Empty files (``__init__.py``) are left out: nothing in them can change a result.
    """
    waiting, closure = [script], set()
    while waiting:
        path = waiting.pop()
        if path in closure:
            continue
        closure.add(path)
        for module in _imported(path):
            waiting.extend(_files(module))
    paths = {
        path.relative_to(REPOSITORY).as_posix()
        for path in closure
        if path.read_text(encoding="utf-8").strip()
    }
    return paths - REEXPORTS


def holds(declared: str, path: str) -> bool:
    """Whether a declared file or folder is, or contains, a file."""
    return path == declared or path.startswith(f"{declared}/")


def code_dependencies(closure: set[str]) -> list[str]:
    """What holds a closure: scripts, and rooms of the package."""
    depths = {"src": 3, "experiments": None}
    return sorted({"/".join(path.split("/")[: depths[path.split("/")[0]]]) for path in closure})


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file of code; closures share most files, and parsing them is what costs."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def _imported(path: Path) -> frozenset[str]:
    modules: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"Relative imports are not followed: {ast.unparse(node)}"
            assert node.module is not None
            modules.add(node.module)
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.JoinedStr) and ast.unparse(node) == METHOD_MODULE:
            # the catalogue imports a method's module by its name
            modules |= {f"failbench.methods.{each.module}" for each in CATALOGUE if each.module}
    return frozenset(modules)


def _files(module: str) -> list[Path]:
    parts = module.split(".")
    candidates = []
    for root in IMPORT_ROOTS:
        for length in range(1, len(parts) + 1):
            candidates.append(root.joinpath(*parts[:length]) / "__init__.py")
        candidates.append(root.joinpath(*parts).with_suffix(".py"))
    return [path for path in candidates if path.is_file()]


def parameters_read(script: Path) -> tuple[set[str], bool]:
    """Sections of params.yaml that a script reads; if some is computed."""
    literal, computed = set(), False
    for function in READERS:
        for call in calls(script, function):
            if isinstance(call.args[0], ast.Constant):
                literal.add(str(call.args[0].value))
            else:
                computed = True
    if any(calls(script, function) for function in SHARED_READERS):
        literal.add("statistics")
    of_all = (*calls(script, "read_main_study"), *calls(script, "read_across_architectures"))
    if any(not call.args for call in of_all):
        literal.add("methods")
    if "failbench.diagnose.batch" in modules_with(script, "settings_of"):  # of any method
        named = {name for names in READ_BY.values() for name in names} - set(RAW_METHODS)
        literal |= {
            RAW_SECTION,
            *(part for name in named for part in declaration_named(name).sections),
        }
    return literal, computed


def records_read(script: Path) -> dict[str, type[BaseModel]]:
    """The record of each section that a file names; one of ``statistics`` stands for its keys."""
    records = {}
    for call in (*calls(script, "read_section"), *calls(script, "read_with_statistics")):
        if isinstance(call.args[0], ast.Constant):
            records[str(call.args[0].value)] = record_named(script, ast.unparse(call.args[1]))
    for call in calls(script, "read_statistics"):
        records["statistics"] = record_named(script, ast.unparse(call.args[0]))
    return records


def attributes(path: Path) -> set[str]:
    """Names of all attributes that a file takes of anything."""
    return {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}


def modules_with(script: Path, name: str) -> list[str]:
    """The modules that a script imports a name from."""
    return [
        str(node.module)
        for node in nodes(script)
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}
    ]


def record_named(script: Path, name: str) -> type[BaseModel]:
    """The record that a script imports under a name, or has itself, or as it calls it."""
    if name.startswith(NAMESPACE):
        record = getattr(importlib.import_module("failbench.study"), name.removeprefix(NAMESPACE))
        assert issubclass(record, BaseModel)
        return record
    modules = modules_with(script, name)
    record = getattr(importlib.import_module(modules[0] if modules else script.stem), name)
    assert issubclass(record, BaseModel)
    return record


def calls(script: Path, function: str) -> list[ast.Call]:
    """The calls of a function in a script, by its name there or in the namespace of studies."""
    return [
        node
        for node in nodes(script)
        if isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix(NAMESPACE) == function
    ]


def published_study(script: Path) -> str | None:
    """The name under which a script publishes its report, if it does."""
    names = [
        ast.literal_eval(call.args[0])
        for function in ("publish", "publish_estimates")
        for call in calls(script, function)
    ]
    assert len(names) <= 1, f"{script} publishes {len(names)} reports."
    return names[0] if names else None


def paths_named(script: Path) -> set[str]:
    """Paths of data, figures, tables and models that a script spells out; @ is a computed part.

    Those that the functions it shares with others read for it are among them.
    """
    paths = {path for name, read in SHARED_INPUTS.items() if calls(script, name) for path in read}
    captions = [ast.literal_eval(call.args[0]) for call in calls(script, "Captions.read")]
    paths |= {f"paper/captions/{study}.yaml" for study in captions}
    for node in nodes(script):
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "@" for part in node.values
            )
        if PROJECT_PATH.match(text):
            paths.add(text)
    return paths


def patterns(path: str) -> list[str]:
    """A path as people write it, as shell patterns: ``<name>`` is any name, ``{a,b}`` are two."""
    choice = re.search(r"\{([\w,]+)\}", path)
    ends = choice[1].split(",") if choice else [""]
    paths = [path.replace(choice[0], end) if choice else path for end in ends]
    return [re.sub(r"<[^>]+>", "*", each) for each in paths]


def tracked(*folders: str) -> list[str]:
    """Every file that git has, of some folders or of all."""
    listed = subprocess.check_output(["git", "ls-files", *folders], cwd=REPOSITORY, text=True)
    return listed.splitlines()


def main() -> None:
    for script in scripts():
        print(f"{script.stem}:")
        print(f"    params: [{', '.join(sorted(parameters_read(script)[0]))}]")
        print("    deps:")
        for path in code_dependencies(import_closure(script)):
            print(f"      - {path}")


if __name__ == "__main__":
    main()
