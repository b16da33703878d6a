"""Tensors of torch, and what feeds and changes networks: loaders and optimizers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.crashes.dry_run.plain import check_size

Entry = dict[str, Any]

TABLE: Final = "torch.utils.data.dataset.TensorDataset"


def tensor(entry: Entry, rng: np.random.Generator) -> Any:
    """A tensor.

    Raises
    ------
    NotRebuiltError
        If it is on a device, or has a layout, that is not there.
    """
    import torch

    known, shape = entry["type"], tuple(entry["structural"]["shape"])
    dtype = getattr(torch, known["dtype"].removeprefix("torch."))
    if known["device"] == "meta":
        made = torch.empty(shape, dtype=dtype, device="meta")
    elif known["device"] == "cpu" and "is_contiguous" in known:
        check_size(shape, 8)
        made = _drawn(entry.get("value", {}), dtype, shape, rng)
    else:
        raise NotRebuiltError("no tensor of its device and layout is made")
    if known.get("is_contiguous") is False:
        made = _scattered(made)
    if known["class"] == "torch.nn.parameter.Parameter":
        return torch.nn.Parameter(made, requires_grad=known["requires_grad"])
    if known["has_graph"]:
        return made.requires_grad_() * 1
    return made.requires_grad_() if known["requires_grad"] else made


def _drawn(facts: dict[str, Any], dtype: Any, shape: tuple[int, ...], rng: Any) -> Any:
    import torch

    size = int(np.prod(shape, dtype=np.int64))
    if dtype.is_complex:
        drawn = values.array(facts, np.dtype("complex128"), size, rng)
    elif dtype.is_floating_point:
        drawn = values.array(facts, np.dtype("float64"), size, rng)
    else:
        kind = "bool" if dtype == torch.bool else "int64"
        drawn = values.array(facts, np.dtype(kind), size, rng)
    return torch.from_numpy(drawn).to(dtype).reshape(shape)


def _scattered(made: Any) -> Any:
    """The same values in another order of memory."""
    if made.ndim > 1:
        return made.transpose(0, -1).contiguous().transpose(0, -1)
    return made.repeat_interleave(2)[::2]


def loader(entry: Entry, rebuild: Callable[[Entry], Any], named: Callable[[str], Any]) -> Any:
    """A loader of batches in the order of its data.

    Parameters
    ----------
    named
        Gives a function of the notebook by its name.

    Raises
    ------
    NotRebuiltError
        If its data or its function are not told.
    """
    from torch.utils.data import DataLoader

    items, structural = entry.get("items", {}), entry["structural"]
    if "dataset" not in items:
        raise NotRebuiltError("its data are not told")
    data, size = rebuild(items["dataset"]), structural["batch_size"]
    collate = structural.get("collate")
    joined = None if collate == "default_collate" else named(str(collate))
    batches, rows = structural.get("batches"), structural.get("rows")
    drops = batches is not None and rows is not None and batches < -(-rows // size)
    return DataLoader(data, batch_size=size, collate_fn=joined, drop_last=drops)


def optimizer(entry: Entry, cls: Any, networks: list[Any]) -> Any:
    """An optimizer of a network that has as many parameters, or of parameters of its own.

    Raises
    ------
    NotRebuiltError
        If it has more than one group.
    """
    import torch

    sizes = entry["structural"]["parameters"]
    if len(sizes) != 1:
        raise NotRebuiltError("an optimizer of several groups is not made")
    fitting = [list(network.parameters()) for network in networks]
    own = [torch.nn.Parameter(torch.zeros(1)) for _ in range(sizes[0])]
    parameters = next((each for each in fitting if len(each) == sizes[0]), own)
    known = inspect.signature(cls).parameters
    settings = {name: value for name, value in entry["value"]["settings"].items() if name in known}
    return cls(parameters, **settings)


def parameter(key: str, networks: list[Any]) -> Any:
    """A tensor like that parameter of a network whose name is a key's, or its end; else None."""
    import torch

    for network in networks:
        for name, known in network.state_dict().items():
            if key == name or f".{key}".endswith(f".{name}") or f".{name}".endswith(f".{key}"):
                return torch.zeros_like(known)
    return None
