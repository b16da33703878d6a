import json
from types import ModuleType

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from failbench.notebooks.summary.raw import NAMES
from failbench.notebooks.summary.state import SIZE, summarise

ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
LABELS = np.array([0, 1, 0, 1])


def of(value, *attributes):
    """The entry of one value."""
    asked = {"x": attributes}
    return json.loads(summarise({"x": value}, ["x"], asked))["names"]["x"]


def test_an_array_has_shape_type_range_and_share_of_nan():
    entry = of(np.array([[1.0, np.nan], [-2.0, np.inf]]))
    assert (entry["structural"], entry["type"]["dtype"]) == ({"shape": [2, 2]}, "float64")
    shares = {"nan_share": 0.25, "inf_share": 0.25, "range": [-2.0, "inf"]}
    assert shares.items() <= entry["value"].items()


def test_a_table_has_columns_types_and_values_by_column():
    table = pd.DataFrame(
        {
            "n": [1, None, 3],
            "text": ["b", None, "a"],
            "day": pd.to_datetime(["2024-01-02", None, "2024-01-01"]),
            "kind": pd.Categorical(["u", "v", "u"]),
            "whole": pd.array([1, None, 2], dtype="Int64"),
        },
        index=["r", "s", "r"],
    )
    entry = of(table)
    columns = entry["value"]["by_column"]
    assert entry["structural"]["columns"] == ["n", "text", "day", "kind", "whole"]
    assert entry["structural"]["index_unique"] is False
    assert entry["type"]["dtypes"]["whole"] == "Int64"
    assert columns["n"]["range"] == [1.0, 3.0]
    assert columns["text"]["uniques"] == ["a", "b"]
    assert columns["day"]["range"][0].startswith("2024-01-01")
    assert columns["kind"]["distinct"] == 2
    shares = {name: column["nan_share"] for name, column in columns.items()}
    assert shares == pytest.approx(dict.fromkeys(columns, 1 / 3) | {"kind": 0}, abs=1e-5)


@pytest.mark.parametrize(
    ("estimator", "fitted", "features"),
    [
        (LogisticRegression(), False, None),
        (LogisticRegression().fit(ROWS, LABELS), True, 2),
        (make_pipeline(StandardScaler(), LogisticRegression()), False, None),
        (make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, LABELS), True, None),
        (lightgbm.LGBMClassifier(), False, None),
        (lightgbm.LGBMClassifier(verbose=-1, n_estimators=1).fit(ROWS, LABELS), True, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_estimator_says_whether_it_was_fitted_and_to_what(estimator, fitted, features):
    kind = of(estimator)["type"]
    assert kind["kind"] == "estimator"
    assert (kind["fitted"], kind.get("n_features_in_")) == (fitted, features)


@pytest.mark.parametrize(
    ("value", "facts", "expected"),
    [
        (3, "value", {"value": 3}),
        (float("nan"), "value", {"value": "nan"}),
        ("abc", "structural", {"length": 3}),
        ([3, 1], "value", {"range": [1, 3]}),
        ([[1], [1, 2]], "structural", {"element_lengths": [1, 2]}),
        ({"b": 1, "a": [2]}, "structural", {"length": 2, "keys": ["b", "a"]}),
        ({2, 1}, "value", {"first": [1, 2]}),
        (lambda a, *, b=1: a, "type", {"parameters": ["a", "b"], "required": ["a"]}),
        (np, "type", {"version": np.__version__}),
    ],
    ids=lambda value: str(value).split(" at 0x")[0],  # an address differs from run to run
)
def test_plain_values_containers_functions_and_libraries(value, facts, expected):
    assert expected.items() <= of(value)[facts].items()


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (LogisticRegression(), {"C": "stored", "fit": "method", "coef_": "absent"}),
        (np, {"product": "dynamic"}),
        (pd.DataFrame(), {"shape": "property"}),
        (ModuleType("m"), {"x": "absent"}),
    ],
    ids=str,
)
def test_attributes_are_found_without_being_asked_for(value, kinds):
    assert of(value, *kinds)["type"]["attributes"] == kinds


class Ran(BaseException):
    """Code of the notebook ran; no handler of exceptions hides it."""


def run(*_):
    raise Ran


HOOKS = (
    *("__getattribute__", "__getattr__", "__repr__", "__str__", "__eq__", "__hash__", "__len__"),
    *("__iter__", "__bool__", "__float__", "__array__", "__contains__", "__getitem__"),
    *("__format__", "__dir__", "__lt__", "__reduce__"),
)


def hostile(*bases, **extra):
    """A class of a notebook all of whose hooks raise."""
    body = dict.fromkeys(HOOKS, run) | {"p": property(run), "__module__": "__main__"} | extra
    return type("Hostile", bases, body)


class Answering(type):
    """A class of classes that is asked when they are compared."""

    __eq__ = __hash__ = __instancecheck__ = __getattribute__ = run


@pytest.mark.parametrize(
    "make",
    [
        hostile(),
        hostile,
        lambda: hostile(dict)(a=1),
        lambda: hostile(list)([1]),
        lambda: hostile(str)("a"),
        lambda: hostile(int)(3),
        lambda: hostile(float)(3.0),
        lambda: hostile(np.ndarray)((2,)),
        hostile(LogisticRegression),
        hostile(__dict__=property(run)),
        lambda: type.__call__(Answering, "Odd", (), {}),
        lambda: type.__call__(type.__call__(Answering, "Odd", (), {})),
    ],
)
def test_no_code_of_the_notebook_runs(make):
    value = make()
    elements = np.empty(2, dtype=object)
    elements[0] = value
    for held in (value, [value], (value, 1), {"k": value}, elements):
        assert of(held, "p", "x")["type"]["kind"]


def test_objects_in_tables_are_not_compared_and_what_one_stores_is_read_past_its_class():
    value = hostile(__hash__=object.__hash__)()
    elements = np.array([None, None], dtype=object)
    elements[0] = value
    assert of(pd.Series(elements, dtype=object))["value"]["nan_share"] == 0.5
    object.__getattribute__(value, "__dict__")["size"] = 3
    entry = of(value)
    assert entry["structural"] == {"stored": ["size"]}
    assert entry["items"]["size"]["value"] == {"value": 3}


def test_names_that_are_not_there_are_absent_and_nothing_is_bound():
    namespace = {"a": 1}
    whole = json.loads(summarise(namespace, ["b", "a"], {}))
    assert (whole["relevant"], list(whole["names"])) == (["a", "b"], ["a"])
    assert namespace == {"a": 1}


def test_a_summary_is_bounded_and_says_so():
    wide = pd.DataFrame(np.zeros((2, 500)))
    assert len(of(wide)["structural"]["columns"]) == NAMES
    namespace = {f"n{place}": wide for place in range(60)}
    text = summarise(namespace, list(namespace), {})
    assert json.loads(text)["truncated"]
    assert len(text) < 1.2 * SIZE
