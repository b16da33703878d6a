"""Estimators of scikit-learn: how they are made, learn, and what is asked of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler, Property
from failbench.crashes.rules.frames.items import names_of
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.interfaces import (
    class_of,
    members,
    parameters,
    recorded,
    removed,
)
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Bound,
    Estimator,
    Frame,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import boosted, settings
from failbench.crashes.rules.learning.samples import (
    as_grid,
    check_features,
    check_same_rows,
    kind_of_target,
    rows_of,
    width_of,
)

SEARCHES: Final = (
    "GridSearchCV",
    "RandomizedSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
)
COMPOSED: Final = (
    "Pipeline", "ColumnTransformer", "FeatureUnion", "VotingClassifier", "VotingRegressor",
    "StackingClassifier", "StackingRegressor",
)  # fmt: skip
STATELESS: Final = (
    "FunctionTransformer", "Normalizer", "Binarizer", "HashingVectorizer", "FeatureHasher",
    "AdditiveChi2Sampler",
)  # fmt: skip
NEEDS_FIT: Final = frozenset({
    "predict", "transform", "predict_proba", "decision_function", "score",
    "predict_log_proba", "inverse_transform", "kneighbors", "score_samples",
    "get_feature_names_out", "staged_predict", "apply", "get_support", "sample",
    "radius_neighbors", "kneighbors_graph", "decision_path", "get_n_leaves", "get_depth",
    "partial_dependence",
})  # fmt: skip
GROUPED: Final = {
    "make_pipeline": "sklearn.pipeline.Pipeline",
    "make_union": "sklearn.pipeline.FeatureUnion",
    "make_column_transformer": "sklearn.compose.ColumnTransformer",
}


def is_a(estimator: Estimator, base: str) -> bool:
    """Whether the class of an estimator has a base."""
    known = class_of(estimator.path)
    return known is not None and base in known["bases"]


def made(call: Call) -> Value:
    """A new estimator."""
    estimator = Estimator(call.path, settings.are_given(call))
    if estimator.name in COMPOSED:
        place = {
            "FeatureUnion": "transformer_list",
            "Pipeline": "steps",
            "ColumnTransformer": "transformers",
        }
        steps = estimator.settings.get(place.get(estimator.name, "estimators"))
        estimator.steps = _steps(estimator, steps)
    return estimator


def _steps(estimator: Estimator, value: Value | None) -> dict[str, Value] | None:
    items = iteration.elements(value) if value is not None else None
    if items is None:
        return None
    steps: dict[str, Value] = {}
    selected: dict[str, Value] = {}
    for item in items:
        parts = iteration.elements(item)
        if parts is None or len(parts) < 2 or not isinstance(parts[0], Known):
            return None
        steps[str(parts[0].data)] = parts[1]
        if len(parts) > 2:
            selected[str(parts[0].data)] = parts[2]
    estimator.facts["columns"] = selected
    return steps


def grouped(call: Call) -> Value:
    """A pipeline, union or column transformer whose steps get their names."""
    estimator = Estimator(GROUPED[call.name], dict(call.kwargs), steps={})
    selected: dict[str, Value] = {}
    assert estimator.steps is not None
    for value in call.args:
        parts = iteration.elements(value) if call.name == "make_column_transformer" else [value]
        if not parts or not isinstance(parts[0], (Estimator, Known)):
            estimator.steps = None
            return estimator
        step = parts[0]
        name = step.name.lower() if isinstance(step, Estimator) else str(getattr(step, "data", ""))
        number = 2
        while name in estimator.steps:
            base = name.rpartition("-")[0] or name
            name, number = f"{base}-{number}", number + 1
        estimator.steps[name] = step
        if len(parts) > 1:
            selected[name] = parts[1]
    estimator.facts["columns"] = selected
    return estimator


def clone(call: Call) -> Value:
    """The same settings, and nothing learnt."""
    value = call.first()
    if isinstance(value, Estimator):
        return unfitted(value)
    if isinstance(value, Known) or (
        isinstance(value, Thing) and call.flag(None, "safe", default=True)
    ):
        raise ViolationError("TypeError", "only estimators are cloned")
    return Unknown()


def unfitted(value: Estimator) -> Estimator:
    """An estimator without what it learnt."""
    steps = value.steps
    if steps is not None:
        steps = {k: unfitted(v) if isinstance(v, Estimator) else v for k, v in steps.items()}
    kept = {key: each for key, each in value.facts.items() if key == "columns"}
    return Estimator(value.path, dict(value.settings), False, steps=steps, facts=kept)


def method(call: Call) -> Value:
    """A method of an estimator."""
    estimator = call.receiver
    assert isinstance(estimator, Estimator)
    name = call.name
    if name == "set_params":
        return set_params(call, estimator)
    if name == "get_params":
        return Mapping(dict(estimator.settings), False)
    if estimator.path.startswith("lightgbm."):
        return boosted.method(call, estimator)
    if name in ("fit", "fit_transform", "fit_predict", "partial_fit"):
        fit(call, estimator)
        if name in ("fit", "partial_fit"):
            return estimator
        if name == "fit_predict":
            return Array("numpy", (rows_of(call.first()),), "int64", nan=False, inf=False)
        return transformed(call, estimator)
    if name in NEEDS_FIT:
        check_fitted(estimator, name)
        return asked(call, estimator)
    return Unknown()


def check_fitted(estimator: Estimator, name: str) -> None:
    """Refuse what an estimator can only tell after it learnt.

    Raises
    ------
    ViolationError
        ``NotFittedError``.
    """
    known = class_of(estimator.path) or {}
    if (
        estimator.name in STATELESS
        or known.get("stateless")
        or (estimator.name in SEARCHES and estimator.fitted is None)
    ):
        return
    fitted = estimator.fitted
    if estimator.name == "Pipeline" and estimator.steps is not None:
        steps = [step for step in estimator.steps.values() if isinstance(step, Estimator)]
        learners = [step for step in steps if step.name not in STATELESS]
        fitted = False if any(step.fitted is False for step in learners) else fitted
    if fitted is False:
        raise ViolationError("NotFittedError", f"{estimator.name}.{name} is called before fit")


def fit(call: Call, estimator: Estimator) -> None:
    """Learn.

    Raises
    ------
    ViolationError
        If settings are none that are allowed, or the data do not fit.
    """
    settings.check(estimator.path, estimator.settings)
    X, y = call.arg(0, "X", "raw_documents"), call.arg(1, "y", "Y")
    if estimator.name in ("LabelEncoder", "LabelBinarizer"):
        y = call.arg(0, "y")
        _fit_labels(estimator, y)
        return
    _check_composed(estimator, X)
    check_features(X, estimator.name)
    needs_y = is_a(estimator, "ClassifierMixin") or is_a(estimator, "RegressorMixin")
    if estimator.name in (*SEARCHES, *COMPOSED):
        needs_y = False
    if y is not None and needs_y:
        if isinstance(y, Known) and y.data is None:
            raise ViolationError("ValueError", f"{estimator.name} needs labels")
        check_same_rows(X, y)
        check_target(estimator, y)
    elif needs_y and y is None and call.is_complete:
        raise ViolationError(
            "TypeError" if _requires_y(estimator) else "ValueError",
            f"{estimator.name} needs labels",
        )
    elif y is not None:
        check_same_rows(X, y)
    weight = call.arg(None, "sample_weight")
    check_same_rows(X, weight, "rows and weights")
    check_amounts(estimator, X, y)
    if estimator.name in SEARCHES:
        _fit_search(call, estimator, X, y)
    elif estimator.steps is not None:
        _fit_steps(call, estimator, X, y)
    estimator.fitted = True
    estimator.features = width_of(X)
    is_named = isinstance(X, Frame) and X.columns is not None and X.is_complete
    keys = list(X.columns or {}) if isinstance(X, Frame) and is_named else []
    estimator.names = tuple(keys) if keys and all(isinstance(key, str) for key in keys) else None
    estimator.learnt = None
    grid = as_grid(y)
    if grid is not None and grid.rank is not None and grid.rank > 1:
        estimator.facts["several"] = True
    elif grid is not None and is_a(estimator, "ClassifierMixin"):
        estimator.classes, estimator.n_classes = facts.values_of(grid), facts.distinct(grid)
    estimator.facts["seen"] = X


def _requires_y(estimator: Estimator) -> bool:
    known = parameters(f"{estimator.path}.fit")
    return known is not None and "y" in known.required


def _fit_labels(estimator: Estimator, y: Value | None) -> None:
    grid = as_grid(y)
    estimator.fitted = True
    if grid is not None:
        if (
            estimator.name == "LabelEncoder"
            and (grid.rank or 1) > 1
            and grid.shape
            and grid.shape[-1] != 1
        ):
            raise ViolationError("ValueError", "labels are a vector")
        estimator.classes, estimator.n_classes = facts.values_of(grid), facts.distinct(grid)
        if estimator.classes is None:
            estimator.facts["bounds"] = facts.bounds(grid)


def check_target(estimator: Estimator, y: Value) -> None:
    """Refuse labels that an estimator cannot learn.

    Raises
    ------
    ViolationError
        If they have gaps, are fractions where classes are due, or text where numbers are due.
    """
    grid = as_grid(y)
    if grid is None:
        return
    if facts.has_nan(grid):
        raise ViolationError("ValueError", f"labels of {estimator.name} have gaps")
    if facts.has_inf(grid):
        raise ViolationError("ValueError", f"labels of {estimator.name} are infinite")
    if is_a(estimator, "ClassifierMixin"):
        if kind_of_target(y) == "continuous":
            raise ViolationError("ValueError", f"{estimator.name} is given fractions as classes")
        single = (
            "LogisticRegression", "SVC", "LinearSVC", "GradientBoostingClassifier", "SGDClassifier",
            "LinearDiscriminantAnalysis", "Perceptron", "NuSVC", "PassiveAggressiveClassifier",
            "AdaBoostClassifier_", "GaussianProcessClassifier",
        )  # fmt: skip
        if facts.distinct(grid) == 1 and estimator.name in single:
            raise ViolationError("ValueError", f"{estimator.name} needs two classes or more")
        if (
            grid.dtype == "object"
            and grid.element_types is not None
            and len(grid.element_types) > 1
        ) and "str" in grid.element_types:
            raise ViolationError(
                "TypeError" if "float" in grid.element_types else "ValueError",
                "labels are of several types",
            )
    elif grid.dtype == "str" and estimator.name != "DummyRegressor":
        texts = [each for each in facts.seen(grid) if isinstance(each, str)]
        if texts and not texts[0].replace(".", "").lstrip("-").isdigit():
            raise ViolationError("ValueError", f"{estimator.name} is given text as labels")


def check_amounts(estimator: Estimator, X: Value | None, y: Value | None) -> None:
    """Refuse settings that the data do not allow.

    Raises
    ------
    ViolationError
        If there are more clusters, components, or features to choose than the data have.
    """
    rows, width = rows_of(X), width_of(X)
    given = {key: settings.constant(value) for key, value in estimator.settings.items()}
    name = estimator.name
    clusters = given.get("n_clusters", 8 if name in ("KMeans", "MiniBatchKMeans") else None)
    if isinstance(clusters, int) and rows is not None and rows < clusters:
        raise ViolationError("ValueError", f"{clusters} clusters of {rows} rows")
    parts = given.get("n_components")
    if type(parts) is int and rows is not None and width is not None:
        if name in ("PCA", "IncrementalPCA") and parts > min(rows, width):
            raise ViolationError(
                "ValueError", f"{parts} components of {rows} rows and {width} columns"
            )
        if name == "TruncatedSVD" and parts > width:
            raise ViolationError("ValueError", f"{parts} components of {width} columns")
        if name == "GaussianMixture" and rows < parts:
            raise ViolationError("ValueError", f"{parts} components of {rows} rows")
    if type(parts) is int and name == "LinearDiscriminantAnalysis":
        grid = as_grid(y)
        count = None if grid is None else facts.distinct(grid)
        limit = [each for each in (None if count is None else count - 1, width) if each is not None]
        if limit and parts > min(limit):
            raise ViolationError(
                "ValueError", f"{parts} components where {min(limit)} are the most"
            )
    neighbours = given.get("n_neighbors")
    if (
        type(neighbours) is int
        and rows is not None
        and neighbours > rows
        and name == "LocallyLinearEmbedding"
    ):
        raise ViolationError("ValueError", f"{neighbours} neighbours of {rows} rows")
    perplexity = given.get("perplexity", 30.0 if name == "TSNE" else None)
    if (
        name == "TSNE"
        and isinstance(perplexity, (int, float))
        and rows is not None
        and perplexity >= rows
    ):
        raise ViolationError("ValueError", f"a perplexity of {perplexity} with {rows} rows")
    solver, penalty = given.get("solver", "lbfgs"), given.get("penalty")
    if (
        name == "LogisticRegression"
        and penalty in ("l1", "elasticnet")
        and solver in ("lbfgs", "newton-cg", "sag", "newton-cholesky")
    ):
        raise ViolationError("ValueError", f"the solver {solver} has no penalty {penalty}")
    if name in (
        "MultinomialNB",
        "ComplementNB",
        "CategoricalNB",
        "NMF",
        "LatentDirichletAllocation",
    ):
        grid = as_grid(X)
        low = None if grid is None else facts.lowest(grid)
        if low is not None and low < 0:
            raise ViolationError("ValueError", f"{name} is given negative values")
    if name == "PolynomialFeatures":
        degree = given.get("degree", 2)
        if rows is not None and width is not None and isinstance(degree, int) and degree < 10:
            count = _combinations(width + degree, degree)
            memory.check(rows * count, "float64")
    if name == "PowerTransformer" and given.get("method") == "box-cox":
        grid = as_grid(X)
        low = None if grid is None else facts.lowest(grid)
        if low is not None and low <= 0:
            raise ViolationError("ValueError", "box-cox is of positive values")
    cv = given.get("cv")
    if name in SEARCHES and isinstance(cv, int) and rows is not None and cv > rows:
        raise ViolationError("ValueError", f"{cv} folds of {rows} rows")


def _combinations(total: int, chosen: int) -> int:
    result = 1
    for place in range(chosen):
        result = result * (total - place) // (place + 1)
    return result


def _check_composed(estimator: Estimator, X: Value | None) -> None:
    if estimator.name != "ColumnTransformer":
        return
    selected = estimator.facts.get("columns") or {}
    for value in selected.values():
        for name in names_of(value):
            if isinstance(X, Frame) and X.columns is not None and X.is_complete:
                if isinstance(name, str) and name not in X.columns:
                    raise ViolationError(
                        "ValueError", f"{name!r} is none of the columns {list(X.columns)[:8]}"
                    )
            elif isinstance(X, Array) and X.home == "numpy" and isinstance(name, str):
                raise ViolationError(
                    "ValueError", "columns are named where the data are no table of pandas"
                )


def _part(X: Value | None, columns: Value | None) -> Value | None:
    from_names = names_of(columns)
    if (
        isinstance(X, Frame)
        and X.columns is not None
        and from_names
        and all(n in X.columns for n in from_names)
    ):
        if isinstance(columns, Known):
            return X.columns[from_names[0]]
        return Frame({name: X.columns[name] for name in from_names}, True, X.rows, X.labels)
    return None


def _fit_steps(call: Call, estimator: Estimator, X: Value | None, y: Value | None) -> None:
    given = [each for each in (X, y) if each is not None]
    if estimator.name == "ColumnTransformer":
        for name, step in (estimator.steps or {}).items():
            if isinstance(step, Estimator):
                part = _part(X, (estimator.facts.get("columns") or {}).get(name))
                if part is not None:
                    fit(replace(call, args=[part, *given[1:]], kwargs={}, receiver=step), step)
                step.fitted = True
        return
    current: Value = X or Unknown()
    steps = list((estimator.steps or {}).values())
    if estimator.name != "Pipeline":
        for step in steps:
            if isinstance(step, Estimator):
                inner = unfitted(step)
                call.state.call(Bound(inner, "fit"), given)
        return
    for place, step in enumerate(steps):
        if not isinstance(step, Estimator):
            if not (isinstance(step, Known) and step.data in ("passthrough", None)):
                current = Unknown()
            continue
        is_last = place == len(steps) - 1
        call.state.call(Bound(step, "fit"), [current, *given[1:]])
        step.fitted = True
        if not is_last:
            if "transform" not in (members(step.path) or {"transform"}):
                raise ViolationError(
                    "TypeError", f"{step.name} is in the midst of a pipeline and transforms nothing"
                )
            current = transformed(replace(call, args=[current], kwargs={}, receiver=step), step)


def _fit_search(call: Call, estimator: Estimator, X: Value | None, y: Value | None) -> None:
    inner = estimator.settings.get("estimator")
    grid = estimator.settings.get("param_grid") or estimator.settings.get("param_distributions")
    settings.check_scoring(estimator.settings.get("scoring"))
    if not isinstance(inner, Estimator):
        return
    grids = (
        [grid]
        if isinstance(grid, Mapping)
        else grid.items or []
        if isinstance(grid, Sequence)
        else []
    )
    for each in grids:
        for key in each.items if isinstance(each, Mapping) else ():
            check_parameter(inner, str(key))
    best = unfitted(inner)
    given = [each for each in (X, y) if each is not None]
    call.state.call(Bound(best, "fit"), given)
    estimator.facts["best"] = best


def check_parameter(estimator: Estimator, key: str) -> None:
    """Refuse the name of a setting that an estimator does not have.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    first, _, rest = key.partition("__")
    if estimator.steps is not None and first in estimator.steps:
        step = estimator.steps[first]
        if rest and isinstance(step, Estimator):
            check_parameter(step, rest)
        return
    known = parameters(estimator.path)
    if known is None or known.takes_any:
        return
    if first not in known.named and (estimator.name not in COMPOSED or estimator.steps is not None):
        raise ViolationError("ValueError", f"{first!r} is no setting of {estimator.name}")
    inner = estimator.settings.get(first)
    if rest and isinstance(inner, Estimator):
        check_parameter(inner, rest)


def set_params(call: Call, estimator: Estimator) -> Value:
    """Change settings."""
    for key, value in call.kwargs.items():
        check_parameter(estimator, key)
        first, _, rest = key.partition("__")
        owner: Value | None = estimator
        while rest:
            owner = (
                (owner.steps or {}).get(first) or owner.settings.get(first)
                if isinstance(owner, Estimator)
                else None
            )
            first, _, rest = rest.partition("__")
        if isinstance(owner, Estimator):
            if owner.steps is not None and first in owner.steps:
                owner.steps[first] = value
            owner.settings[first] = value
    return estimator


def asked(call: Call, estimator: Estimator) -> Value:
    """What a fitted estimator is asked about data."""
    X = call.arg(0, "X", "y", "raw_documents")
    name = call.name
    if estimator.name in ("LabelEncoder", "LabelBinarizer"):
        if name == "transform":
            check_vocabulary(estimator, X)
        return Array("numpy", (rows_of(X),), "int64" if name == "transform" else None)
    if name == "inverse_transform":
        return _inverted(estimator, X)
    if name == "get_feature_names_out":
        return Array("numpy", (None,), "object")
    if X is None:
        return Unknown()
    check_input(estimator, X)
    y = call.arg(1, "y")
    if name == "score":
        check_same_rows(X, y)
        return Array("python", (), "float64")
    if name == "transform":
        return transformed(call, estimator)
    if name in ("kneighbors", "kneighbors_graph"):
        seen = estimator.facts.get("seen")
        count = call.integer(1, "n_neighbors")
        rows = rows_of(seen) if isinstance(seen, (Frame, Array)) else None
        if count is not None and rows is not None and count > rows:
            raise ViolationError("ValueError", f"{count} neighbours of {rows} rows")
        return Unknown()
    if name == "predict" and estimator.name in ("KNeighborsClassifier", "KNeighborsRegressor"):
        check_neighbours(estimator)
    return predicted(estimator, X, name)


def check_neighbours(estimator: Estimator) -> None:
    """Refuse more neighbours than rows were learnt."""
    seen = estimator.facts.get("seen")
    count = settings.constant(estimator.settings.get("n_neighbors", Known(5)))
    rows = rows_of(seen) if isinstance(seen, (Frame, Array)) else None
    if isinstance(count, int) and rows is not None and count > rows:
        raise ViolationError("ValueError", f"{count} neighbours of {rows} rows")


def predicted(estimator: Estimator, X: Value, name: str) -> Value:
    """The shape of a prediction."""
    if estimator.facts.get("several"):
        return Unknown()
    rows = rows_of(X)
    if name == "predict":
        dtype = "float64" if is_a(estimator, "RegressorMixin") else None
        classes = estimator.classes
        if classes is not None:
            kinds = {type(each) for each in classes}
            dtype = {
                frozenset({int}): "int64",
                frozenset({str}): "str",
                frozenset({float}): "float64",
            }.get(frozenset(kinds))
        return Array("numpy", (rows,), dtype, nan=False)
    if name in ("predict_proba", "predict_log_proba"):
        made = Array("numpy", (rows, estimator.n_classes), "float64", nan=False)
        if name == "predict_proba":
            made.low, made.high = 0.0, 1.0
        return made
    if name == "decision_function" and estimator.n_classes == 2:
        return Array("numpy", (rows,), "float64")
    return Unknown()


def check_input(estimator: Estimator, X: Value) -> None:
    """Refuse data that are not as those that were learnt from.

    Raises
    ------
    ViolationError
        If they have other columns, or are no features.
    """
    check_features(X, estimator.name)
    _check_composed(estimator, X)
    width = width_of(X)
    names = (
        list(X.columns or {})
        if isinstance(X, Frame) and X.columns is not None and X.is_complete
        else None
    )
    if (
        (
            estimator.names is not None
            and names is not None
            and estimator.name not in ("ColumnTransformer", *STATELESS)
        )
        and all(isinstance(each, str) for each in names)
        and tuple(names) != tuple(estimator.names)
    ):
        raise ViolationError(
            "ValueError", "features have other names, or another order, than was learnt"
        )
    if estimator.features is not None and width is not None and width != estimator.features:
        if estimator.name not in ("ColumnTransformer", "Pipeline", *SEARCHES, *STATELESS):
            raise ViolationError(
                "ValueError",
                f"{estimator.name} learnt {estimator.features} features and is given {width}",
            )
        if estimator.name == "Pipeline" and width < estimator.features:
            raise ViolationError(
                "ValueError", f"{estimator.features} features were learnt and {width} are given"
            )
        if estimator.name == "Pipeline" and not any(
            isinstance(s, Estimator) and s.name == "ColumnTransformer"
            for s in (estimator.steps or {}).values()
        ):
            raise ViolationError(
                "ValueError", f"{estimator.features} features were learnt and {width} are given"
            )
    if estimator.name in ("OneHotEncoder", "OrdinalEncoder"):
        check_vocabulary(estimator, X)


def check_vocabulary(estimator: Estimator, X: Value | None) -> None:
    """Refuse categories that were not learnt.

    Raises
    ------
    ViolationError
        If one is certain to occur.
    """
    if estimator.name == "LabelEncoder":
        grid = as_grid(X)
        if grid is None or estimator.classes is None:
            bounds = estimator.facts.get("bounds")
            if grid is not None and bounds is not None and bounds[2]:
                high = facts.highest(grid)
                if high is not None and high > bounds[1]:
                    raise ViolationError("ValueError", f"the label {high:g} was not learnt")
            return
        for each in facts.seen(grid):
            if each not in estimator.classes:
                raise ViolationError("ValueError", f"the label {each!r} was not learnt")
        return
    handling = settings.constant(estimator.settings.get("handle_unknown", Known("error")))
    seen = estimator.facts.get("seen")
    told = estimator.facts.get("categories")
    if handling != "error" or not isinstance(X, (Frame, Array)):
        return
    for place, column in enumerate(_columns(X)):
        learnt: tuple[Any, ...] | None = None
        if isinstance(seen, (Frame, Array)):
            columns = _columns(seen)
            learnt = facts.values_of(columns[place]) if place < len(columns) else None
        elif told is not None and place < len(told):
            learnt = told[place]
        if learnt is None:
            continue
        for each in facts.seen(column):
            if each not in learnt:
                raise ViolationError("ValueError", f"the category {each!r} was not learnt")


def _columns(value: Frame | Array) -> list[Array]:
    if isinstance(value, Frame):
        return list((value.columns or {}).values())
    if value.data is not None and value.data.ndim == 2:
        return [
            Array("numpy", (len(value.data),), value.dtype, value.data[:, p])
            for p in range(value.data.shape[1])
        ]
    if value.shape is not None and len(value.shape) == 2 and value.shape[1] == 1:
        return [value]
    return []


def _inverted(estimator: Estimator, X: Value | None) -> Value:
    width = width_of(X)
    scalers = ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "PowerTransformer")
    if estimator.name in scalers:
        grid = as_grid(X)
        if grid is not None and grid.shape is not None and len(grid.shape) == 1:
            raise ViolationError("ValueError", f"{estimator.name} needs a table")
        if width is not None and estimator.features is not None and width != estimator.features:
            raise ViolationError(
                "ValueError", f"{estimator.features} columns were learnt and {width} are given"
            )
        return Array("numpy", (rows_of(X), width), "float64")
    return Unknown()


def transformed(call: Call, estimator: Estimator) -> Value:
    """The shape of what a transformer gives."""
    X = call.arg(0, "X", "raw_documents", "y")
    rows, width = rows_of(X), width_of(X)
    name = estimator.name
    given = {key: settings.constant(value) for key, value in estimator.settings.items()}
    same = (
        "StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "Normalizer",
        "OrdinalEncoder", "PowerTransformer", "QuantileTransformer", "Binarizer",
    )  # fmt: skip
    if estimator.facts.get("stored output"):
        return Unknown()
    if name in same:
        grid = as_grid(X)
        nan = None if grid is None else facts.has_nan(grid)
        return Array("numpy", (rows, width), "float64", nan=nan, inf=False)
    if name in ("SimpleImputer", "KNNImputer", "IterativeImputer"):
        return Array("numpy", (rows, width), None, nan=False)
    if name in ("PCA", "TruncatedSVD", "NMF", "FastICA", "TSNE", "IncrementalPCA", "KernelPCA"):
        parts = given.get("n_components", 2 if name in ("TSNE", "TruncatedSVD") else None)
        least = None if rows is None or width is None else min(rows, width)
        default = least if parts is None and name == "PCA" else None
        return Array(
            "numpy", (rows, parts if type(parts) is int else default), "float64", nan=False
        )
    if name == "LabelEncoder":
        return Array("numpy", (rows,), "int64", low=0)
    if name == "SelectKBest":
        count = given.get("k", 10)
        return Array("numpy", (rows, count if isinstance(count, int) else None), "float64")
    if name in ("OneHotEncoder", "CountVectorizer", "TfidfVectorizer", "ColumnTransformer"):
        return Unknown()
    return Unknown()


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


def check_is_fitted(call: Call) -> Value:
    """The function that says whether an estimator learnt."""
    value = call.first()
    if isinstance(value, Estimator):
        check_fitted(value, "check_is_fitted")
    return Known(None)


FUNCTIONS: Final[dict[str, Handler]] = {
    "estimator": made,
    "estimator method": method,
    "sklearn.base.clone": clone,
    "sklearn.pipeline.make_pipeline": grouped,
    "sklearn.pipeline.make_union": grouped,
    "sklearn.compose.make_column_transformer": grouped,
    "sklearn.utils.validation.check_is_fitted": check_is_fitted,
}

PROPERTIES: Final[dict[str, Property]] = {"estimator": attribute}
