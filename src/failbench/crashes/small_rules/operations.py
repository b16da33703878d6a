"""What attributes, subscripts, operators and calls give, and where there is certainly nothing."""

import ast
import inspect
from types import ModuleType
from typing import Any, Final

from failbench.crashes.small_rules import values
from failbench.crashes.small_rules.values import ARRAYS, TABLES, Value, Violation, forget

CLASSES: Final = {"frame": "pandas.DataFrame", "series": "pandas.Series", "none": "NoneType"}
ACCESSORS: Final = {"dt": ("date", "time", "period"), "str": ("str", "object", "cat")}


def attribute(base: Value, name: str) -> Value:
    """The attribute of a value."""
    where = base.facts.get("attributes", {}).get(name)
    cls = base.cls or CLASSES.get(base.kind, "")
    if base.kind == "library":
        problem = values.missing(base.path, name) if where in (None, "dynamic") else None
        if problem or where == "absent":
            raise Violation(problem or "AttributeError", f"{base.path} has no {name!r}")
        found = values.thing(f"{base.path}.{name}")
        is_plain = found is None or isinstance(found, str | int | float)
        return values.literal(found) if is_plain else Value("library", path=f"{base.path}.{name}")
    of_class = getattr(values.class_of(cls), name, None)
    is_learnt = isinstance(of_class, property) and name.endswith("_")
    if base.kind == "estimator" and is_learnt and base.facts.get("fitted") is False:
        raise Violation("NotFittedError", f"{cls} is not fitted, and {name!r} needs that")
    if where == "absent" or (where in (None, "dynamic") and _lacks(base, cls, name)):
        raise Violation("AttributeError", f"{cls or 'the object'} has no attribute {name!r}")
    wanted = ACCESSORS.get(name, ()) if base.kind == "series" and base.dtype else ()
    if wanted and not base.dtype.lower().startswith(wanted):
        raise Violation("AttributeError", f".{name} does not work on {base.dtype}")
    is_inside = base.kind in ("frame", "object", "estimator") or base.cls.endswith("Bunch")
    return (base.items.get(name) if is_inside else None) or Value(path=name, owner=base)


def _lacks(base: Value, cls: str, name: str) -> bool:
    if name.startswith("__") or base.kind in ("", "class", "function", "mapping"):
        return base.cls == "dict" and values.lacks("dict", name)
    if base.kind in ("frame", "series"):
        is_ours = base.kind == "series" or base.keys is None or name in map(str, base.keys)
        return not is_ours and not hasattr(values.class_of(cls), name)
    return not (base.kind == "estimator" and name.endswith("_")) and values.lacks(cls, name)


DICTIONARIES: Final = ("", "dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch")


def item(base: Value, index: Value) -> Value:
    """The element of a value at an index."""
    if base.kind == "mapping" and index.is_fixed:
        missing = base.keys is not None and index.constant not in base.keys
        if missing and base.cls in DICTIONARIES:
            raise Violation("KeyError", f"the dictionary has no key {index.constant!r}")
        return base.items.get(index.constant, Value())
    if base.kind == "frame":
        return _of_frame(base, index)
    if base.kind in ARRAYS:
        return _of_array(base, index)
    if base.owner is not None and base.path == "iloc":
        check_place(base.owner.length, index.constant)
    elif base.kind in ("sequence", "text", "index"):
        return _of_sequence(base, index)
    elif base.kind == "series" and (index.kind == "slice" or index.dtype == "bool"):
        return Value("series", base.cls, (None,), base.dtype)
    elif base.kind == "none" or base.cls in ("int", "float", "bool"):
        raise Violation("TypeError", f"a {base.cls} cannot be subscripted")
    return Value()


def store(base: Value, index: Value, value: Value) -> None:
    """Assign to an index."""
    if base.kind in ("mapping", "frame") and index.is_fixed:
        if base.keys is not None and index.constant not in base.keys:
            base.keys.append(index.constant)
        is_column = value.kind == "series" or base.kind == "mapping"
        base.items[index.constant] = value if is_column else Value("series")
        base.shape = (base.length, None) if base.kind == "frame" and base.shape else None
    elif base.kind in ARRAYS or base.kind == "sequence":
        item(base, index)
        base.items, base.facts = {}, {}
        if base.owner is not None:
            base.owner.facts = {}  # it may be a view of this
    else:
        base.forget()


def check_columns(base: Value, names: Value) -> None:
    """Hold the names of columns against those of a table."""
    given = values.elements(names)[0] if names.cls == "list" else [names]
    for name in (each.constant for each in given if each.kind == "text" and each.is_fixed):
        if base.kind == "frame" and base.keys is not None and name not in base.keys:
            raise Violation("KeyError", f"the table has no column {name!r}")


def check_place(size: int | None, place: object) -> None:
    """Hold an index against a length."""
    if size is not None and type(place) is int and not -size <= place < size:
        raise Violation("IndexError", f"index {place} is beyond the length {size}")


def _of_frame(base: Value, index: Value) -> Value:
    check_columns(base, index)
    if index.is_fixed:
        return base.items.get(index.constant, Value())
    names, complete = values.elements(index)
    if index.cls == "list" and complete and all(name.kind == "text" for name in names):
        keys = [name.constant for name in names]
        items = {name: base.items[name] for name in keys if name in base.items}
        return Value("frame", base.cls, (base.length, len(keys)), keys=keys, items=items)
    is_many = index.kind in ("slice", "series") or index.dtype == "bool"
    return Value("frame", base.cls, keys=list(base.keys)) if is_many and base.keys else Value()


def _of_sequence(base: Value, index: Value) -> Value:
    is_list = base.cls in ("list", "tuple", "range", "str")
    no_place = index.kind in ("text", "none") or index.cls in ("float", "tuple", "list")
    if base.cls == "set" or (is_list and no_place):
        raise Violation("TypeError", f"a {base.cls} has no such element")
    check_place(base.length, index.constant)
    known, complete = values.elements(base)
    if complete and isinstance(index.constant, slice):
        return values.sequence(known[index.constant], base.cls)
    return known[index.constant] if complete and type(index.constant) is int else Value()


def _of_array(base: Value, index: Value) -> Value:
    parts = list(index.items.values()) if index.cls == "tuple" else [index]
    if base.keys is not None and index.kind == "text" and index.constant not in base.keys:
        raise Violation("ValueError", "the array has no such field")
    sizes = [_dimensions(part) for part in parts]
    if base.shape is None or base.keys is not None or None in sizes or not sizes:
        return Value()
    taken = [size for size in sizes if size is not None]
    if sum(taken) > len(base.shape):
        raise Violation("IndexError", f"{sum(taken)} indices for an array of shape {base.shape}")
    rest = base.shape
    for part, size in zip(parts, taken, strict=True):
        if part.dtype.endswith("bool"):
            pairs = zip(rest, part.shape or (), strict=False)
            if any(one != other for one, other in pairs if None not in (one, other)):
                raise Violation("IndexError", f"a mask of shape {part.shape} does not fit {rest}")
        for end in [part.constant, *part.facts.get("range", ())] if size else ():
            check_place(rest[0], end)
        rest = rest[size:]
    kept = () if parts[0].kind in ("number", "scalar") else (None,)
    is_one = len(parts) == 1 and parts[0].kind != "none" and len(parts[0].shape or kept) < 2
    return Value(base.kind, base.cls, (*kept, *rest) if is_one else None, base.dtype, owner=base)


def _dimensions(part: Value) -> int | None:
    """How many dimensions an index takes up; None if that is not established."""
    if part.kind == "none":
        return 0
    if part.kind in (*ARRAYS, "series") and part.shape:
        size = len(part.shape)
        return size if part.dtype.endswith("bool") else 1 if part.dtype or size == 1 else None
    is_place = part.kind in ("slice", "number", "scalar") and not isinstance(part.constant, bool)
    return 1 if is_place else None


BITWISE: Final = (ast.BitAnd, ast.BitOr, ast.BitXor)
COMPARISONS: Final = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
MEMBERSHIP: Final = (ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


def binary(sign: ast.AST, left: Value, right: Value) -> Value:
    """What an operator makes of two values."""
    kinds = {left.kind, right.kind}
    if kinds == {"none", "number"} and not isinstance(sign, MEMBERSHIP):
        raise Violation("TypeError", "None takes part in no arithmetic")
    if isinstance(sign, ast.Is) and "none" in kinds and "" not in kinds:
        return values.literal(left.kind == right.kind)
    if kinds & ARRAYS and kinds <= ARRAYS | {"number", "scalar"}:
        return _of_arrays(sign, left, right)
    if "series" in kinds and kinds <= {"series", "number", "scalar", "text"}:
        return Value("series", dtype="bool" if isinstance(sign, COMPARISONS) else "")
    return Value()


def _of_arrays(sign: ast.AST, left: Value, right: Value) -> Value:
    sides = [side for side in (left, right) if side.kind in ARRAYS]
    kind = "tensor" if "tensor" in (left.kind, right.kind) else "array"
    name = "RuntimeError" if kind == "tensor" else "ValueError"
    if isinstance(sign, BITWISE) and any(side.dtype.startswith("float") for side in sides):
        raise Violation("TypeError", "bitwise operators are not defined for floats")
    dtype = left.dtype if left.dtype == right.dtype and not isinstance(sign, ast.Div) else ""
    if isinstance(sign, COMPARISONS):
        dtype = "bool" if kind == "array" else "torch.bool"
    one, other = (side.shape if side.kind in ARRAYS else () for side in (left, right))
    if one is None or other is None:
        return Value(kind, sides[0].cls, None, dtype)
    if isinstance(sign, ast.MatMult):
        inner = other[-2:-1] or other
        if one and inner and one[-1] != inner[0] and None not in (one[-1], inner[0]):
            raise Violation(name, f"shapes {one} and {other} have no matrix product")
        return Value(kind, sides[0].cls, None, dtype)
    size = max(len(one), len(other))
    pairs = [(1,) * (size - len(each)) + each for each in (one, other)]
    for first, second in zip(*pairs, strict=True):
        if first != second and not {first, second} & {1, None}:
            raise Violation(name, f"shapes {one} and {other} cannot be broadcast together")
    whole = tuple(b if a == 1 else a if b in (1, a) else None for a, b in zip(*pairs, strict=True))
    return Value(kind, sides[0].cls, whole, dtype)


UNCALLED: Final = ARRAYS | TABLES | {"number", "text", "none", "sequence", "mapping", "scalar"}
KEPT: Final = ARRAYS | TABLES | {"random"}
PURE: Final = ("builtins.", "numpy.", "pandas.", "sklearn.metrics.", "math.")
Named = dict[str, Value]


def call(function: Value, args: list[Value], named: Named) -> Value:
    """What a function that is not of the notebook returns."""
    if function.kind in UNCALLED or isinstance(values.thing(function.path), ModuleType):
        raise Violation("TypeError", f"a {function.cls or 'module'} cannot be called")
    if function.owner is not None:
        return _method(function.owner, function.path, args, named)
    values.refuse(function.path, {*named})
    result = _returned(function.path, args, named)
    kept = KEPT if function.path else ()
    if not function.path.startswith(PURE) or "out" in named:
        forget(each for each in (*args, *named.values()) if each.kind not in kept)
    return result


def _method(owner: Value, name: str, args: list[Value], named: Named) -> Value:
    if owner.kind == "estimator":
        return _use(owner, name, args, named)
    if inspect.isfunction(inspect.getattr_static(values.class_of(owner.cls), name, None)):
        values.refuse(f"{owner.cls}.{name}", {*named})
    if owner.kind in ARRAYS | TABLES:
        if name == "drop" and "errors" not in named:
            check_columns(owner, named.get("columns", Value()))
        gaps = owner.kind == "series" and owner.facts.get("nan_share")
        if name == "astype" and gaps and args and args[0].path == "builtins.int":
            raise Violation("IntCastingNaNError", "gaps cannot become integers")
        changing = ("sort", "fill", "resize", "put", "insert", "pop", "update")
        if name in changing or name.endswith("_") or "inplace" in named:
            owner.forget()
        return Value("array", shape=owner.shape) if name == "to_numpy" else Value()
    if owner.kind not in ("text", "number", "random", "library", *KEPT):
        forget([owner, *args, *named.values()])
    return Value()


def _returned(path: str, args: list[Value], named: Named) -> Value:
    """What a function or class of a library, or a builtin, returns."""
    first = args[0] if args else Value()
    if path == "numpy.random.default_rng":
        return Value("random", "numpy.random._generator.Generator")
    if path == "matplotlib.pyplot.subplots" and not named.keys() & {"subplot_kw", "squeeze"}:
        sizes = [*args[:2], *(named[name] for name in ("nrows", "ncols") if name in named)]
        is_one = all(each.constant == 1 for each in sizes)
        axes = Value("object", "matplotlib.axes._axes.Axes") if is_one else Value()
        return values.sequence([Value("object", "matplotlib.figure.Figure"), axes], "tuple")
    if path == "pandas.DataFrame" and len(args) == 1 and first.kind == "mapping" and not named:
        return Value("frame", path, keys=list(first.keys) if first.keys else None)
    if path == "builtins.range" and args and all(type(each.constant) is int for each in args):
        numbers = range(*[each.constant for each in args])
        return Value("sequence", "range", (len(numbers),), constant=numbers)
    is_pipeline = path.endswith(".make_pipeline") and all(each.cls for each in args)
    if is_pipeline or values.tags(path) is not None:
        steps = [each.cls.rpartition(".")[2].lower() for each in args] if is_pipeline else None
        made = values.thing("sklearn.pipeline.Pipeline" if is_pipeline else path)
        is_new = all(each.facts.get("fitted") is False for each in args) or steps is None
        facts = {"fitted": False if is_new else None, "steps": steps}
        return Value("estimator", f"{made.__module__}.{made.__qualname__}", facts=facts)
    return Value(path=f"{path}()")


USES: Final = ("predict", "predict_proba", "decision_function", "score", "transform")
FITS: Final = ("fit", "fit_transform", "fit_predict", "partial_fit")
COMPOSED: Final = ("ColumnTransformer", "Pipeline", "SearchCV", "FrozenEstimator", "FromModel")


def _use(model: Value, method: str, args: list[Value], named: Named) -> Value:
    known, is_plain = values.tags(model.cls), not model.cls.endswith(COMPOSED)
    requires = known.requires_fit if known is not None and is_plain else "Pipeline" in model.cls
    if method in USES and model.facts.get("fitted") is False and requires:
        raise Violation("NotFittedError", f"{model.cls} is used before it was fitted")
    steps = model.facts.get("steps")
    if method == "set_params" and steps and model.cls.endswith("Pipeline"):
        for name in (name.partition("__")[0] for name in named):
            if name not in (*steps, "steps", "memory", "verbose", "transform_input"):
                raise Violation("ValueError", f"the pipeline has no step {name!r}")
    data = named.get("X") or (args[0] if args else Value())
    labels = named.get("y") or (args[1] if len(args) > 1 else Value())
    if known is not None and is_plain and not known.no_validation and method in FITS + USES:
        _check_data(known, data)
        if method in FITS and known.target_tags.required:
            _check_labels(known, data, labels)
        width, learnt = (data.shape or ())[1:2], model.facts.get("n_features_in_")
        if method in USES and learnt and width not in ((), (None,), (learnt,)):
            raise Violation("ValueError", f"{width[0]} features are given and {learnt} learnt")
    if method in FITS:
        model.facts, model.items = {"fitted": True, "steps": steps}, {}
    return model if method in ("fit", "set_params", "partial_fit") else Value()


def _check_data(known: Any, data: Value) -> None:
    takes = known.input_tags
    if not takes.two_d_array or takes.one_d_array:
        return
    if data.kind in ("series", "array") and data.shape is not None and len(data.shape) == 1:
        raise Violation("ValueError", "the estimator expects a table and is given one column")
    for each in data.items.values() if data.kind == "frame" else [data]:
        if not takes.allow_nan and (each.facts.get("nan_share") or each.facts.get("inf_share")):
            raise Violation("ValueError", "the data have gaps, or numbers without end")
        word = (each.facts.get("uniques") or [0])[0] if each.dtype in ("object", "str") else 0
        if isinstance(word, str) and word[:1].isalpha() and not (takes.string or takes.categorical):
            raise Violation("ValueError", f"the word {word!r} is no number")


def _check_labels(known: Any, data: Value, labels: Value) -> None:
    if None not in (data.length, labels.length) and data.length != labels.length:
        raise Violation("ValueError", f"{data.length} rows have {labels.length} labels")
    if labels.facts.get("nan_share"):
        raise Violation("ValueError", "the labels have gaps")
    for each in labels.facts.get("uniques", ()) if known.estimator_type == "classifier" else ():
        if isinstance(each, float) and not each.is_integer():
            raise Violation("ValueError", f"a classifier takes no label such as {each}")
