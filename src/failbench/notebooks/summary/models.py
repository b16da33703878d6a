"""Estimators of scikit-learn and LightGBM, and what torch trains."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from failbench.notebooks.summary.arrays import of_class, values
from failbench.notebooks.summary.raw import (
    ITEMS,
    MANY,
    NAMES,
    Entry,
    attributes_of,
    entry,
    inherits,
    is_exactly,
    library_type,
    module_of,
    name_of_class,
    primitive,
)

Describe = Callable[[Any, int], Entry]


def is_estimator(value: Any) -> bool:
    """Whether a class that it inherits from is scikit-learn's ``BaseEstimator``."""
    return inherits(type(value), library_type("sklearn.base", "BaseEstimator"))


def estimator(value: Any, describe: Describe, depth: int) -> Entry:
    """An estimator: its settings, whether it was fitted, to how many features and classes.

    Fitted is what stores an attribute whose name ends with an underscore, as scikit-learn's
    developer guide asks; LightGBM stores a booster.
    """
    stored = attributes_of(value)
    settings = {
        name: primitive(known)
        for name, known in sorted(stored.items())
        if not name.startswith("_") and not name.endswith("_")
    }
    learnt = [name for name in stored if name.endswith("_") and not name.startswith("__")]
    steps = stored.get("steps", stored.get("transformers"))
    booster = stored.get("_Booster")
    fitted = bool(learnt) or booster is not None
    if type(steps) is list and "steps" in stored and steps and type(steps[-1]) is tuple:
        fitted = fitted or _is_fitted(steps[-1][1])
    features = stored.get("n_features_in_", stored.get("_n_features_in"))
    if features is not None and int(features) < 0:  # LightGBM's sign of not fitted
        features = None
    kind = of_class(
        value,
        "estimator",
        fitted=fitted,
        n_features_in_=None if features is None else int(features),
        n_outputs_=primitive(stored.get("n_outputs_")),
    )
    names = stored.get("feature_names_in_")
    structural = {
        "feature_names_in_": None if names is None else [str(name) for name in names[:NAMES]],
        "learnt": sorted(learnt)[:NAMES] or None,
        "steps": _names_of_steps(steps),
    }
    classes: Any = stored.get("classes_", stored.get("_classes"))
    array = library_type("numpy", "ndarray")
    shown = values(classes.reshape(-1)[:MANY]) if type(classes) is array else {}
    details = {"settings": {name: known for name, known in settings.items() if known is not None}}
    items = {}
    for name in ("estimator", "best_estimator_"):
        if is_estimator(stored.get(name)) and depth > 0:
            items[name] = describe(stored[name], depth - 1)
    if type(steps) is list and depth > 0:
        for step in steps[:ITEMS]:
            if type(step) is tuple and type(step[0]) is str:
                items[step[0]] = describe(step[1], depth - 1)
    return entry(kind, structural, details | ({"classes_": shown} if shown else {}), items)


def _is_fitted(value: Any) -> bool:
    stored = attributes_of(value)
    return any(name.endswith("_") and not name.startswith("__") for name in stored)


def _names_of_steps(steps: Any) -> list[str] | None:
    if type(steps) is not list:
        return None
    return [step[0] for step in steps if type(step) is tuple and type(step[0]) is str][:NAMES]


def lightgbm_data(value: Any) -> Entry:
    """A data set of LightGBM as it stores itself."""
    stored = attributes_of(value)
    data: Any = stored.get("data")
    labels: Any = stored.get("label")
    sizes = {
        name: list(known.shape)
        for name, known in (("data_shape", data), ("label_shape", labels))
        if module_of(type(known)).startswith(("numpy", "pandas"))
    }
    kind = of_class(
        value,
        "dataset",
        constructed=stored.get("_handle") is not None,
        free_raw_data=primitive(stored.get("free_raw_data")),
        has_reference=stored.get("reference") is not None,
        data_class=name_of_class(type(data)),
    )
    return entry(kind, sizes)


def booster(value: Any) -> Entry:
    """A booster: how many trees and features it has."""
    structural = {"trees": int(value.num_trees()), "features": int(value.num_feature())}
    return entry(of_class(value, "booster", fitted=structural["trees"] > 0), structural)


def tensor(value: Any) -> Entry:
    """A tensor: shape, type, device, whether it has a gradient; its values unless on meta."""
    torch = sys.modules["torch"]
    kind = of_class(
        value,
        "tensor",
        dtype=str(value.dtype),
        device=str(value.device),
        requires_grad=bool(value.requires_grad),
        is_contiguous=bool(value.is_contiguous()) if value.layout is torch.strided else None,
        has_graph=value.grad_fn is not None,
    )
    details: dict[str, Any] = {}
    if value.device.type != "meta" and value.layout is torch.strided and value.numel():
        with torch.no_grad():
            flat = value.detach().reshape(-1)[:MANY].cpu()
            if flat.dtype in (torch.bfloat16, torch.float16):
                flat = flat.float()
            details = values(flat.numpy())
    return entry(kind, {"shape": list(value.shape)}, details)


def network(value: Any, describe: Describe, depth: int) -> Entry:
    """A module of torch: its layers and the shapes of its parameters, as it stores them."""
    stored = attributes_of(value)
    layers, own = stored.get("_modules"), stored.get("_parameters")
    shapes = {
        name: list(each.shape)
        for name, each in (own.items() if type(own) is dict else ())
        if each is not None
    }
    parts = layers if type(layers) is dict else {}
    everything = list(_parameters(value))
    kind = of_class(
        value,
        "network",
        training=primitive(stored.get("training")),
        devices=sorted({str(each.device) for each in everything}),
        dtypes=sorted({str(each.dtype) for each in everything}),
        requires_grad=sorted({bool(each.requires_grad) for each in everything}),
    )
    structural = {
        "layers": list(parts)[:NAMES],
        "parameter_shapes": dict(list(shapes.items())[:NAMES]),
        "parameters": sum(int(each.numel()) for each in everything),
    }
    settings = {
        name: known
        for name, known in ((name, primitive(known)) for name, known in stored.items())
        if known is not None and not name.startswith("_") and name != "training"
    }
    items = {}
    if depth > 0:
        items = {name: describe(part, depth - 1) for name, part in list(parts.items())[:NAMES]}
    return entry(kind, structural, {"settings": settings} if settings else {}, items)


def _parameters(value: Any) -> Any:
    stored = attributes_of(value)
    own, layers = stored.get("_parameters"), stored.get("_modules")
    if type(own) is dict:
        yield from (each for each in own.values() if each is not None)
    if type(layers) is dict:
        for part in layers.values():
            yield from _parameters(part)


def is_network(value: Any) -> bool:
    """Whether a class that it inherits from is torch's ``Module``."""
    return inherits(type(value), library_type("torch.nn", "Module"))


def optimizer(value: Any) -> Entry:
    """An optimizer: how many parameters it changes, and its settings."""
    groups = attributes_of(value).get("param_groups")
    first = groups[0] if type(groups) is list and groups else {}
    settings = {name: primitive(known) for name, known in first.items() if name != "params"}
    sizes = [len(group["params"]) for group in groups] if type(groups) is list else None
    shown = {name: known for name, known in settings.items() if known is not None}
    return entry(of_class(value, "optimizer"), {"parameters": sizes}, {"settings": shown})


def loader(value: Any, describe: Describe, depth: int) -> Entry:
    """A loader of batches: its batch size, and how many batches if its data says without code."""
    stored = attributes_of(value)
    data, size = stored.get("dataset"), stored.get("batch_size")
    rows = _rows(data)
    batches = None
    if rows is not None and type(size) is int:
        full, rest = divmod(rows, size)
        batches = full + (rest > 0 and not stored.get("drop_last"))
    collate = stored.get("collate_fn")
    structural = {
        "batch_size": primitive(size),
        "batches": batches,
        "rows": rows,
        "collate": collate.__name__ if type(collate) is FunctionType else None,
    }
    items = {"dataset": describe(data, depth - 1)} if depth > 0 else {}
    return entry(of_class(value, "loader"), structural, None, items)


def _rows(data: Any) -> int | None:
    if is_exactly(data, list, tuple):
        return len(data)
    if type(data) is library_type("torch.utils.data", "TensorDataset"):
        return int(attributes_of(data)["tensors"][0].shape[0])
    return int(data.shape[0]) if type(data) is library_type("torch", "Tensor") else None
