"""What is measured of language models beside their predictions."""

import polars as pl

EXPLANATION_SCHEMA = pl.Schema(
    {
        "method": pl.String,
        "run_id": pl.String,
        "unreadable": pl.Boolean,
        "cites_evidence": pl.Boolean,
        "evidence_found": pl.Float64,
        "evidence_points": pl.Float64,
    }
)
"""How far the explanation of each answer holds; the first two are the key."""

ANSWERED_SCHEMA = pl.Schema({"method": pl.String, "answered": pl.Int32, "runs": pl.Int32})
"""How many runs of the study each model answered, of how many."""
