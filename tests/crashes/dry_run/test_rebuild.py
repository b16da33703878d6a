import collections
import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, OneHotEncoder, StandardScaler

from failbench.crashes.dry_run import values
from failbench.crashes.dry_run.known import meanings
from failbench.crashes.dry_run.namespace import Definitions, Namespace, UnknownNameError
from failbench.crashes.dry_run.needs import NotRebuiltError, allowed_modules
from failbench.crashes.dry_run.rebuild import Rebuilder, agrees
from failbench.notebooks.summary.state import DEPTH, describe

X, Y = load_iris(return_X_y=True)


def rebuilt(entry, code="", name="value", seed=7):
    known = meanings([code])
    return Rebuilder(seed, known, Definitions(known, Namespace()).define).rebuild(entry, name)


def after(code):
    """The names that code, which these tests wrote, binds."""
    names = {"__name__": "__main__"}
    exec(code, names)
    return names


def remade(value):
    """A value made from the summary of another, with both summaries."""
    told = describe(value, DEPTH)
    made = rebuilt(told)
    return told, made, describe(made, DEPTH)


WHOLE = {
    "number": 41,
    "negative": -2.5,
    "truth": True,
    "nan": math.nan,
    "infinity": -math.inf,
    "text": "north",
    "nothing": None,
    "numpy's number": np.float64(2.5),
    "numpy's truth": np.bool_(True),
    "date": pd.Timestamp("2024-02-29 12:00"),
    "duration": pd.Timedelta("3h"),
    "integers": np.array([[1, 2, 3], [3, 2, 2]]),
    "permutation": np.random.default_rng(0).permutation(50),
    "floats": np.array([0.5, np.nan, 2.25, 0.5]),
    "infinite": np.array([-np.inf, 0.5, 2.0, -np.inf]),
    "truths": np.array([True, False, True]),
    "words": np.array(["a", "bb", "a"]),
    "dates": np.array(["2024-01-01", "2024-01-05"], "datetime64[D]"),
    "empty": np.zeros((0, 4)),
    "no axes": np.array(3.5),
    "list": [3, 1, 2],
    "words in a list": ["x", "y"],
    "tuple": (1.5, math.nan),
    "set": {1, 2, 3},
    "range": range(4, 20, 3),
    "nothing in a list": [],
    "lists": [[1, 2], [3], []],
    "dict": {"a": 1, "b": [1.0, 2.0], "c": {"d": "e"}},
    "ordered": collections.OrderedDict(a=1),
    "frame": pd.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 1.5], "c": ["x", "y", "x"]}),
    "frame by name": pd.DataFrame({"n": [1, 2]}, index=pd.Index(["u", "v"], name="town")),
    "frame by date": pd.DataFrame({"n": range(40)}, index=pd.date_range("2024-01-30", periods=40)),
    "frame of two levels": pd.DataFrame({"g": [1, 1, 2], "h": [1, 2, 1], "v": [1.0, 2.0, 3.0]})
    .set_index(["g", "h"]),
    "columns of two levels": pd.DataFrame([[1, 2]], columns=[("a", "x"), ("a", "y")]),
    "no rows": pd.DataFrame({"a": pd.Series([], dtype=float), "b": pd.Series([], dtype=str)}),
    "twice the same label": pd.Series([1, 2, 3, 4, 5, 6, 7], index=[0, 0, 1, 1, 2, 2, 3]),
    "filtered": pd.Series(np.arange(20.0)).loc[lambda values: values % 3 == 1],
    "categories": pd.Series(["u", "v", "u"], dtype="category"),
    "objects": pd.Series(["u", None, "w"], dtype=object),
    "dates in a column": pd.Series(pd.to_datetime(["2024-01-01", "2024-03-01"])),
    "dates of a zone": pd.Series(pd.date_range("2024-01-01", periods=3, tz="Europe/Rome")),
    "whole numbers with gaps": pd.Series([1, None, 3], dtype="Int64"),
    "truths with gaps": pd.Series([True, None], dtype="boolean"),
    "dates as an index": pd.date_range("2024-01-01", periods=9, freq="h"),
    "labels as an index": pd.Index(["a", "b", "c", "d", "e", "f", "g"]),
}  # fmt: skip
"""Of these everything is told, so all of it is there again."""


@pytest.mark.parametrize("case", WHOLE)
def test_everything_that_is_told_of_small_objects_holds_of_what_is_made(case):
    told, _, made = remade(WHOLE[case])
    assert made == told


def test_of_many_values_those_that_are_told_are_there_and_the_others_lie_between():
    values = np.random.default_rng(3).gamma(2.0, 5.0, (300, 7)).round(1)
    values[::9, 2] = np.nan
    told, made, again = remade(values)
    assert again["value"]["uniques"] == told["value"]["uniques"]
    assert again["value"]["range"] == told["value"]["range"]
    assert again["value"]["nan_share"] == pytest.approx(told["value"]["nan_share"], abs=0.001)
    assert made.shape == values.shape


def test_the_same_seed_makes_the_same_values_and_another_makes_others():
    told = describe(np.random.default_rng(3).normal(size=100), DEPTH)
    first, again, other = (rebuilt(told, seed=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert not (first == other).all()


ESTIMATORS = {
    "not fitted": RandomForestClassifier(max_depth=None, n_estimators=3),
    "classifier": LogisticRegression(C=0.5, max_iter=500).fit(X, Y),
    "of text": RandomForestClassifier(n_estimators=3).fit(X, np.array(["u", "v", "w"])[Y]),
    "regressor": LinearRegression().fit(X, X[:, :2]),
    "with names": StandardScaler().fit(pd.DataFrame(X, columns=list("abcd"))),
    "with other settings": MinMaxScaler(clip=True).fit(X),
    "clusters": KMeans(n_clusters=4, n_init=1).fit(X),
    "of labels": LabelEncoder().fit(["u", "v"]),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),
}


@pytest.mark.parametrize("case", ESTIMATORS)
def test_estimators_have_their_settings_features_and_classes(case):
    told, made, again = remade(ESTIMATORS[case])
    assert again == told
    if case in ("classifier", "regressor", "with names", "pipeline"):
        assert len(made.predict(X) if hasattr(made, "predict") else made.transform(X)) == len(X)


def test_tensors_and_networks_are_made_anew():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    for value in (
        torch.arange(6).reshape(2, 3),
        torch.randn(4, 5, requires_grad=True),
        torch.randn(4, 5, requires_grad=True) * 2,
        torch.randn(4, 5).T,
        torch.zeros(3, dtype=torch.bool),
        torch.empty(2, 2, device="meta"),
        nn.Parameter(torch.ones(2)),
        nn.Linear(3, 2, bias=False),
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4, 1)).eval(),
        nn.Embedding(10, 4),
        nn.LSTM(4, 8, batch_first=True),
        nn.LayerNorm(8).requires_grad_(requires_grad=False),
        nn.ModuleList([nn.Linear(2, 2, dtype=torch.float64)]),
        nn.CrossEntropyLoss(),
        torch.utils.data.DataLoader([1, 2, 3, 4, 5], batch_size=2),
        torch.utils.data.TensorDataset(torch.zeros(4, 2), torch.arange(4)),
        torch.optim.Adam([nn.Parameter(torch.ones(2))], lr=0.5),
    ):
        told, _, made = remade(value)
        assert agrees(told, rebuilt(told)), value
        assert made["type"] == told["type"]
    with pytest.raises(NotRebuiltError):  # its padding is a pair, of which nothing is told
        remade(nn.Conv2d(1, 6, 3, padding=1))


NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(1, width, 3, padding=1)

    def forward(self, x):
        return self.conv(x)

size = 6
net = Net(size)
"""


@pytest.mark.parametrize("size", ["6", "len('sixsix')", "int(input())"])
def test_a_network_of_the_notebook_is_made_as_the_code_made_it_or_of_the_numbers_of_its_layers(
    size,
):
    pytest.importorskip("torch")
    told = describe(after(NET)["net"], DEPTH)
    made = rebuilt(told, NET.replace("size = 6", f"size = {size}"), "net")
    assert (made.conv.padding, made.conv.out_channels) == ((1, 1), 6)
    with pytest.raises(NotRebuiltError):
        rebuilt(told, NET.replace("Conv2d(1,", "Conv2d(2,"), "net")


HEAD = """
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = 3
        self.body = nn.Sequential(nn.Linear(width, 4), nn.ReLU())
        self.bias = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return self.body(x) * self.scale + self.bias
"""


def test_a_network_of_the_notebook_is_put_together_if_all_that_it_asks_for_is_told():
    torch = pytest.importorskip("torch")
    told = describe(after(HEAD)["Head"](5), DEPTH)
    assert rebuilt(told, HEAD)(torch.ones(2, 5)).shape == (2, 4)
    named = HEAD.replace("width):", "width, names):")  # which is no number
    told = describe(after(named)["Head"](5, "ab"), DEPTH)
    for unlike in ("len(names)", "3; self.register_buffer('b', torch.zeros(len(names)))"):
        code = named.replace("self.scale = 3", f"self.scale = {unlike}")
        with pytest.raises(NotRebuiltError):
            rebuilt(describe(after(code)["Head"](5, "abc"), DEPTH), code.replace("scale", "rate"))


PILE = """
class Pile:
    def __init__(self, rows):
        self.rows = list(rows)

    def top(self):
        return self.rows[-1]
"""


def test_an_object_of_the_notebook_has_what_it_stores():
    told = describe(after(PILE)["Pile"]([1, 2]), DEPTH)
    assert rebuilt(told, PILE).top() == 2
    with pytest.raises(UnknownNameError):
        rebuilt(told, PILE.replace("self.rows[-1]", "self._hidden + 1")).top()


def test_what_is_told_of_attributes_is_held_against_what_is_made():
    entry = describe(np.random.default_rng(0), DEPTH)
    entry["type"]["attributes"] = {"randint": "absent", "integers": "method"}
    assert isinstance(rebuilt(entry), np.random.Generator)
    entry["type"]["attributes"] = {"integers": "absent"}
    with pytest.raises(NotRebuiltError, match="not as told"):
        rebuilt(entry)


TOLD = describe(pd.DataFrame({"a": [1]}), DEPTH)
LARGE = describe(np.zeros(3), DEPTH)
LARGE["structural"]["shape"] = [10**6, 10**6]
REFUSED = {
    **{
        f"without {part}": ({key: facts for key, facts in TOLD.items() if key != part}, "not told")
        for part in ("type", "structural", "value")
    },
    "large": (LARGE, "too large"),
    **{
        name: ({"type": {"kind": "library", "class": "module", "module": name}}, "not imported")
        for name in ("subprocess", "socket", "failbench.cli.main", "antigravity")
    },
    "encoder": (describe(OneHotEncoder().fit([["u"], ["v"]]), DEPTH), "content of what it learnt"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_made_of_too_little_of_too_much_or_of_modules_that_are_not_on_the_list(case):
    entry, words = REFUSED[case]
    with pytest.raises(NotRebuiltError, match=words):
        rebuilt(entry)


def test_the_list_of_modules_has_no_way_out():
    assert {"numpy", "torch", "math"} <= allowed_modules()
    assert not {"ctypes", "subprocess", "socket", "multiprocessing"} & allowed_modules()


def test_what_is_not_told_of_an_object_stands_for_itself_until_it_is_asked():
    deep = {"rows": {"a": {"b": [1, 2]}}, "epoch": 3}
    made = rebuilt(describe(deep, DEPTH))
    assert (made["epoch"], list(made["rows"]["a"])) == (3, ["b"])
    for ask in (len, str, bool, hash, iter, lambda part: part == [1, 2], lambda part: part.sort()):
        with pytest.raises(UnknownNameError):
            ask(made["rows"]["a"]["b"])


def test_of_a_file_of_arrays_the_names_are_there_and_nothing_else(tmp_path):
    np.savez(tmp_path / "pack.npz", x=np.eye(3))
    made = rebuilt(describe(np.load(tmp_path / "pack.npz"), DEPTH))
    assert made.files == ["x"]
    with pytest.raises(KeyError):
        made["y"]
    with pytest.raises(UnknownNameError):
        made["x"]
    made.zip = None  # so that it can be closed


POLARS = """
import datetime as dt
import polars as pl
day = dt.date(2024, 3, 1)
frame = pl.DataFrame({
    "n": [4, None, 6], "text": ["u", "v", None], "day": [day, day, None],
    "truth": [True, None, True],
    "list": [["a"], ["a", "b"], []], "pair": [{"x": 1}] * 3, "time": [dt.time(3)] * 3,
    "length": [dt.timedelta(hours=1)] * 3, "moment": [dt.datetime(2024, 3, 1, 4)] * 3,
}).with_columns(
    pl.col("n").cast(pl.Decimal(10, 2)).alias("price"),
    pl.col("n").cast(pl.UInt8).alias("small"),
    pl.col("text").cast(pl.Enum(["v", "u"])).alias("enum"),
    pl.col("text").cast(pl.Categorical).alias("category"),
    pl.col("moment").dt.replace_time_zone("Europe/Rome").alias("zone"),
)
"""


def test_a_frame_of_polars_has_the_types_values_and_gaps_that_are_told():
    pl = pytest.importorskip("polars")
    frame = after(POLARS)["frame"]
    told, made, again = remade(frame)
    assert made.schema == frame.schema
    assert made.null_count().row(0) == frame.null_count().row(0)
    for name in ("n", "day", "truth", "price", "category", "zone", "length"):
        assert again["value"]["by_column"][name] == told["value"]["by_column"][name]
    assert made["list"].list.len().max() == 2
    assert remade(frame.lazy())[1].collect().schema == frame.schema
    assert isinstance(remade(frame["small"])[1], pl.Series)


KEYED = pd.DataFrame(
    [
        (f"S{site:02d}", day, 0.5)
        for site in range(9)
        for day in pd.date_range("2024-01-30", periods=8)
    ],
    columns=["site", "day", "share"],
).sample(frac=1.0, random_state=1)


def test_columns_that_can_be_keys_together_are_and_dates_rise():
    _, made, _ = remade(KEYED)
    assert not made.duplicated(["site", "day"]).any()
    _, notes, _ = remade(KEYED.assign(day=pd.date_range("2024-01-01", periods=72, freq="37h")))
    assert notes["day"].is_monotonic_increasing


def test_columns_of_two_tables_that_are_told_alike_have_the_same_values():
    sites = KEYED.drop_duplicates("site").set_index("site")[["share"]]
    left, right = remade(KEYED)[1], remade(sites)[1]
    assert set(left["site"]) == set(right.index)


PATTERNS = {
    "days": ["01/04/2024", "01/05/2024", "02/04/2024"],
    "hours": ["08:10", "09:15", "23:50"],
    "months": ["2023-11", "2023-12"],
    "codes": ["AB-0098/x", "AB-0099/x"],
    "weekdays": ["Friday", "Monday"],
    "words": ["ash", "birch"],
}


@pytest.mark.parametrize("case", PATTERNS)
def test_texts_that_are_made_up_have_the_pattern_of_those_that_are_told(case):
    known = PATTERNS[case]
    made = values.more_texts(known, 5)
    assert len({*known, *made}) == len(known) + 5
    shapes = {re.sub(r"[a-z]+", "a", re.sub(r"\d", "0", text).lower()) for text in made}
    assert shapes <= {re.sub(r"[a-z]+", "a", re.sub(r"\d", "0", text).lower()) for text in known}
    if case == "days":  # which may be told by the day or by the month first
        assert pd.to_datetime(made, format="%d/%m/%Y").notna().all()
        assert pd.to_datetime(made, format="%m/%d/%Y").notna().all()


PREPARED = """
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
words = "site town".split()
prepare = make_column_transformer((OneHotEncoder(), words), (StandardScaler(), ["size"]))
model = make_pipeline(prepare, Ridge(alpha=2.0))
"""
TOWNS = pd.DataFrame({"site": list("uvwu") * 9, "town": list("xxyy") * 9, "size": range(36)})


@pytest.mark.parametrize("unseen", [False, True])
def test_a_pipeline_learnt_categories_of_which_its_number_of_features_tells(unseen):
    names = after(PREPARED)
    learnt = TOWNS[TOWNS["site"] != "w"] if unseen else TOWNS
    names["model"].fit(learnt, learnt["size"])
    told = {
        name: describe(value, DEPTH)
        for name, value in (("model", names["model"]), ("table", TOWNS))
    }
    known = meanings([PREPARED])
    rebuilder = Rebuilder(7, known, Definitions(known, Namespace()).define, told)
    model, table = rebuilder.named("model"), rebuilder.named("table")
    if unseen:
        with pytest.raises(ValueError, match="unknown categories"):
            model.predict(table)
    else:
        assert len(model.predict(table)) == len(TOWNS)


def test_what_the_code_says_is_used_if_all_that_is_told_holds_of_it():
    code = "names = [f'band {place}' for place in range(9)]"
    told = describe(after(code)["names"], DEPTH)
    assert rebuilt(told, code, "names")[8] == "band 8"
    changed = describe([f"band {place}" for place in range(8)], DEPTH)
    assert len(rebuilt(changed, code, "names")) == 8
    for more in ("open('x').read().split()", "[print(1)] * 9", "__import__('os').listdir()"):
        assert rebuilt(told, f"names = {more}", "names")[:2] == ["band 0", "band 1"]
