"""Made-up tables like those of DEFault: the host tells the session, and a session has one label."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from failbench.external.tables import (
    BUGGY,
    CORRECT,
    DETECTION,
    LABEL,
    POSITIVES,
    ColumnNote,
    PrintedFigure,
    ReleasedTables,
)
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.params import read_section
from failbench.studies.external_default.settings import ExternalDefaultSettings

RULES = SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)

RUNS = 12
"""Of a session."""

NOTES = (
    ColumnNote(column="train_loss", part="training", levels="both", feature="max_loss", why="."),
    ColumnNote(
        column="gradient_max", part="training", levels="both", feature="max_gradient_norm", why="."
    ),
    ColumnNote(column="oscillation", part="training", levels="second", feature="", why="."),
    ColumnNote(column="cpu", part="host", levels="both", feature="", why="."),
    ColumnNote(column="memory", part="host", levels="both", feature="", why="."),
)
PRINTED_FIGURES = tuple(
    PrintedFigure(table=name, metric="accuracy", value=0.9, place="Table 0")
    for name in (DETECTION, "category", *POSITIVES)
)


def sessions(labels: list[str], rng: np.random.Generator) -> pl.DataFrame:
    """A session a label: its runs have nearly the host of one another, and noise else."""
    parts = [
        pl.DataFrame(
            {
                "train_loss": rng.normal(1.0, 0.1, RUNS),
                "gradient_max": rng.normal(5.0, 1.0, RUNS),
                "oscillation": rng.normal(size=RUNS),
                "cpu": 10.0 * number + rng.normal(0.0, 0.1, RUNS),
                "memory": 7.0 * (number % 5) + rng.normal(0.0, 0.1, RUNS),
                LABEL: [label] * RUNS,
            }
        )
        for number, label in enumerate(labels)
    ]
    return pl.concat(parts)


def released(seed: int = 0, crashed: int = 6) -> ReleasedTables:
    """Detection of 16 sessions and so many crashed runs, and seven categories of four sessions."""
    rng = np.random.default_rng(seed)
    detection = sessions([BUGGY, CORRECT] * 8, rng).drop("oscillation")
    empty = pl.DataFrame({LABEL: [CORRECT] * crashed}, schema={LABEL: pl.String()})
    detection = pl.concat([detection, empty], how="diagonal").select(detection.columns)
    positives = {
        name: sessions([label] * 4, rng).with_columns(cpu=pl.col("cpu") + 100 * number)
        for number, (name, label) in enumerate(POSITIVES.items())
    }
    names = list(positives)
    tables = {DETECTION: detection}
    for number, name in enumerate(names):
        others = pl.concat(positives[other].head(8) for other in names if other != name)
        tables[name] = pl.concat([positives[name], others])
        assert names[number] == name
    return ReleasedTables(tables, NOTES, PRINTED_FIGURES)


def settings(repository: Path, **changed: object) -> ExternalDefaultSettings:
    """Those of the pipeline, with fewer groups and trees."""
    whole = read_section(
        "external_default",
        ExternalDefaultSettings,
        repository / "params.yaml",
        shared={"resamples": 1000, "confidence": 0.95},
    )
    printed = whole.printed.model_copy(update={"trees": (5,), "selection_trees": 5, "selected": 3})
    methods = whole.methods
    few = {
        "lightgbm": methods.lightgbm.model_copy(update={"trees": 3}),
        "ebm": methods.ebm.model_copy(update={"max_rounds": 2}),
        "random_forest": methods.random_forest.model_copy(update={"trees": 3}),
    }
    small = {
        "folds": 2,
        "groups": 16,
        "other_groups": (8,),
        "trees": 5,
        "printed": printed,
        "methods": methods.model_copy(update=few),
    }
    return whole.model_copy(update={**small, **changed})
