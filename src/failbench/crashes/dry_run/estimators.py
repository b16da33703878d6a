"""Estimators of scikit-learn and LightGBM, fitted on made-up data where they were fitted."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.notebooks.summary.raw import attributes_of, primitive

Entry = dict[str, Any]
Rebuild = Callable[[Entry], Any]

CONTENTS: Final = frozenset({"categories_", "vocabulary_", "transformers_", "cv_results_"})
"""What some estimators learn that is the content of their data, of which nothing is told."""

PARTS: Final = ("estimator",)
"""Parameters that are estimators, and that a summary describes."""

LABEL_CODERS: Final = ("LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer")
ROWS: Final = 60
"""Rows of made-up data, or as many times four as there are classes."""


def estimator(entry: Entry, cls: Any, rebuild: Rebuild, rng: np.random.Generator) -> Any:
    """An estimator with its settings.

    Raises
    ------
    NotRebuiltError
        If its class is of no library, a setting is not told, or what it learnt is not.
    """
    if not entry["type"]["class"].startswith(("sklearn.", "lightgbm.")):
        raise NotRebuiltError("its class is of no library that estimators are made of")
    items, steps = entry.get("items", {}), entry.get("structural", {}).get("steps")
    if steps is not None:
        if cls.__name__ != "Pipeline" or any(step not in items for step in steps):
            raise NotRebuiltError("of its parts not all is told")
        fitted = [(step, rebuild(items[step])) for step in steps]
        return cls(fitted, **_settings(entry, cls, {"steps"}))
    known = inspect.signature(cls).parameters
    parts = {name: rebuild(items[name]) for name in PARTS if name in items and name in known}
    made = cls(**parts, **_settings(entry, cls, set(parts)))
    if entry["type"]["fitted"]:
        _fit(made, entry, rng)
    return made


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


def _fit(made: Any, entry: Entry, rng: np.random.Generator) -> None:
    learnt = set(entry.get("structural", {}).get("learnt", ()))
    if learnt & CONTENTS:
        raise NotRebuiltError("the content of what it learnt is not told")
    classes = _classes(entry, rng)
    if type(made).__name__ in LABEL_CODERS:
        if classes is None:
            raise NotRebuiltError("its classes are not told")
        made.fit(classes)
        return
    features = entry["type"].get("n_features_in_")
    if features is None:
        raise NotRebuiltError("the number of its features is not told")
    rows = max(ROWS, 4 * len(classes) if classes is not None else 0)
    table: Any = rng.random((rows, features))
    names = entry.get("structural", {}).get("feature_names_in_")
    if names is not None and len(names) == features:
        import pandas as pd

        table = pd.DataFrame(table, columns=names)
    outputs = entry["type"].get("n_outputs_") or 1
    target: Any = rng.random(rows) if outputs == 1 else rng.random((rows, outputs))
    if classes is not None:
        target = classes[np.arange(rows) % len(classes)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.fit(table, target)
    missing = learnt - {name for name in attributes_of(made) if name.endswith("_")}
    if missing:
        raise NotRebuiltError("on made-up data it learns other attributes")


def _classes(entry: Entry, rng: np.random.Generator) -> Any:
    facts = entry["value"].get("classes_")
    if not facts:
        return None
    size, first = int(facts["distinct"]), facts["uniques"][0]
    if isinstance(first, str):
        return np.array(sorted(values.texts(facts, size, rng)))
    kind = bool if isinstance(first, bool) else type(first)
    drawn = values.numbers(facts, size, rng, whole=kind is not float)
    return np.sort(np.array(drawn, kind))
