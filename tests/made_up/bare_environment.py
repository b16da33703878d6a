"""What is installed with the package and none of its extras, told from what is installed here."""

import re
import shutil
import tomllib
from importlib.metadata import Distribution, distribution, packages_distributions, requires
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def _project(requirement: str) -> str:
    (name,) = re.findall(r"^[\w.-]+", requirement)
    return re.sub(r"[-_.]+", "-", name).lower()


def needed() -> list[Distribution]:
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    waiting, found = [*map(_project, declared["project"]["dependencies"])], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            # markers here are of extras, of older Pythons or of other systems
            waiting += [_project(each) for each in requires(name) or () if ";" not in each]
    return [distribution(name) for name in sorted(found)]


def absent_modules() -> set[str]:
    names = {_project(each.metadata["Name"]) for each in needed()} | {"failbench"}
    installed = packages_distributions()
    return {
        module
        for module, projects in installed.items()
        if module.isidentifier() and names.isdisjoint(map(_project, projects))
    }


def install(folder: Path) -> None:
    for each in needed():
        for file in each.files or ():
            source = Path(str(file.locate()))
            if ".." not in file.parts and file.suffix != ".pyc" and source.is_file():
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
