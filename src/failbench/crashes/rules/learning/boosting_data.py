"""Data sets of LightGBM."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.frames.labels import names_of
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Frame, Sequence, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning.boosted import ERROR, check_columns, check_groups
from failbench.crashes.rules.learning.samples import as_grid, rows_of, width_of

DATA: Final = "lightgbm.Dataset"


def data_set(call: Call) -> Value:
    """A new data set, which is built when it is used."""
    names = ("data", "label", "reference", "weight", "group", "init_score", "feature_name",
        "categorical_feature", "params", "free_raw_data")  # fmt: skip
    given: dict[str, Any] = {name: call.arg(place, name) for place, name in enumerate(names)}
    given["free"] = call.flag(9, "free_raw_data", default=True)
    given["constructed"] = False
    return Thing(DATA, given)


def valid(call: Call) -> Value:
    """A data set to evaluate with."""
    names = ("data", "label", "weight", "group", "init_score", "params")
    given: dict[str, Any] = {name: call.arg(place, name) for place, name in enumerate(names)}
    given |= {"reference": call.receiver, "free": True, "constructed": False}
    if isinstance(call.receiver, Thing):
        given["free"] = call.receiver.facts.get("free")
    return Thing(DATA, given)


def construct(data: Thing) -> None:
    """Build a data set.

    Raises
    ------
    ViolationError
        If rows and labels, weights or queries differ, or data are no numbers.
    """
    if data.facts.get("constructed") is not False:
        return
    value, label = data.facts.get("data"), data.facts.get("label")
    check_columns(value)
    rows = data.facts.get("rows") or rows_of(value)
    label_rows = data.facts.get("label_rows") or rows_of(label)
    if rows is not None and label_rows is not None and rows != label_rows:
        raise ViolationError(
            ERROR, f"Length of labels differs from the length of #data: {label_rows} and {rows}"
        )
    weights = rows_of(data.facts.get("weight"))
    if rows is not None and weights is not None and weights != rows:
        raise ViolationError(ERROR, f"{weights} weights of {rows} rows")
    grid = as_grid(label)
    if grid is not None:
        if grid.dtype == "str" or grid.element_types == ("str",):
            raise ViolationError("ValueError", "labels are numbers")
        if facts.has_nan(grid) or facts.has_inf(grid):
            raise ViolationError(ERROR, "labels have gaps or are infinite")
    if data.facts.get("group") is not None:
        check_groups(data.facts["group"], rows)
    reference = data.facts.get("reference")
    if isinstance(reference, Thing):
        ours, theirs = width_of_data(data), width_of_data(reference)
        if ours is not None and theirs is not None and ours != theirs:
            raise ViolationError(
                ERROR, f"{ours} features are given where the reference has {theirs}"
            )
        construct(reference)
    _check_named(data, value)
    data.facts["constructed"] = True
    if data.facts.get("free"):
        data.facts["freed"] = True


def _check_named(data: Thing, value: Value | None) -> None:
    chosen = names_of(data.facts.get("categorical_feature"))
    if isinstance(value, Frame) and value.columns is not None and value.is_complete:
        for name in chosen:
            if isinstance(name, str) and name != "auto" and name not in value.columns:
                raise ViolationError("ValueError", f"{name!r} is none of the columns")
    names = data.facts.get("feature_name")
    count, width = (
        iteration.length(names) if isinstance(names, Sequence) else None,
        width_of_data(data),
    )
    if count is not None and width is not None and count != width:
        raise ViolationError(ERROR, f"{count} names are given for {width} features")


def width_of_data(data: Thing) -> int | None:
    """How many columns a data set has."""
    known = data.facts.get("width")
    return known if isinstance(known, int) else width_of(data.facts.get("data"))


def get(call: Call) -> Value:
    """What a data set was made of, if it was kept."""
    data = call.receiver
    assert isinstance(data, Thing)
    if call.name == "get_data":
        if data.facts.get("constructed") is False:
            raise ViolationError(ERROR, "a data set is not built yet")
        if data.facts.get("freed"):
            raise ViolationError(ERROR, "Cannot call `get_data` after freed raw data")
        value = data.facts.get("data")
        return value if isinstance(value, Value) else Unknown()
    if call.name == "construct":
        construct(data)
        return data
    if call.name == "get_label":
        value = data.facts.get("label")
        return value if isinstance(value, Value) else Unknown()
    if call.name in ("num_data", "num_feature") and data.facts.get("constructed") is False:
        raise ViolationError(ERROR, f"Cannot get {call.name} before construct dataset")
    if call.name in (
        "subset",
        "set_categorical_feature",
        "set_reference",
        "add_features_from",
    ) and data.facts.get("freed"):
        raise ViolationError(ERROR, f"Cannot {call.name} after freed raw data")
    return Unknown()
