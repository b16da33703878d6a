"""Networks: modules of torch, and classes of the notebook that inherit from them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final

from failbench.crashes.dry_run.known import Call
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.notebooks.summary.raw import primitive

Entry = dict[str, Any]

LISTS: Final = ("torch.nn.modules.container.Sequential", "torch.nn.modules.container.ModuleList")
MAPPING: Final = "torch.nn.modules.container.ModuleDict"


def network(
    entry: Entry,
    cls: Any,
    call: Call | None,
    rebuild: Callable[[Entry], Any],
    agrees: Callable[[Any], bool],
) -> Any:
    """A network with the layers and the shapes of parameters that are told.

    Parameters
    ----------
    cls
        Its class.
    call
        How the code made what has its name, if that is told.
    rebuild
        Makes a layer.
    agrees
        Whether what was made is as told.

    Raises
    ------
    NotRebuiltError
        If no way to make it gives what is told.
    """
    for make in _ways(entry, cls, call, rebuild):
        try:
            made = make()
            _set_state(made, entry["type"])
        except NotRebuiltError:
            raise
        except Exception:  # noqa: S112 - what a constructor raises speaks against this way alone
            continue
        if agrees(made):
            return made
    raise NotRebuiltError("how it was constructed is not told")


def _ways(
    entry: Entry, cls: Any, call: Call | None, rebuild: Callable[[Entry], Any]
) -> Iterator[Callable[[], Any]]:
    """Ways to make it, the surest first."""
    name, items = entry["type"]["class"], entry.get("items", {})
    layers = entry["structural"]["layers"]
    meta = {"device": "meta"} if entry["type"]["devices"] == ["meta"] else {}
    if name in (*LISTS, MAPPING) and all(layer in items for layer in layers):
        parts = [(layer, rebuild(items[layer])) for layer in layers]
        if name == LISTS[0]:
            yield lambda: cls(OrderedDict(parts))
        else:
            yield lambda: cls(dict(parts) if name == MAPPING else [part for _, part in parts])
        return
    if call is not None and call.function.rpartition(".")[2] == cls.__name__:
        yield lambda: cls(*call.arguments, **call.keywords)
    if name.startswith("__main__."):
        if not _required(cls):
            yield cls
        return
    settings = _settings(entry, cls)
    if settings is not None:
        yield lambda: cls(**settings, **meta)


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
    for name, parameter in inspect.signature(cls).parameters.items():
        if name in ("device", "dtype") or parameter.kind in (
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
