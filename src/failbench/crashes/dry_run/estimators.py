"""Estimators of scikit-learn and LightGBM, fitted on made-up data where they were fitted."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.crashes.dry_run.samples import parts_of, samples
from failbench.notebooks.summary.raw import attributes_of, primitive

Entry = dict[str, Any]
Rebuild = Callable[[Entry], Any]
Named = Callable[[str], Any]

PARTS: Final = ("estimator",)
"""Parameters that are estimators, and that a summary describes."""

LABEL_CODERS: Final = ("LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer")
ROWS: Final = 120
"""Rows of made-up data, or as many times four as there are classes."""

SCALE: Final = 100.0
"""Of a made-up target, so that a split of it gains something."""


def unfitted(entry: Entry, named: Named, rebuild: Rebuild) -> Any:
    """An estimator with its settings."""
    if entry["type"]["kind"] != "estimator":
        return rebuild(entry)
    if not entry["type"]["class"].startswith(("sklearn.", "lightgbm.")):
        raise NotRebuiltError("its class is of no library that estimators are made of")
    cls, items = named(entry["type"]["class"]), entry.get("items", {})
    steps = entry.get("structural", {}).get("steps")
    if steps is not None:
        if cls.__name__ != "Pipeline" or any(step not in items for step in steps):
            raise NotRebuiltError("of its parts not all is told")
        parts = [(step, unfitted(items[step], named, rebuild)) for step in steps]
        return cls(parts, **_settings(entry, cls, {"steps"}))
    known = inspect.signature(cls).parameters
    settings = {
        name: unfitted(items[name], named, rebuild)
        for name in PARTS
        if name in items and name in known
    }
    return cls(**settings, **_settings(entry, cls, set(settings)))


def _settings(entry: Entry, cls: Any, known: set[str]) -> dict[str, Any]:
    """Settings as arguments; one that is not told is None, or an object of which nothing is.

    Of a default that is itself no number or text, the default is taken.
    """
    told = {
        name: float(value) if value in ("nan", "inf", "-inf") else value
        for name, value in entry["value"]["settings"].items()
    }
    parameters = inspect.signature(cls).parameters
    settings = {}
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name in known:
            continue
        if name in told:
            settings[name] = told[name]
        elif parameter.default is parameter.empty:
            raise NotRebuiltError(f"its setting {name} is not told")
        elif primitive(parameter.default) is not None:
            settings[name] = None
    if any(each.kind == each.VAR_KEYWORD for each in parameters.values()):
        settings |= {name: value for name, value in told.items() if name not in parameters}
    return settings


def fit(
    made: Any, entry: Entry, told: dict[str, Entry], source: Entry | None, rng: np.random.Generator
) -> None:
    """Fit an estimator to made-up data, whose columns are like those of a table that is told."""
    classes = _classes(entry, rng)
    if type(made).__name__ in LABEL_CODERS:
        if classes is None:
            raise NotRebuiltError("its classes are not told")
        made.fit(classes)
        return
    rows = max(ROWS, 4 * len(classes) if classes is not None else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table, signal = samples(entry, told, source, rows, rng)
        made.fit(table, _target(entry, signal, classes, rng))
    learnt = set(entry.get("structural", {}).get("learnt", ()))
    if learnt - {name for name in attributes_of(made) if name.endswith("_")}:
        raise NotRebuiltError("on made-up data it learns other attributes")


def _target(entry: Entry, signal: Any, classes: Any, rng: np.random.Generator) -> Any:
    """What a model is to predict, which it can learn."""
    rows = len(signal)
    if classes is not None:
        return classes[np.argsort(np.argsort(signal)) * len(classes) // rows]
    outputs = entry["type"].get("n_outputs_") or 1
    target = SCALE * np.argsort(np.argsort(signal)) / rows
    return target if outputs == 1 else target[:, None] + rng.random((rows, outputs))


def _classes(entry: Entry, rng: np.random.Generator) -> Any:
    facts = _last(entry, "value", "classes_")
    if not facts:
        return None
    size, first = int(facts["distinct"]), facts["uniques"][0]
    if isinstance(first, str):
        return np.array(sorted(values.texts(facts, size, rng)))
    kind = bool if isinstance(first, bool) else type(first)
    drawn = values.numbers(facts, size, rng, whole=kind is not float)
    return np.sort(np.array(drawn, kind))


def _last(entry: Entry, part: str, fact: str) -> Any:
    """A fact of an estimator, or of the last of its parts that has it."""
    if fact in entry.get(part, {}):
        return entry[part][fact]
    parts = reversed(parts_of(entry))
    return next((known for each in parts if (known := _last(each, part, fact))), None)
