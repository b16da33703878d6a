"""Estimators that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.interfaces import class_of, documented_path
from failbench.crashes.rules.knowledge.values import Estimator, Unknown, Value
from failbench.crashes.rules.told.entries import WORDS, Entry, facts_of
from failbench.crashes.rules.told.refinement import refined


def _estimator(known: Value, entry: Entry) -> Value:
    types, structural, told = (facts_of(entry, part) for part in ("type", "structural", "value"))
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


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "estimator": _estimator,
}
