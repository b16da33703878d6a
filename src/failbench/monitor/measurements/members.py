"""Members: the modules and parameters that a model has, without a walk through it at every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from torch import Tensor, nn

Place = tuple[dict[str, Any], str, int]  # a module's table, a name in it, and an identity


class Members:
    """The modules of a model and the tables of its parameters, kept until one is changed."""

    def __init__(self, model: nn.Module) -> None:
        self._model: Final = model
        self._walk()

    @property
    def modules(self) -> list[nn.Module]:
        """All modules, each once."""
        self._refresh()
        return self._modules

    @property
    def modules_and_named(self) -> tuple[list[nn.Module], list[Tensor]]:
        """All modules, and a parameter for each of its names."""
        return self.modules, [table[name] for table, name, _ in self._parameters]

    @property
    def parameters(self) -> list[Tensor]:
        """All parameters, each once."""
        self._refresh()
        return [table[name] for table, name, _ in self._distinct]

    def _refresh(self) -> None:
        if self._count() != self._counted or self._is_replaced():
            self._walk()

    def _is_replaced(self) -> bool:
        return any(id(table.get(name)) != identity for table, name, identity in self._places)

    def _count(self) -> int:
        return sum(map(len, self._tables))

    def _walk(self) -> None:
        self._modules = list(self._model.modules())
        children = [
            (module._modules, name, id(child))
            for module in self._modules
            for name, child in module._modules.items()
        ]
        self._parameters = list(_named(self._model))
        self._distinct = list({place[2]: place for place in self._parameters}.values())
        self._places = [*children, *self._parameters]
        self._tables = [
            table for module in self._modules for table in (module._modules, module._parameters)
        ]
        self._counted = self._count()


def _named(module: nn.Module) -> Iterator[Place]:
    """Places of parameters; of a module with two names twice."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield module._parameters, name, id(parameter)
    for child in module._modules.values():
        if child is not None:
            yield from _named(child)
