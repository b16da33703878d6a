"""Rules of methods of series of pandas."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.arrays import methods as array_methods
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.accessors import index_of_texts, text
from failbench.crashes.rules.frames.columns import (
    astype,
    drop,
    rename,
    rows,
    to_frame,
    unchanged,
    unstack,
    values,
)
from failbench.crashes.rules.frames.series_values import (
    counted,
    filled,
    gaps,
    mapped,
    reduced,
    unique,
)
from failbench.crashes.rules.frames.windows import rolled, shifted, windows

REDUCING: Final = (
    "sum", "mean", "std", "var", "min", "max", "median", "prod", "any", "all", "idxmax", "idxmin",
    "argmax", "argmin",
)  # fmt: skip
SAME: Final = ("copy", "round", "abs", "sort_index", "sort_values", "clip", "infer_objects", "rank")

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"pandas.Series.{name}": reduced for name in REDUCING},
    **{f"pandas.Index.{name}": reduced for name in ("min", "max", "argmax", "argmin")},
    **{f"pandas.Series.{name}": unchanged for name in SAME},
    **{
        f"pandas.Series.{name}": rows
        for name in ("head", "tail", "nlargest", "nsmallest", "sample", "dropna", "drop_duplicates")
    },
    **{f"pandas.Series.{name}": filled for name in ("fillna", "ffill", "bfill", "interpolate")},
    **{f"pandas.Series.{name}": gaps for name in ("isna", "notna", "isnull", "notnull")},
    **{f"pandas.Series.{name}": mapped for name in ("map", "apply")},
    **{f"pandas.Series.{name}": unique for name in ("unique", "nunique")},
    **{f"pandas.Index.{name}": unique for name in ("nunique",)},
    **{f"pandas.Series.{name}": shifted for name in ("diff", "shift", "pct_change")},
    **{f"pandas.Series.{name}": windows for name in ("rolling", "expanding")},
    **{f"pandas.DataFrame.{name}": windows for name in ("rolling", "expanding")},
    **{
        f"pandas.core.window.rolling.Rolling.{name}": rolled
        for name in ("mean", "sum", "std", "var", "min", "max", "median")
    },
    **{
        f"pandas.core.strings.accessor.StringMethods.{name}": text
        for name in (
            "contains",
            "startswith",
            "endswith",
            "isdigit",
            "isalpha",
            "match",
            "fullmatch",
            "len",
            "count",
            "lower",
            "upper",
            "strip",
            "lstrip",
            "rstrip",
            "title",
            "replace",
            "split",
            "extract",
            "zfill",
            "slice",
            "get_dummies",
            "findall",
            "partition",
            "capitalize",
            "find",
            "isnumeric",
        )
    },
    "pandas.Series.astype": astype,
    "pandas.Series.to_numpy": values,
    "pandas.Index.to_numpy": values,
    "pandas.Series.tolist": array_methods.tolist,
    "pandas.Series.to_list": array_methods.tolist,
    "pandas.Index.tolist": array_methods.tolist,
    "pandas.Index.to_list": array_methods.tolist,
    "pandas.Series.item": array_methods.item,
    "pandas.Series.value_counts": counted,
    "pandas.Series.to_frame": to_frame,
    "pandas.Series.reset_index": to_frame,
    "pandas.Series.rename": rename,
    "pandas.Series.unstack": unstack,
    "pandas.Series.drop": drop,
    "pandas.Index.get_loc": index_of_texts,
    "pandas.Series.argsort": array_methods.sort,
}
