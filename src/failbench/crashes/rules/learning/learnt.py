"""Attributes of estimators, given and learnt."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation.registry import Property
from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.interfaces import (
    class_of,
    members,
    parameters,
    recorded,
    removed,
)
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Bound,
    Estimator,
    Frame,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import boosted, settings
from failbench.crashes.rules.learning.kinds import COMPOSED, SEARCHES
from failbench.crashes.rules.learning.samples import as_grid, rows_of


def attribute(value: Value, name: str, _state: State) -> Value:
    """An attribute of an estimator.

    Raises
    ------
    ViolationError
        If it is not there, or only after it learnt.
    """
    assert isinstance(value, Estimator)
    row = removed().get((value.path, name, "attribute"))
    if row is not None:
        raise ViolationError(row.exception, f"{value.name} has no {name} since {row.version}")
    stored = value.facts.get(f"stored {name}")
    if stored is not None:
        return stored  # type: ignore[no-any-return]
    known = members(value.path) or frozenset()
    methods = (class_of(value.path) or {"methods": []})["methods"]
    is_learnt = (name.endswith("_") and not name.startswith("_")) or name in (
        "booster_",
        "best_estimator_",
    )
    if is_learnt:
        return _learnt(value, name, known)
    if name in ("steps", "named_steps", "named_transformers_", "named_estimators"):
        return _named_steps(value, name)
    if name in value.settings:
        return value.settings[name]
    if name in methods:
        _check_available(value, name)
        return Bound(value, name)
    parameters_of = parameters(value.path)
    is_dynamic = (class_of(value.path) or {}).get("dynamic") or name.endswith("_request")
    if (
        is_dynamic
        or name in known
        or name.startswith("_")
        or (parameters_of and name in parameters_of.named)
    ):
        return Unknown() if name not in known else Bound(value, name)
    delegating = value.name in (*SEARCHES, "Pipeline", *COMPOSED) or name in recorded()["calls"]
    if delegating and name in known:
        return Unknown()
    raise ViolationError("AttributeError", f"{value.name} has no attribute {name}")


def _named_steps(value: Estimator, name: str) -> Value:
    if value.steps is None:
        return Unknown() if value.name in COMPOSED else _refused(value, name)
    if name == "steps":
        return Sequence("list", [Sequence("tuple", [Known(k), v]) for k, v in value.steps.items()])
    return Mapping(dict(value.steps), True, "Bunch")


def _refused(value: Estimator, name: str) -> Value:
    raise ViolationError("AttributeError", f"{value.name} has no attribute {name}")


def _learnt(value: Estimator, name: str, known: frozenset[str]) -> Value:
    is_documented = name in known or name in ("n_features_in_", "feature_names_in_", "classes_")
    fitted = value.fitted
    if value.path.startswith("lightgbm."):
        return boosted.learnt(value, name, known)
    if fitted is False:
        # a property tells what is wrong; a stored attribute is simply not there
        raises = ("feature_importances_",)
        exception = "NotFittedError" if name in raises and name in known else "AttributeError"
        if value.name in ("TfidfVectorizer",) and name == "idf_":
            exception = "NotFittedError"
        raise ViolationError(exception, f"{value.name}.{name} is there after fit")
    defined = (class_of(value.path) or {"members": known})["members"]
    if fitted and value.learnt is not None and name not in value.learnt and name not in defined:
        raise ViolationError(
            "AttributeError", f"{value.name} learnt {sorted(value.learnt)[:8]} and no {name}"
        )
    if fitted and not is_documented and known and value.learnt is None:
        raise ViolationError("AttributeError", f"{value.name} has no attribute {name}")
    if fitted and name == "coef_" and value.name in ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"):
        kernel = settings.constant(value.settings.get("kernel", Known("rbf")))
        if isinstance(kernel, str) and kernel != "linear":
            raise ViolationError("AttributeError", "coef_ is there with a linear kernel alone")
    if (
        fitted
        and name == "feature_names_in_"
        and value.learnt is not None
        and name not in value.learnt
    ):
        raise ViolationError("AttributeError", "names of features were not learnt")
    if (
        fitted
        and name.startswith("best_")
        and settings.constant(value.settings.get("refit", Known(True))) is False
    ) and name == "best_estimator_":
        raise ViolationError("AttributeError", "the best estimator is there with refit alone")
    return _content(value, name)


def _content(value: Estimator, name: str) -> Value:
    best = value.facts.get("best")
    if name == "best_estimator_":
        return best if isinstance(best, Estimator) else Unknown()
    if name == "best_params_":
        grid = value.settings.get("param_grid") or value.settings.get("param_distributions")
        if isinstance(grid, Mapping) and grid.is_complete:
            return Mapping(dict.fromkeys(grid.items, Unknown()))
        return Mapping({}, False)
    if name == "cv_results_":
        return Mapping({}, False)
    if name == "classes_":
        if value.classes is not None:
            made = lift(list(value.classes))
            grid_made = as_grid(made)
            return grid_made if grid_made is not None else Unknown()
        return Array("numpy", (value.n_classes,))
    if name == "n_features_in_":
        return Unknown() if value.features is None else Known(value.features)
    if (
        name in ("named_steps_", "named_transformers_", "named_estimators_")
        and value.steps is not None
    ):
        return Mapping({}, False, "Bunch")
    if name == "feature_importances_":
        return Array("numpy", (value.features,), "float64", nan=False)
    if name == "coef_":
        if value.name in ("LinearRegression", "Ridge", "Lasso", "ElasticNet", "RidgeCV", "LassoCV"):
            return Array("numpy", (value.features,), "float64")
        if value.name == "LogisticRegression" and value.n_classes is not None:
            return Array(
                "numpy", (1 if value.n_classes == 2 else value.n_classes, value.features), "float64"
            )
    if name in ("mean_", "scale_", "var_") and value.name == "StandardScaler":
        return Array("numpy", (value.features,), "float64")
    if name == "labels_":
        seen = value.facts.get("seen")
        rows = rows_of(seen) if isinstance(seen, (Frame, Array)) else None
        return Array("numpy", (rows,), "int64")
    if name == "cluster_centers_":
        count = settings.constant(value.settings.get("n_clusters", Known(8)))
        return Array(
            "numpy", (count if isinstance(count, int) else None, value.features), "float64"
        )
    return Unknown()


def _check_available(value: Estimator, name: str) -> None:
    """Refuse methods that are there with some settings alone."""
    given = {key: settings.constant(each) for key, each in value.settings.items()}
    wrong = False
    if name in ("predict_proba", "predict_log_proba"):
        if value.name in ("SVC", "NuSVC"):
            wrong = given.get("probability", False) is False
        if value.name == "SGDClassifier":
            wrong = given.get("loss", "hinge") not in ("log_loss", "modified_huber", None)
        if value.name == "VotingClassifier":
            wrong = given.get("voting", "hard") == "hard"
        if value.name == "Pipeline" and value.steps:
            last = list(value.steps.values())[-1]
            if isinstance(last, Estimator):
                inner = members(last.path)
                wrong = inner is not None and name not in inner
                if not wrong:
                    _check_available(last, name)
        inner_value = value.settings.get("estimator")
        if value.name in SEARCHES and isinstance(inner_value, Estimator):
            inner = members(inner_value.path)
            wrong = inner is not None and name not in inner
    elif value.name == "Pipeline" and value.steps and name in ("predict", "transform", "score"):
        last = list(value.steps.values())[-1]
        if isinstance(last, Estimator):
            inner = members(last.path)
            wrong = inner is not None and name not in inner
    elif name in ("transform", "fit_transform") and value.name == "TSNE":
        wrong = name == "transform"
    elif name in ("predict", "score_samples") and value.name == "LocalOutlierFactor":
        wrong = given.get("novelty", False) is False
    elif name == "fit_predict" and value.name == "LocalOutlierFactor":
        wrong = given.get("novelty", False) is True
    if wrong:
        raise ViolationError("AttributeError", f"{value.name} has no {name} with these settings")


PROPERTIES: Final[dict[str, Property]] = {"estimator": attribute}
