"""Reruns: the stages that a change of a parameter reruns, from DVC's graph of stages."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import networkx as nx
import yaml
from dvc.exceptions import DvcException
from dvc.repo import Repo

from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS

ITEM = "<another>"  # placeholder for an item that a list of params.yaml does not have yet


class Pipeline:
    """The stages of a repository, and their dependencies."""

    def __init__(self, root: Path) -> None:
        self._params: dict[str, Any] = _read(root / PARAMS)
        self._templates: dict[str, Any] = _read(root / "dvc.yaml").get("stages", {})
        try:
            self._graph = Repo(str(root)).index.graph
        except DvcException as error:
            problem = " ".join(str(error).split()).rstrip(".")
            remedy = "Run it from the repository's root, and correct dvc.yaml."
            said = f"DVC cannot read the pipeline: {problem}."
            raise BadInputError(root / "dvc.yaml", "stages", said, remedy) from error

    @property
    def stages(self) -> list[str]:
        """All stages by name, in an order in which DVC may run them."""
        # An edge leads from a stage to its dependency.
        return [stage.addressing for stage in reversed(list(nx.topological_sort(self._graph)))]

    def reruns(self, parameter: str) -> list[str]:
        """The stages, in order, that a change of a section or ``section.key`` runs again."""
        self._check(parameter)
        changed = {
            stage
            for stage in self._graph
            for dependency in stage.deps
            if any(_related(parameter, name) for name in getattr(dependency, "params", ()))
        }
        readers = {reader for stage in changed for reader in nx.ancestors(self._graph, stage)}
        listed = self._generated(parameter)
        for template in listed:
            readers |= self._readers_of_all(template)
        names = {stage.addressing for stage in changed | readers}
        return [f"{name}@{ITEM}" for name in listed] + [n for n in self.stages if n in names]

    def _generated(self, parameter: str) -> list[str]:
        items = f"${{{parameter}}}"
        return [name for name, body in self._templates.items() if body.get("foreach") == items]

    def _readers_of_all(self, template: str) -> set[Any]:
        instances = [s for s in self._graph if s.addressing.startswith(f"{template}@")]
        return set.intersection(*(set(nx.ancestors(self._graph, stage)) for stage in instances))

    def _check(self, parameter: str) -> None:
        value: Any = self._params
        path: list[str] = []
        for key in parameter.split("."):
            if not isinstance(value, dict) or key not in value:
                problem = "there is no such parameter."
                raise BadInputError(PARAMS, parameter, problem, _known_keys(value, path))
            value = value[key]
            path.append(key)


def _known_keys(value: object, path: Iterable[str]) -> str:
    section = ".".join(path)
    if not isinstance(value, dict):
        return f"{section} has no keys."
    names = ", ".join(sorted(map(str, value)))
    return f"The keys of {section} are {names}." if section else f"The sections are {names}."


def _related(parameter: str, declared: str) -> bool:
    return f"{parameter}.".startswith(f"{declared}.") or declared.startswith(f"{parameter}.")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        remedy = "Run it from the repository's root."
        raise BadInputError(path, "(file)", "cannot be read.", remedy) from error
    except yaml.YAMLError as error:
        problem = f"is not YAML: {' '.join(str(error).split())}."
        raise BadInputError(path, "(file)", problem, "Correct the syntax.") from error
    if not isinstance(content, dict):
        raise BadInputError(path, "(file)", "has no sections.", "Restore it from git.")
    return content
