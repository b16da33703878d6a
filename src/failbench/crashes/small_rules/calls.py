"""Calls: arguments that a function does not take, and what well-known functions return."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, Final

from failbench.crashes.small_rules.access import check_columns
from failbench.crashes.small_rules.library import class_of, refuse, tags, thing
from failbench.crashes.small_rules.values import ARRAYS, TABLES, Value, Violation, forget, sequence

UNCALLED: Final = ARRAYS | TABLES | {"number", "text", "none", "sequence", "mapping", "scalar"}
KEPT: Final = ARRAYS | TABLES | {"random"}
PURE: Final = ("builtins.", "numpy.", "pandas.", "sklearn.metrics.", "math.")
Named = dict[str, Value]


def call(function: Value, args: list[Value], named: Named) -> Value:
    """What a function that is not of the notebook returns."""
    if function.kind in UNCALLED or isinstance(thing(function.path), ModuleType):
        raise Violation("TypeError", f"a {function.cls or 'module'} cannot be called")
    if function.owner is not None:
        return _method(function.owner, function.path, args, named)
    refuse(function.path, {*named})
    result = _returned(function.path, args, named)
    kept = KEPT if function.path else ()
    if not function.path.startswith(PURE) or "out" in named:
        forget(each for each in (*args, *named.values()) if each.kind not in kept)
    return result


def _method(owner: Value, name: str, args: list[Value], named: Named) -> Value:
    if owner.kind == "estimator":
        return _use(owner, name, args, named)
    if inspect.isfunction(inspect.getattr_static(class_of(owner.cls), name, None)):
        refuse(f"{owner.cls}.{name}", {*named})
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
        return sequence([Value("object", "matplotlib.figure.Figure"), axes], "tuple")
    if path == "pandas.DataFrame" and len(args) == 1 and first.kind == "mapping" and not named:
        return Value("frame", path, keys=list(first.keys) if first.keys else None)
    if path == "builtins.range" and args and all(type(each.constant) is int for each in args):
        numbers = range(*[each.constant for each in args])
        return Value("sequence", "range", (len(numbers),), constant=numbers)
    is_pipeline = path.endswith(".make_pipeline") and all(each.cls for each in args)
    if is_pipeline or tags(path) is not None:
        steps = [each.cls.rpartition(".")[2].lower() for each in args] if is_pipeline else None
        made = thing("sklearn.pipeline.Pipeline" if is_pipeline else path)
        is_new = all(each.facts.get("fitted") is False for each in args) or steps is None
        facts = {"fitted": False if is_new else None, "steps": steps}
        return Value("estimator", f"{made.__module__}.{made.__qualname__}", facts=facts)
    return Value(path=f"{path}()")


USES: Final = ("predict", "predict_proba", "decision_function", "score", "transform")
FITS: Final = ("fit", "fit_transform", "fit_predict", "partial_fit")
COMPOSED: Final = ("ColumnTransformer", "Pipeline", "SearchCV", "FrozenEstimator", "FromModel")


def _use(model: Value, method: str, args: list[Value], named: Named) -> Value:
    known, is_plain = tags(model.cls), not model.cls.endswith(COMPOSED)
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
