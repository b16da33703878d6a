"""Members: the modules and parameters that a model has, without a walk through it at every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from torch import Tensor, nn


@dataclass(frozen=True)
class Place:
    """Where a module has a member.

    Attributes
    ----------
    members
        The module's own table of parameters or modules.
    name
        In that table.
    identity
        Of the member.
    """

    members: dict[str, Any]
    name: str
    identity: int


class Members:
    """The modules and parameters of a model, kept until one is added, taken away or replaced.

    Holds modules and the tables in which they have their parameters, but no parameter.

    Parameters
    ----------
    model
        The root module.
    """

    def __init__(self, model: nn.Module) -> None:
        self._model: Final = model
        self._walk()

    @property
    def modules(self) -> list[nn.Module]:
        """All modules, each once."""
        self._refresh()
        return self._modules

    @property
    def named(self) -> list[Tensor]:
        """A parameter for each of its names."""
        self._refresh()
        return [place.members[place.name] for place in self._parameters]

    @property
    def parameters(self) -> list[Tensor]:
        """All parameters, each once."""
        self._refresh()
        return [place.members[place.name] for place in self._distinct]

    def _refresh(self) -> None:
        places = (*self._children, *self._parameters)
        if self._count() != self._counted or any(
            id(place.members.get(place.name)) != place.identity for place in places
        ):
            self._walk()

    def _count(self) -> int:
        return sum(map(len, self._tables))

    def _walk(self) -> None:
        self._modules = list(self._model.modules())
        self._children = [
            Place(module._modules, name, id(child))
            for module in self._modules
            for name, child in module._modules.items()
        ]
        self._parameters = list(_named(self._model))
        self._distinct = list({place.identity: place for place in self._parameters}.values())
        self._tables = [
            table for module in self._modules for table in (module._modules, module._parameters)
        ]
        self._counted = self._count()


def _named(module: nn.Module) -> Iterator[Place]:
    """Places of parameters; of a module with two names twice."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield Place(module._parameters, name, id(parameter))
    for child in module._modules.values():
        if child is not None:
            yield from _named(child)
