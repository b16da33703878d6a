"""What measuring importance and reporting it share."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import polars as pl
from pydantic import Field

from failbench.base import measuring as st
from failbench.base.known_columns import FLAG_KINDS, flags_in
from failbench.features.catalogue import FEATURE_SETS, signal_groups

Source = Literal["training_fold", "test_fold"]
SOURCES: tuple[Source, ...] = ("training_fold", "test_fold")

TABLE_SIX = "19+keywords+trend"
"""The features of the paper's Table 6: its list of 19 lacks two kinds of them."""

IMPORTANCE_SETS: dict[str, tuple[str, ...]] = {
    "19": FEATURE_SETS["19"],
    TABLE_SIX: (*FEATURE_SETS["19+keywords"], "perplexity_trend"),
}

METHODS = ("random_forest", "ebm")

KNOWN_SET = "invariants"
"""The flags of what the monitor knows, which stand in for features where methods read these."""

ON_KNOWN: Final = ("forest_on_invariants", "ebm_on_invariants")
"""The same two classifiers on them; asked too where they are among those of the main study."""

OF_FIT = dict.fromkeys(("feature_set", "method"), pl.String())
PLACE = dict.fromkeys(("repeat", "fold"), pl.Int32())

REPLACEMENT_SCHEMA = pl.Schema(
    {
        **OF_FIT,
        **dict.fromkeys(("source", "kind", "name"), pl.String()),
        **PLACE,
        **dict.fromkeys(("run_id", "scenario", "category"), pl.String()),
        "correct": pl.Float64(),
    }
)
"""Per held-out run and unit: ``correct`` is the share of replacements that leave it right."""

BUILT_IN_SCHEMA = pl.Schema({**OF_FIT, "feature": pl.String(), **PLACE, "value": pl.Float64()})
"""Per fit and feature: the importance that the fitted method gives itself."""

SHAPE_SCHEMA = pl.Schema(
    {
        "rank": pl.Int64(),
        "feature": pl.String(),
        "contribution": pl.Float64(),
        "category": pl.String(),
        **dict.fromkeys(("low", "high", "score", "sd"), pl.Float64()),
        "runs": pl.Int64(),
    }
)
"""Per leading feature, category and bin of values from ``low`` to ``high``."""


class ImportanceDesign(st.Record):
    """How signals are replaced; the section ``importance`` of params.yaml."""

    repeats: int = Field(ge=1)
    replacements: int = Field(ge=1)
    source: Source
    shapes: int = Field(ge=1)
    seed: int = Field(ge=0)


def methods_asked(methods: Iterable[str]) -> tuple[str, ...]:
    """The methods that are asked, given the section ``methods`` of params.yaml."""
    main_study = set(methods)
    return (*METHODS, *(name for name in ON_KNOWN if name in main_study))


def groups_of(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Features by signal group, and flags by what they are about, without empty groups."""
    flags = flags_in(columns)
    broken = tuple(name for name in flags if name.startswith(FLAG_KINDS[0]))
    about = {"invariants": broken, "ending": tuple(name for name in flags if name not in broken)}
    return signal_groups(columns) | {name: members for name, members in about.items() if members}
