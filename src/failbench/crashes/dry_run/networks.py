"""Networks: modules of torch, and classes of the notebook that inherit from them."""

from __future__ import annotations

import inspect
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.notebooks.summary.raw import primitive

Entry = dict[str, Any]

LISTS: Final = ("torch.nn.modules.container.Sequential", "torch.nn.modules.container.ModuleList")
SET_LATER: Final = ("device", "dtype", "mode")
"""Parameters that state sets, or that recurrent layers give to the class above them."""

REGISTERS: Final = frozenset({"register_buffer", "register_module", "add_module"})
"""Methods by which a network comes to store what no assignment shows."""

TRIES: Final = 600
SMALL: Final = 1_000_000
"""Constructions that are tried for arguments that are not told, and parameters of what is tried."""

MAPPING: Final = "torch.nn.modules.container.ModuleDict"


def first_that(
    ways: Iterator[Callable[[], Any]], entry: Entry, agrees: Callable[[Any], bool]
) -> Any:
    """A network, made in the first of some ways that gives what is told.

    Parameters
    ----------
    agrees
        Whether what was made is as told.

    Raises
    ------
    NotRebuiltError
        If none does.
    """
    for make in ways:
        try:
            made = make()
            _set_state(made, entry["type"])
        except Exception:  # noqa: S112 - what a constructor raises speaks against this way alone
            continue
        if agrees(made):
            return made
    raise NotRebuiltError("how it was constructed is not told")


def ways(
    entry: Entry,
    cls: Any,
    written: Callable[[], Any],
    rebuild: Callable[[Entry], Any],
    asked: frozenset[str],
) -> Iterator[Callable[[], Any]]:
    """Ways to make a network, the surest first."""
    name, items = entry["type"]["class"], entry.get("items", {})
    layers = entry["structural"]["layers"]
    yield written
    if name in (*LISTS, MAPPING) and all(layer in items for layer in layers):
        parts = [(layer, rebuild(items[layer])) for layer in layers]
        if name == LISTS[0]:
            yield lambda: cls(OrderedDict(parts))
        else:
            yield lambda: cls(dict(parts) if name == MAPPING else [part for _, part in parts])
        return
    if name.startswith("__main__."):
        for numbers in _numbers_for(_required(cls), entry):
            yield partial(cls, **numbers)
        yield lambda: _of_parts(entry, cls, rebuild, asked)
        return
    settings = _settings(entry, cls)
    if settings is not None:
        meta = {"device": "meta"} if entry["type"]["devices"] == ["meta"] else {}
        yield lambda: cls(**settings, **meta)


def _numbers_for(required: list[str], entry: Entry) -> Iterator[dict[str, int]]:
    """Arguments that are not told, of the numbers that shapes and settings of its layers have."""
    numbers = sorted(set(_numbers_of(entry)))
    if len(numbers) ** len(required) <= TRIES and entry["structural"]["parameters"] <= SMALL:
        for chosen in itertools.product(numbers, repeat=len(required)):
            yield dict(zip(required, chosen, strict=True))


def _numbers_of(entry: Entry) -> Iterator[int]:
    for shape in entry.get("structural", {}).get("parameter_shapes", {}).values():
        yield from shape
    settings = entry.get("value", {}).get("settings", {}).values()
    yield from (each for each in settings if type(each) is int)
    for item in entry.get("items", {}).values():
        yield from _numbers_of(item)


def _of_parts(
    entry: Entry, cls: Any, rebuild: Callable[[Entry], Any], asked: frozenset[str]
) -> Any:
    """An object of a class of the notebook without its constructor, with all that it asks for."""
    import torch

    structural, items = entry["structural"], entry.get("items", {})
    parts = {layer: rebuild(items[layer]) for layer in structural["layers"]}
    parts |= {
        parameter: torch.nn.Parameter(torch.randn(shape))
        for parameter, shape in structural["parameter_shapes"].items()
    }
    parts |= entry.get("value", {}).get("settings", {})
    if any(name not in parts and not hasattr(cls, name) for name in asked) or asked & REGISTERS:
        raise NotRebuiltError("of what it stores not all is told")
    made = cls.__new__(cls)
    torch.nn.Module.__init__(made)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def _required(cls: Any) -> list[str]:
    return [
        name
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def _settings(entry: Entry, cls: Any) -> dict[str, Any] | None:
    """Arguments of the constructor, as far as what is stored tells all of them.

    One that is not told is None by default, a truth value that says whether there is a parameter of
    its name, or what the layer does not store; else it is unknown, and so is the layer.
    """
    told = entry.get("value", {}).get("settings", {})
    shapes = entry["structural"]["parameter_shapes"]
    known: dict[str, Any] = {}
    for name, parameter in _parameters(cls).items():
        if name in SET_LATER or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        if name in told:
            known[name] = told[name]
        elif name == "bias":
            known[name] = name in shapes
        elif parameter.default is parameter.empty or (
            parameter.default is not None and primitive(parameter.default) is not None
        ):
            if name == "normalized_shape" and "weight" in shapes:
                known[name] = shapes["weight"]
            elif parameter.default is parameter.empty or _stores(cls, name):
                return None
    return known


def _parameters(cls: Any) -> dict[str, inspect.Parameter]:
    """Parameters of the constructor; of one that passes all on, those of the classes above too."""
    known: dict[str, inspect.Parameter] = {}
    for base in cls.__mro__[:-1]:
        if "__init__" in vars(base):
            parameters = dict(inspect.signature(base.__init__).parameters)
            known = {name: each for name, each in parameters.items() if name != "self"} | known
            if not any(each.kind == each.VAR_POSITIONAL for each in parameters.values()):
                break
    return known


def _stores(cls: Any, name: str) -> bool:
    """Whether instances keep an attribute of this name, by what the class declares."""
    return any(name in getattr(base, "__constants__", ()) for base in cls.__mro__) or any(
        name in getattr(base, "__annotations__", {}) for base in cls.__mro__
    )


def _set_state(made: Any, known: dict[str, Any]) -> None:
    import torch

    if known["devices"] not in ([], ["cpu"], ["meta"]):
        raise NotRebuiltError("its device is not there")
    made.train(known["training"])
    if len(known["dtypes"]) == 1:
        made.to(getattr(torch, known["dtypes"][0].removeprefix("torch.")))
    if known["requires_grad"] == [False]:
        made.requires_grad_(requires_grad=False)
    if known["devices"] == ["meta"]:
        made.to("meta")
