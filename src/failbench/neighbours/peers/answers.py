"""Answers: what the verdicts of peers come to, from the committed table and without any peer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from failbench.base.vocabulary import ABSTAIN
from failbench.neighbours.peers import skill
from failbench.neighbours.peers.curves import recorded_curves
from failbench.neighbours.peers.mapping import mapping
from failbench.neighbours.peers.standards import Standard, standards
from failbench.neighbours.peers.verdicts import VERDICT_SCHEMA, PeerVerdict, Reading, reading_of

TELEMETRY: Final = "telemetry"
"""The format of the skill's rules: what was recorded, every signal at every step."""

ANSWER_SCHEMA: Final = pl.Schema(
    {
        "peer": pl.String(),
        "run_id": pl.String(),
        "format": pl.String(),
        "issues": pl.List(pl.String),
        "prediction": pl.String(),  # a category or "abstain"
        "cause": pl.String(),  # null where the issue has none of the project's
        "detected": pl.Boolean(),
        "confidence": pl.Float64(),  # null where the peer states none
        "readable": pl.Boolean(),
    }
)
"""Columns of a table of answers; its key is ``(peer, run_id, format)``."""


def verdict(standard: Standard, run_id: str, form: str, reading: Reading) -> PeerVerdict:
    """What a reading comes to by the standard of its peer and the mapping."""
    peer = standard.peer
    detected = False
    answered: int | None = None
    for position, (issue, severity) in enumerate(
        zip(reading.issues, reading.severities, strict=True)
    ):
        confidence = reading.confidences[position] if reading.confidences else None
        detected |= standard.reaches(standard.detects_from, severity, confidence)
        if (
            answered is None
            and mapping()[peer, issue].category is not None
            and standard.reaches(standard.commits_from, severity, confidence)
        ):
            answered = position
    meant = None if answered is None else mapping()[peer, reading.issues[answered]]
    return PeerVerdict(
        peer,
        run_id,
        form,
        reading.issues,
        None if meant is None else meant.category,
        None if meant is None else meant.cause,
        detected,
        reading.confidences[answered or 0] if reading.confidences else None,
    )


def recorded_answers(
    verdicts: pl.DataFrame, by: Mapping[str, Standard] | None = None
) -> pl.DataFrame:
    """Answers of the peers that were run."""
    by = by or standards()
    return _table(
        (verdict(by[row["peer"]], row["run_id"], row["format"], reading), reading)
        for row in verdicts.iter_rows(named=True)
        for reading in (reading_of(row),)
    )


def skill_answers(
    steps: pl.DataFrame, runs: pl.Series, by: Mapping[str, Standard] | None = None
) -> pl.DataFrame:
    """Answers of the skill's documented thresholds on recorded telemetry."""
    return recorded_answers(skill_verdicts(steps, runs), by)


def skill_verdicts(steps: pl.DataFrame, runs: pl.Series) -> pl.DataFrame:
    """What the skill's documented thresholds say of recorded telemetry, as a peer's verdicts."""
    kept = steps.filter(pl.col("run_id").is_in(runs.implode())).sort("run_id", "step")
    by_run = {str(key[0]): part for key, part in kept.group_by("run_id", maintain_order=True)}
    rows = []
    for run in runs.to_list():
        reading = skill.reading_of_curves(recorded_curves(by_run.get(run, steps.clear())))
        rows.append(
            {
                "run_id": run,
                "format": TELEMETRY,
                "peer": skill.PEER,
                "version": standards()[skill.PEER].version,
                "rendering": "",
                "issues": list(reading.issues),
                "severities": list(reading.severities),
                "confidences": list(reading.confidences),
                "unreadable": None,
            }
        )
    return pl.DataFrame(rows, schema=VERDICT_SCHEMA)


def _table(verdicts: Iterator[tuple[PeerVerdict, Reading]]) -> pl.DataFrame:
    rows = [
        {
            "peer": made.peer,
            "run_id": made.run_id,
            "format": made.format,
            "issues": list(made.issues),
            "prediction": made.category or ABSTAIN,
            "cause": made.cause,
            "detected": made.detected,
            "confidence": made.confidence,
            "readable": reading.unreadable is None,
        }
        for made, reading in verdicts
    ]
    return pl.DataFrame(rows, schema=ANSWER_SCHEMA).sort("peer", "run_id", "format")
