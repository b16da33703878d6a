"""Data sets of scikit-learn, by what their documentation tells of them."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.interfaces import recorded
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)


def load(call: Call) -> Value:
    """A data set that comes with the library."""
    known = recorded()["data_sets"][call.name]
    rows, width = known["shape"]
    is_frame = call.flag(None, "as_frame")
    is_pair = call.flag(None, "return_X_y")
    labels = Array(
        "numpy", tuple(known["target_shape"]), known["target_dtype"], nan=False, inf=False
    )
    if known["classes"]:
        labels.low, labels.high, labels.is_attained = 0, known["classes"] - 1, True
        labels.uniques = tuple(range(known["classes"]))
        labels.distinct = known["classes"]
    data: Value = Array("numpy", (rows, width), "float64", nan=False, inf=False)
    target: Value = labels
    if is_frame is None or is_pair is None:
        return Unknown()
    if is_frame:
        data = Frame({n: _column(rows) for n in known["features"]}, True, rows, rows_index(rows))
        labels.home, labels.labels, labels.name = "series", rows_index(rows), Known("target")
        if labels.rank != 1:
            target = Frame(None, False, rows, rows_index(rows))
    if is_pair:
        return Sequence("tuple", [data, target])
    items: dict[Any, Value] = {key: Unknown() for key in known["keys"]}
    items |= {"data": data, "target": target}
    items["feature_names"] = lift(known["features"])
    if known["classes"]:
        items["target_names"] = Array("numpy", (known["classes"],), "str")
    items["frame"] = Known(None)
    if is_frame and isinstance(target, Array) and isinstance(data, Frame):
        items["frame"] = Frame(
            {**(data.columns or {}), "target": target}, True, rows, rows_index(rows)
        )
    if call.name == "load_digits":
        items["images"] = Array("numpy", (rows, 8, 8), "float64", nan=False, inf=False)
    return Mapping(items, True, "Bunch")


def _column(rows: int) -> Array:
    return Array("series", (rows,), "float64", nan=False, inf=False)


def generated(call: Call) -> Value:
    """A data set that is drawn."""
    rows = call.integer(0, "n_samples", default=100)
    widths = {"make_classification": (1, 20), "make_regression": (1, 100), "make_blobs": (1, 2)}
    if call.name in widths:
        place, default = widths[call.name]
        width = call.integer(place, "n_features", default=default)
    else:
        width = 2
    if call.kwargs.get("return_X_y") is not None or call.kwargs.get("return_centers") is not None:
        return Unknown()
    if call.kwargs.get("coef") is not None:
        return Unknown()
    dtype = "float64" if call.name == "make_regression" else "int64"
    target = Array(
        "numpy",
        (rows,) if call.name != "make_regression" or call.arg(None, "n_targets") is None else None,
        dtype,
        nan=False,
        inf=False,
    )
    return Sequence(
        "tuple", [Array("numpy", (rows, width), "float64", nan=False, inf=False), target]
    )


def bunch(call: Call) -> Value:
    """A dictionary whose keys are attributes."""
    return Mapping(dict(call.kwargs), call.is_complete, "Bunch")


FUNCTIONS: Final[dict[str, Handler]] = {
    "sklearn.utils.Bunch": bunch,
    **{
        f"sklearn.datasets.load_{name}": load
        for name in ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud")
    },
    **{
        f"sklearn.datasets.make_{name}": generated
        for name in ("classification", "regression", "blobs", "moons", "circles")
    },
}
