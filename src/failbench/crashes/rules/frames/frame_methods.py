"""Rules of methods of tables of pandas."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.aggregation import AGGREGATES, aggregate, resample
from failbench.crashes.rules.frames.frame_columns import (
    apply,
    assign,
    astype,
    fill,
    insert,
    isna,
    pop,
    to_numpy,
)
from failbench.crashes.rules.frames.joining import join, merge
from failbench.crashes.rules.frames.ordering import by_column, part
from failbench.crashes.rules.frames.relabelling import drop, reindex, rename, reset_index, set_index
from failbench.crashes.rules.frames.reshaping import melt, pivot
from failbench.crashes.rules.frames.tables import unchanged

METHODS: Final[dict[str, Handler]] = {
    "drop": drop,
    "rename": rename,
    "assign": assign,
    "set_index": set_index,
    "reset_index": reset_index,
    **dict.fromkeys(("sort_values", "nlargest", "nsmallest", "explode"), by_column),
    **dict.fromkeys(("head", "tail", "sample", "dropna", "drop_duplicates"), part),
    "merge": merge,
    **dict.fromkeys(("pivot", "pivot_table"), pivot),
    **dict.fromkeys(AGGREGATES, aggregate),
    "astype": astype,
    **dict.fromkeys(("fillna", "ffill", "bfill", "interpolate"), fill),
    **dict.fromkeys(("apply", "map", "transform", "agg"), apply),
    "melt": melt,
    "to_numpy": to_numpy,
    "join": join,
    "insert": insert,
    "pop": pop,
    "reindex": reindex,
    **dict.fromkeys(
        ("copy", "sort_index", "round", "abs", "infer_objects", "convert_dtypes"), unchanged
    ),
    **dict.fromkeys(("isna", "isnull", "notna", "notnull", "isin"), isna),
    "resample": resample,
}

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"pandas.DataFrame.{name}": rule for name, rule in METHODS.items()},
    "pandas.merge": merge,
    "pandas.pivot_table": pivot,
    "pandas.pivot": pivot,
    "pandas.Series.resample": resample,
}
