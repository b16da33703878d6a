"""Rules of functions of pandas that make tables, series and indexes."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.binning import cut, dummies
from failbench.crashes.rules.frames.concatenation import concat
from failbench.crashes.rules.frames.construction import frame, series
from failbench.crashes.rules.frames.conversion import categories, to_dates, to_numbers
from failbench.crashes.rules.frames.indexes import date_range, made_index
from failbench.crashes.rules.frames.reading import read_csv

FUNCTIONS: Final[dict[str, Handler]] = {
    "pandas.DataFrame": frame,
    "pandas.Series": series,
    "pandas.Index": made_index,
    "pandas.date_range": date_range,
    "pandas.concat": concat,
    "pandas.read_csv": read_csv,
    "pandas.to_numeric": to_numbers,
    "pandas.to_datetime": to_dates,
    "pandas.Categorical": categories,
    "pandas.cut": cut,
    "pandas.qcut": cut,
    "pandas.get_dummies": dummies,
}
