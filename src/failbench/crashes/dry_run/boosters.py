"""LightGBM's own data sets and boosters, on made-up data."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.crashes.dry_run.plain import check_size

Entry = dict[str, Any]

ROWS: Final = 60
QUIET: Final = {"verbose": -1, "num_threads": 1, "seed": 1, "deterministic": True}


def dataset(entry: Entry, rng: np.random.Generator, others: list[Any]) -> Any:
    """A data set with the shapes that are told; labels are 0 and 1, which every objective takes."""
    import lightgbm

    known, structural = entry["type"], entry["structural"]
    if known["has_reference"] and not others:
        raise NotRebuiltError("the data set that it refers to is not told")
    rows = structural["label_shape"][0]
    is_freed = known["constructed"] and known["data_class"] == "NoneType"
    shape = tuple(structural.get("data_shape", (rows, 2) if is_freed else ()))
    if len(shape) != 2:
        raise NotRebuiltError("the shape of its data is not told")
    check_size(shape, 8)
    data: Any = rng.random(shape)
    if known["data_class"].startswith("pandas."):
        import pandas as pd

        data = pd.DataFrame(data, columns=[f"column_{place}" for place in range(shape[1])])
    labels = rng.permutation(np.arange(rows) % 2)
    made = lightgbm.Dataset(
        data,
        label=labels,
        reference=others[-1] if known["has_reference"] else None,
        free_raw_data=known["free_raw_data"],
        params=dict(QUIET),
    )
    if not known["has_reference"]:
        others.append(made)
    return made.construct() if known["constructed"] else made


def booster(entry: Entry, rng: np.random.Generator) -> Any:
    """A booster with as many trees and features, trained to tell a number."""
    import lightgbm

    features, trees = entry["structural"]["features"], entry["structural"]["trees"]
    data = rng.random((ROWS, features))
    settings = QUIET | {"objective": "regression", "min_data_in_leaf": 2}
    made = lightgbm.Dataset(data, label=data.sum(axis=1), params=dict(QUIET))
    return lightgbm.train(settings, made, trees)
