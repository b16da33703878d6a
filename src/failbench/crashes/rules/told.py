"""Values as a runtime summary tells of them, completed by what the code says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.frames.making import rows_index
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.interfaces import class_of, documented_path
from failbench.crashes.rules.knowledge.values import (
    Array,
    Bound,
    Class,
    Estimator,
    Frame,
    Function,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Symbol,
    Thing,
    Unknown,
    Value,
)

Entry = dict[str, Any]
HOMES: Final = {"array": "numpy", "series": "series", "index": "index", "tensor": "torch"}
WORDS: Final = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
ALL_SHOWN: Final = 5
"""Distinct values that a summary lists at most."""


def refined(value: Value | None, entry: Entry) -> Value:
    """What is known of a name.

    Parameters
    ----------
    value
        What the code says it is; None if the code does not bind it.
    entry
        What the summary tells; where it is silent the code is believed.
    """
    known = value if value is not None else Unknown()
    kind = _part(entry, "type").get("kind") or _guessed(known, entry)
    reader = READERS.get(kind or "")
    made = known if reader is None else reader(known, entry)
    asked = _part(entry, "type").get("attributes") or {}
    absent = frozenset(name for name, where in asked.items() if where == "absent")
    if absent and not isinstance(made, Symbol):
        made.absent = made.absent | absent
    return made


def _part(entry: Entry, part: str) -> dict[str, Any]:
    content = entry.get(part)
    return content if isinstance(content, dict) else {}


def _guessed(value: Value, entry: Entry) -> str | None:
    """The kind of an entry that is told without its type."""
    structural, values = _part(entry, "structural"), _part(entry, "value")
    if isinstance(value, Array):
        return {"numpy": "array", "series": "series", "index": "index", "torch": "tensor"}.get(
            value.home
        )
    kinds: dict[type, str] = {
        Frame: "frame",
        Estimator: "estimator",
        Network: "network",
        Mapping: "mapping",
        Sequence: "sequence",
        Known: "number",
    }
    if type(value) in kinds:
        return kinds[type(value)]
    if isinstance(value, (Thing, Instance, Function, Class, Symbol)):
        return {"lightgbm.Dataset": "dataset", "lightgbm.Booster": "booster"}.get(
            getattr(value, "path", "")
        )
    if "columns" in structural or "by_column" in values:
        return "frame"
    if "keys" in structural:
        return "mapping"
    if "learnt" in structural:
        return "estimator"
    if "index_labels" in structural and "length" in structural:
        return "series"
    if "layers" in structural:
        return "network"
    if "value" in values and not structural.get("shape"):
        return "number"
    return None


def _number(known: Value, entry: Entry) -> Value:
    told = _part(entry, "value")
    if "value" in told:
        data = told["value"]
        if isinstance(data, str) and data.endswith("…"):
            return Array("python", (), "str")
        is_word = _part(entry, "type").get("class") == "float" or not _part(entry, "type")
        if isinstance(data, str) and data in WORDS and is_word and not _is_text(known):
            data = WORDS[data]
        if (
            isinstance(known, Known)
            and isinstance(known.data, float)
            and isinstance(data, float)
            and abs(known.data - data) <= 1e-5 * abs(data)
        ):
            return known
        return Known(data)
    kind = _part(entry, "type").get("class")
    if isinstance(known, Known) and (kind is None or type(known.data).__name__ == kind):
        return known
    dtype = {"int": "int64", "float": "float64", "bool": "bool", "str": "str"}.get(kind or "")
    return Array("python", (), dtype) if dtype else Unknown()


def _is_text(value: Value) -> bool:
    return isinstance(value, Known) and isinstance(value.data, str)


def _none(_known: Value, _entry: Entry) -> Value:
    return Known(None)


def _scalar(known: Value, entry: Entry) -> Value:
    name = _part(entry, "type").get("class")
    told = _part(entry, "value").get("value")
    if name == "torch.device":
        return Thing("torch.device", {"device": told if told is not None else None})
    if name is None or told is None:
        return known if not isinstance(known, Unknown) else Unknown()
    if name.startswith("numpy.") and isinstance(told, (int, float)):
        dtype = name.partition(".")[2]
        made = Array("numpy", (), dtype if dtype != "bool" else "bool")
        made.data = np.asarray(told)
        return made
    return Unknown()


def _array(known: Value, entry: Entry) -> Value:
    kind = _part(entry, "type").get("kind")
    home = HOMES.get(kind or "") or (known.home if isinstance(known, Array) else "numpy")
    base = known if isinstance(known, Array) and known.home == home else Array(home)
    made = Array(home, base.shape, base.dtype, base.data, base.low, base.high, base.is_attained)
    made.nan, made.inf, made.uniques, made.distinct = (
        base.nan,
        base.inf,
        base.uniques,
        base.distinct,
    )
    made.labels, made.name, made.categories, made.fields = (
        base.labels,
        base.name,
        base.categories,
        base.fields,
    )
    made.device, made.needs_grad, made.is_leaf = base.device, base.needs_grad, base.is_leaf
    made.is_contiguous, made.graph, made.is_unique = base.is_contiguous, base.graph, base.is_unique
    made.element_types, made.member = base.element_types, base.member
    if base is not known and home == "torch":
        made.device, made.needs_grad, made.is_leaf = None, None, None
    _structure(made, entry)
    _type(made, entry)
    _values(made, _part(entry, "value"))
    return made


def _structure(made: Array, entry: Entry) -> None:
    structural = _part(entry, "structural")
    shape = structural.get("shape")
    if shape is None and "length" in structural:
        shape = [structural["length"]]
    if shape is not None:
        if made.data is not None and made.data.shape != tuple(shape):
            made.data = None
        made.shape = tuple(shape)
    if "fields" in structural:
        made.fields = tuple(structural["fields"])
    if "name" in structural:
        made.name = lift(structural["name"]) if structural["name"] is not None else None
    if made.home == "index":
        if "index_unique" in structural:
            made.is_unique = structural["index_unique"]
        _labels_of_index(made, structural)
    elif (
        "index_labels" in structural
        or "index_unique" in structural
        or "index" in _part(entry, "type")
    ):
        made.labels = _index(made.labels, entry, made.length)


def _index(known: Array | None, entry: Entry, rows: int | None) -> Array:
    structural = _part(entry, "structural")
    made = Array("index", (rows,), None)
    if known is not None:
        made.dtype, made.data, made.name = known.dtype, known.data, known.name
        made.low, made.high, made.is_attained = known.low, known.high, known.is_attained
        if made.data is not None and made.data.shape != (rows,):
            made.data, made.low, made.high = None, None, None
    dtype = _part(entry, "type").get("index")
    if dtype is not None:
        made.dtype = _dtype(dtype)
    if "index_unique" in structural:
        made.is_unique = structural["index_unique"]
    names = structural.get("index_names")
    if names and names != [None]:
        made.name = lift(names[0]) if len(names) == 1 else Known(tuple(names))
    _labels_of_index(made, structural)
    return made


def _labels_of_index(made: Array, structural: dict[str, Any]) -> None:
    labels = structural.get("index_labels")
    rows = made.length
    if not isinstance(labels, list) or rows is None or made.data is not None:
        return
    first = labels[: min(rows, ALL_SHOWN)]
    complete = [*first, *labels[len(first) :]][: rows if rows <= ALL_SHOWN else None]
    is_complete = rows <= ALL_SHOWN or (rows == ALL_SHOWN + 1 and len(labels) == rows)
    plain = all(
        isinstance(each, (int, float, str)) and not isinstance(each, bool) for each in labels
    )
    if (
        not labels
        or not plain
        or any(isinstance(each, str) and each.endswith("…") for each in labels)
    ):
        return
    if (made.dtype or "").startswith("datetime64"):
        _dates(made, first if is_complete and rows <= ALL_SHOWN else labels, rows, is_complete)
        return
    if is_complete:
        whole = complete if rows <= ALL_SHOWN else labels
        kinds = {type(each) for each in whole}
        if len(whole) == rows and len(kinds) == 1:
            made.data = np.array(whole, dtype=object if kinds == {str} else None)
            if kinds == {str} and made.dtype is None:
                made.dtype = "str"
        return
    is_range = first == list(range(len(first))) and labels[-1] == rows - 1 and made.is_unique
    if is_range and made.dtype in ("int64", None):
        index = rows_index(rows)
        made.data, made.low, made.high, made.dtype = index.data, index.low, index.high, "int64"


def _dates(made: Array, labels: list[Any], rows: int, is_complete: bool) -> None:
    try:
        known = np.array([np.datetime64(each) for each in labels])
    except ValueError:
        return
    days = known.astype("datetime64[D]")
    if is_complete and len(known) == rows:
        made.data = known
    elif (
        len(known) > ALL_SHOWN
        and (np.diff(days[:ALL_SHOWN]).astype(int) == 1).all()
        and int((days[-1] - days[0]).astype(int)) == rows - 1
        and (known == days).all()
    ):
        # a run of days without a gap from the first to the last, one for each row
        made.data = days[0] + np.arange(rows)


def _dtype(name: str) -> str | None:
    name = name.removeprefix("torch.")
    if name.startswith("<U") or name in ("str", "string"):
        return "str"
    if name.startswith(("datetime64", "<M8")):
        return "datetime64"
    if name.startswith("timedelta64"):
        return "timedelta64"
    if name.startswith("["):
        return "void"
    return name


def _type(made: Array, entry: Entry) -> None:
    told = _part(entry, "type")
    if told.get("dtype") is not None:
        dtype = _dtype(told["dtype"])
        if dtype != made.dtype:
            made.data = None
        made.dtype = dtype
    if "device" in told:
        made.device = told["device"]
    if "requires_grad" in told:
        made.needs_grad = told["requires_grad"]
        made.is_leaf = not told.get("has_graph") if made.needs_grad else True
        if not told.get("has_graph"):
            made.graph = ()
    if "is_contiguous" in told:
        made.is_contiguous = told["is_contiguous"]


def _values(made: Array, told: dict[str, Any]) -> None:
    if not told:
        return
    single = told.get("value")
    single = WORDS.get(single, single) if isinstance(single, str) else single
    if isinstance(single, (int, float)):
        made.data = np.asarray(single)
        made.shape = ()
        return
    keeps = made.data is not None and _agrees(made, told)
    if not keeps:
        made.data = None
    if "nan_share" in told:
        made.nan = told["nan_share"] not in (0, 0.0)
    made.inf = bool(told.get("inf_share"))
    ends = told.get("range")
    if ends:
        low, high = (WORDS.get(each, each) if isinstance(each, str) else each for each in ends)
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            made.low, made.high, made.is_attained = float(low), float(high), True
            made.inf = (
                made.inf or abs(float(low)) == float("inf") or abs(float(high)) == float("inf")
            )
    elif "range" not in told and made.low is not None and not keeps:
        made.low, made.high, made.is_attained = None, None, False
    if "distinct" in told:
        made.distinct = told["distinct"]
    uniques = told.get("uniques")
    made.uniques = None
    if isinstance(uniques, list):
        plain = [
            WORDS.get(each, each) if isinstance(each, str) and facts.kind(made) == "f" else each
            for each in uniques
        ]
        is_whole = told.get("distinct") == len(plain) and not any(
            isinstance(e, str) and e.endswith("…") for e in plain
        )
        if is_whole and len(plain) <= ALL_SHOWN:
            made.uniques = tuple(plain)
        made.member = made.member
    if "element_types" in told:
        made.element_types = tuple(each for each in told["element_types"] if each != "NoneType")


def _agrees(made: Array, told: dict[str, Any]) -> bool:
    """Whether values that the code gives are those of which the summary tells."""
    low, high, _ = facts.bounds(made)
    ends = told.get("range")
    if (
        ends
        and low is not None
        and high is not None
        and all(isinstance(e, (int, float)) for e in ends)
    ):
        near = all(
            abs(a - b) <= 1e-4 * max(abs(b), 1e-9) for a, b in zip((low, high), ends, strict=False)
        )
        if not near:
            return False
    count = facts.distinct(made)
    return count is None or told.get("distinct") is None or count == told["distinct"]


def _frame(known: Value, entry: Entry) -> Value:
    structural, types = _part(entry, "structural"), _part(entry, "type")
    base = known if isinstance(known, Frame) else Frame(None, False)
    shape = structural.get("shape") or [base.rows, None]
    rows = shape[0]
    names = structural.get("columns")
    dtypes = types.get("dtypes") or {}
    values = _part(entry, "value").get("by_column") or {}
    columns: dict[Any, Array] | None = None
    is_complete = base.is_complete
    if names is not None:
        labels = [tuple(name) if isinstance(name, list) else name for name in names]
        columns = {name: (base.columns or {}).get(name) or Array("series") for name in labels}
        is_complete = shape[1] is None or len(labels) == shape[1]
    elif base.columns is not None:
        columns = dict(base.columns)
    elif dtypes or values:
        columns, is_complete = {name: Array("series") for name in {**dtypes, **values}}, False
    labels_of = _index(base.labels, entry, rows) if structural or types else base.labels
    for name, column in (columns or {}).items():
        part: Entry = {"structural": {"length": rows} if rows is not None else {}}
        if str(name) in dtypes:
            part["type"] = {"kind": "series", "dtype": dtypes[str(name)]}
        if str(name) in values:
            part["value"] = values[str(name)]
        column.home = "series"
        made = _array(column, part)
        if columns is not None and isinstance(made, Array):
            made.labels, made.name = labels_of, lift(name)
            columns[name] = made
    return Frame(columns, is_complete, rows, labels_of)


def _sequence(known: Value, entry: Entry) -> Value:
    structural, types, told = (_part(entry, part) for part in ("structural", "type", "value"))
    base = known if isinstance(known, Sequence) else Sequence("list")
    kind = {
        "list": "list",
        "tuple": "tuple",
        "set": "set",
        "range": "range",
        "frozenset": "frozenset",
    }.get(types.get("class", base.kind), base.kind)
    size = structural.get("length", base.size)
    items = base.items if base.items is not None and len(base.items) == size else None
    first = told.get("first")
    if (
        first is not None
        and size == len(first)
        and not any(isinstance(e, str) and e.endswith("…") for e in first)
    ):
        items = [lift(each) for each in first]
    children = entry.get("items")
    if isinstance(children, dict) and children:
        described = {
            key: refined(
                items[int(key)] if items is not None and int(key) < len(items) else None, each
            )
            for key, each in children.items()
            if key.isdigit()
        }
        if size == len(described):
            items = [described[str(place)] for place in range(size)]
        elif items is not None:
            for key, each in described.items():
                items[int(key)] = each
        elif size is not None and size <= 500:
            items = [described.get(str(place), Unknown()) for place in range(size)]
    if size == 0:
        items = []
    element = base.element
    ends = told.get("range")
    if items is None and ends and all(isinstance(e, (int, float)) for e in ends):
        dtype = "int64" if types.get("element_types") == ["int"] else None
        element = Array("python", (), dtype, low=ends[0], high=ends[1])
    return Sequence(kind, items, size, element)


def _mapping(known: Value, entry: Entry) -> Value:
    structural = _part(entry, "structural")
    base = known if isinstance(known, Mapping) else None
    kind = base.kind if base is not None else "dict"
    name = _part(entry, "type").get("class", "")
    kind = {
        "collections.defaultdict": "defaultdict",
        "collections.Counter": "Counter",
        "sklearn.utils._bunch.Bunch": "Bunch",
        "dict": "dict",
        "collections.OrderedDict": "dict",
    }.get(name, kind)
    old = dict(base.items) if base is not None else {}
    keys = structural.get("keys")
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    if keys is None:
        items = old
        is_complete = base.is_complete if base is not None else False
    else:
        labels = [tuple(key) if isinstance(key, list) else key for key in keys]
        items = {key: old.get(key, Unknown()) for key in labels}
        is_complete = structural.get("length", len(labels)) == len(labels)
        is_complete &= not any(isinstance(key, str) and key.startswith("<") for key in labels)
    for key in list(items):
        if children and str(key) in children:
            items[key] = refined(items[key], children[str(key)])
    return Mapping(items, is_complete, kind)


def _archive(_known: Value, entry: Entry) -> Value:
    keys = _part(entry, "structural").get("keys")
    return Mapping({key: Unknown() for key in keys or []}, keys is not None, "archive")


def _estimator(known: Value, entry: Entry) -> Value:
    types, structural, told = (_part(entry, part) for part in ("type", "structural", "value"))
    path = documented_path(types["class"]) if "class" in types else None
    if isinstance(known, Estimator) and path in (None, known.path):
        made = known
    elif path is not None and class_of(path) is not None:
        made = Estimator(path, fitted=None)
    else:
        return Unknown()
    if "fitted" in types:
        made.fitted = types["fitted"]
        if made.fitted is False:
            made.features, made.names, made.classes, made.n_classes = None, None, None, None
    if "n_features_in_" in types:
        made.features = types["n_features_in_"]
    if "feature_names_in_" in structural:
        made.names = tuple(structural["feature_names_in_"])
        if made.features is not None and len(made.names) != made.features:
            made.names = None
    if "learnt" in structural:
        made.learnt = frozenset(structural["learnt"])
        made.fitted = made.fitted if made.fitted is not None else bool(made.learnt) or None
    for key, value in (told.get("settings") or {}).items():
        made.settings[key] = lift(WORDS.get(value, value) if isinstance(value, str) else value)
    classes = told.get("classes_")
    if isinstance(classes, dict):
        made.n_classes = classes.get("distinct")
        uniques = classes.get("uniques")
        if isinstance(uniques, list) and len(uniques) == made.n_classes:
            made.classes = tuple(uniques)
        elif made.classes is not None and len(made.classes) != made.n_classes:
            made.classes = None
        ends = classes.get("range")
        if ends:
            made.facts["bounds"] = (ends[0], ends[1], True)
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    steps = structural.get("steps")
    if steps is not None:
        old = made.steps or {}
        made.steps = {
            name: refined(old.get(name), (children or {}).get(name, {})) for name in steps
        }
    elif made.steps is not None:
        for name, value in made.steps.items():
            if children and name in children:
                made.steps[name] = refined(value, children[name])
    if steps is None and made.steps is None:
        for name, child in (children or {}).items():
            if name == "best_estimator_":
                made.facts["best"] = refined(made.facts.get("best"), child)
            elif name in made.settings or name == "estimator":
                made.settings[name] = refined(made.settings.get(name), child)
    return made


def _network(known: Value, entry: Entry) -> Value:
    types, structural, told = (_part(entry, part) for part in ("type", "structural", "value"))
    if isinstance(known, Instance):
        return _of_notebook(known, entry)
    path = documented_path(types["class"]) if "class" in types else None
    if isinstance(known, Network) and path in (None, known.path):
        made = known
    elif path is not None and class_of(path) is not None:
        made = Network(path)
    else:
        return Unknown()
    for key, value in (told.get("settings") or {}).items():
        made.settings[key] = lift(value)
    if "training" in types:
        made.settings["training"] = Known(types["training"])
    shapes = structural.get("parameter_shapes")
    if shapes is not None:
        old = made.parameters or {}
        made.parameters = {}
        for name, shape in shapes.items():
            weight = old.get(name) or Array("torch", None, None, device=None, needs_grad=None)
            weight.shape = tuple(shape)
            made.parameters[name] = weight
    devices, dtypes, needs = types.get("devices"), types.get("dtypes"), types.get("requires_grad")
    for weight in (made.parameters or {}).values():
        if devices is not None:
            weight.device = devices[0] if len(devices) == 1 else None
        if dtypes is not None:
            weight.dtype = _dtype(dtypes[0]) if len(dtypes) == 1 else None
        if needs is not None:
            weight.needs_grad = needs[0] if len(needs) == 1 else None
    layers = structural.get("layers")
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    if layers is not None:
        old_children = made.children
        made.children = {name: old_children.get(name, Unknown()) for name in layers}
    for name in list(made.children):
        if children and name in children:
            made.children[name] = refined(made.children[name], children[name])
    return made


def _of_notebook(known: Instance, entry: Entry) -> Value:
    children = entry.get("items") if isinstance(entry.get("items"), dict) else {}
    for name, child in (children or {}).items():
        if name in known.attributes:
            known.attributes[name] = refined(known.attributes[name], child)
    devices = _part(entry, "type").get("devices")
    for value in known.attributes.values():
        if isinstance(value, Network) and devices is not None and len(devices) == 1:
            for weight in (value.parameters or {}).values():
                weight.device = devices[0]
    return known


def _object(known: Value, entry: Entry) -> Value:
    structural = _part(entry, "structural")
    if isinstance(known, Instance):
        stored = structural.get("stored")
        for name, child in (entry.get("items") or {}).items():
            known.attributes[name] = refined(known.attributes.get(name), child)
        if stored is not None and len(stored) < 40:
            for name in [n for n in known.attributes if n not in stored and not n.startswith("<")]:
                if not name.startswith("_"):
                    del known.attributes[name]
            for name in stored:
                known.attributes.setdefault(name, Unknown())
        return known
    name = _part(entry, "type").get("class")
    if isinstance(known, Thing) and (name is None or documented_path(name) == known.path):
        return known
    path = documented_path(name) if name is not None else ""
    if class_of(path) is not None:
        return Thing(path, {})
    return Unknown()


def _random(known: Value, entry: Entry) -> Value:
    name = str(_part(entry, "type").get("class"))
    if name.endswith("Generator") and "numpy" in name:
        return Thing("numpy.random.Generator", {})
    return Thing("numpy.random.RandomState", {}) if name.endswith("RandomState") else known


def _loader(known: Value, entry: Entry) -> Value:
    structural = _part(entry, "structural")
    made = (
        known
        if isinstance(known, Thing)
        else Thing("torch.utils.data.DataLoader", {"collate_fn": Unknown()})
    )
    if "batch_size" in structural:
        made.facts["batch_size"] = structural["batch_size"]
    if structural.get("collate") in ("default_collate", "default_convert") and known is not made:
        made.facts["collate_fn"] = None
    child = (entry.get("items") or {}).get("dataset")
    if child is not None:
        made.facts["dataset"] = refined(made.facts.get("dataset"), child)
    return made


def _data_set(known: Value, entry: Entry) -> Value:
    types, structural = _part(entry, "type"), _part(entry, "structural")
    made = (
        known
        if isinstance(known, Thing)
        else Thing("lightgbm.Dataset", {"told": True, "constructed": None})
    )
    if "constructed" in types:
        made.facts["constructed"] = types["constructed"]
        free = types.get("free_raw_data", made.facts.get("free"))
        made.facts["free"] = free
        made.facts["freed"] = (
            bool(types["constructed"]) and bool(free) and types.get("data_class") == "NoneType"
        )
    if "data_shape" in structural:
        shape = structural["data_shape"]
        made.facts["rows"], made.facts["width"] = shape[0], shape[1] if len(shape) > 1 else None
    if "label_shape" in structural:
        made.facts["label_rows"] = (
            structural["label_shape"][0] if structural["label_shape"] else None
        )
    return made


def _booster(known: Value, entry: Entry) -> Value:
    made = known if isinstance(known, Thing) else Thing("lightgbm.Booster", {})
    features = _part(entry, "structural").get("features")
    if features is not None:
        made.facts["features"] = features
    return made


def _function(known: Value, entry: Entry) -> Value:
    types = _part(entry, "type")
    if isinstance(known, Function) or types.get("module") in (None, "__main__"):
        return known
    if isinstance(known, (Symbol, Bound)):
        return known
    return Unknown()


def _class(known: Value, entry: Entry) -> Value:
    if isinstance(known, (Class, Symbol)):
        return known
    name = _part(entry, "type").get("class", "")
    return Unknown() if name.startswith("__main__") else Symbol(documented_path(name))


def _library(known: Value, entry: Entry) -> Value:
    name = _part(entry, "type").get("module")
    if isinstance(known, Symbol) or name is None:
        return (
            known
            if isinstance(known, Symbol) and name in (None, known.path)
            else Symbol(name or "")
        )
    return Symbol(name)


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "number": _number,
    "text": _number,
    "none": _none,
    "scalar": _scalar,
    **dict.fromkeys(HOMES, _array),
    "frame": _frame,
    "sequence": _sequence,
    "mapping": _mapping,
    "archive": _archive,
    "estimator": _estimator,
    "network": _network,
    "object": _object,
    "random": _random,
    "loader": _loader,
    "dataset": _data_set,
    "booster": _booster,
    "function": _function,
    "class": _class,
    "library": _library,
}
