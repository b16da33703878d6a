"""DEFault++: called at every step of a training, it answers with three levels of a diagnosis.

https://github.com/SigmaJahan/DEFaultplusplus-Transformer-Debugging (Apache-2.0), from PyPI.
"""

import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_table
from failbench.neighbours.peers import verdicts

PEER: Final = "default_plus_plus"
INSIDE: Final = "inside_training"  # stands for a format: the training itself calls it
FAMILY: Final = "encoder"  # which of its two models answers for BERT and DistilBERT
FAULTY: Final = "faulty"  # its word for a run in which it detects a fault; it knows no degrees
PACKAGE: Final = "defaultplusplus"
REMEDY: Final = "Restore it with `git checkout`, or record it again: `make record-peers INSIDE=1`."
INSTALL: Final = "Install it with `make record-peers INSIDE=1`, which trains with it as well."

# columns of the table of its answers; the key is ``run_id``
ANSWER_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "version": pl.String(),  # of the peer
        "rendering": pl.String(),  # digest of the run and of how it was watched
        "recorded_ending": pl.String(),  # of the run in telemetry
        "ending": pl.String(),  # of the run that was watched; null where none was
        "steps": pl.UInt32(),  # of the run that was watched
        "loss_apart": pl.Float64(),  # of its first losses from those recorded, as a share
        "granted_bytes": pl.Int64(),  # memory beyond the run's limit, for what the peer keeps
        "columns": pl.UInt32(),  # that its model reads
        "columns_measured": pl.UInt32(),  # of these; the others are its healthy runs' medians
        "is_faulty": pl.Boolean(),  # null, as all that follows, where it gave no answer
        "detection_probability": pl.Float64(),
        "category": pl.String(),  # null where it detects nothing
        "category_probability": pl.Float64(),
        "root_cause": pl.String(),
        "root_cause_probability": pl.Float64(),
        "groups": pl.List(pl.String),  # of features, the one that speaks most for it first
        "importances": pl.List(pl.Float64),  # of each group, in the peer's own units
        "unreadable": pl.String(),  # why there is no answer; null where there is one
    }
)


def installed_version() -> str:
    """Version of the installed package."""
    return verdicts.compared_version(PEER, PACKAGE, INSTALL)


def diagnose(features: Mapping[str, float]) -> dict[str, Any]:
    """What its model says, by column of the table, asked as its README has it."""
    normalizer, predictor = _shipped()
    measured, columns = normalizer.coverage(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its processor builds a table column by column
        said = predictor.predict(normalizer.encode(features, mode="raw")).to_dict()
    ranked = sorted(said["group_importance"].items(), key=lambda item: (-item[1], item[0]))
    return {
        "columns": columns,
        "columns_measured": measured,
        "is_faulty": said["is_faulty"],
        "detection_probability": round(said["detection_prob"], 6),
        "category": said["category"],
        "category_probability": round(said["category_prob"], 6),
        "root_cause": said["root_cause"],
        "root_cause_probability": round(said["root_cause_prob"], 6),
        "groups": [name for name, _ in ranked],
        "importances": [round(value, 4) for _, value in ranked],
    }


@cache
def _shipped() -> tuple[Any, Any]:
    """Its normalizer and its model, of the weights that its wheel holds."""
    normalizer = import_module(f"{PACKAGE}.processing").RuntimeNormalizer.load(FAMILY)
    return normalizer, import_module(f"{PACKAGE}.diagnosis").load_pretrained(FAMILY)


def read_inside_answers(path: Path) -> pl.DataFrame:
    """Read the table of its answers, sorted by run."""
    table = read_table(path, ANSWER_SCHEMA).select(*ANSWER_SCHEMA).sort("run_id")
    known = [issue for peer, issue in verdicts.mapping() if peer == PEER]
    answered = pl.col("is_faulty").is_not_null()
    apart = answered & (pl.col("is_faulty") != pl.col("category").is_not_null())
    both = answered == pl.col("unreadable").is_not_null()
    for field, broken, problem in (
        ("run_id", pl.struct("run_id").is_duplicated(), "has two answers."),
        ("category", ~pl.col("category").is_in(known), "has a category that is not mapped."),
        ("category", apart, "is faulty without a category, or has one without being faulty."),
        ("unreadable", both, "needs either an answer or why there is none."),
    ):
        rows = table.filter(broken)
        if rows.height:
            raise BadInputError(path, field, f"{rows['run_id'][0]!r} {problem}", REMEDY)
    return table


def verdicts_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Its answers in the form that those of all peers have."""
    rows = []
    for row in answers.iter_rows(named=True):
        said = verdicts.Reading(unreadable=row["unreadable"])
        if row["is_faulty"]:
            said = verdicts.Reading((row["category"],), (FAULTY,), (row["detection_probability"],))
        run_id, version, rendering = (row[name] for name in ("run_id", "version", "rendering"))
        rows.append(verdicts.verdict_row(run_id, INSIDE, PEER, version, rendering, said))
    return pl.DataFrame(rows, schema=verdicts.VERDICT_SCHEMA).sort(verdicts.KEY)
