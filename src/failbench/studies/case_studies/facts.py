"""Facts: what the recordings of a case showed, before the onset of its fault and from it on."""

from __future__ import annotations

import polars as pl

from failbench.studies.case_studies.cases import Case, recordings_of
from failbench.telemetry import Telemetry

FACT_SCHEMA = pl.Schema(
    {
        "case": pl.String,
        "role": pl.String,
        "run_id": pl.String,
        "outcome": pl.String,
        "error": pl.String,
        "quantity": pl.String,
        "value": pl.Float64,
    }
)


def case_facts(telemetry: Telemetry, case: Case, settled_steps: int) -> pl.DataFrame:
    """What each recording of a case showed before the onset of the fault and from it on."""
    parts = []
    for role, run_id in recordings_of(telemetry, case).items():
        run = telemetry.runs.row(by_predicate=pl.col("run_id") == run_id, named=True)
        steps = telemetry.steps.filter(pl.col("run_id") == run_id).with_columns(
            pl.col("memory_bytes") / run["capacity_bytes"]
        )
        error = None
        if run["error_type"] is not None:
            error = f"{run['error_type']}: {run['error_message']}"
        values = _facts(steps, case.onset_step, settled_steps) | {
            "steps": run["steps"],
            "model_vocabulary": run["model_vocabulary"],
            "learning_rate": run["nominal_learning_rate"],
            "clip_norm": run["nominal_clip_norm"],
        }
        parts.append(
            pl.DataFrame(
                {
                    "case": case.name,
                    "role": role,
                    "run_id": run_id,
                    "outcome": run["outcome"],
                    "error": error,
                    "quantity": list(values),
                    "value": [None if value is None else float(value) for value in values.values()],
                },
                schema_overrides={"value": pl.Float64, "error": pl.String},
            )
        )
    return pl.concat(parts)


def _facts(steps: pl.DataFrame, onset: int, settled_steps: int) -> dict[str, float | None]:
    """Quantities of the finite values of one recording, before onset and from it on."""
    before, after = (
        steps.filter(pl.col("step") < onset),
        steps.filter(pl.col("step") >= onset),
    )

    def of(part: pl.DataFrame, name: str, summary: pl.Expr) -> float | None:
        measured = part.select(pl.col(name).cast(pl.Float64)).drop_nulls()
        finite = measured.filter(pl.col(name).is_finite())
        value: float | None = finite.select(summary.alias("value"))["value"].item()
        return value

    def loss(part: pl.DataFrame, summary: pl.Expr) -> float | None:
        return of(part, "loss", summary)

    losses, norms, held_out = pl.col("loss"), pl.col("gradient_norm"), pl.col("validation_loss")
    return {
        "first_loss": loss(steps, losses.first()),
        "loss_before": loss(before.tail(settled_steps), losses.mean()),
        "largest_loss_after": loss(after, losses.max()),
        "last_loss": loss(after.tail(settled_steps), losses.mean()),
        "first_validation_loss": of(steps, "validation_loss", held_out.first()),
        "validation_loss_before": of(before, "validation_loss", held_out.last()),
        "largest_validation_loss_after": of(after, "validation_loss", held_out.max()),
        "last_validation_loss": of(after, "validation_loss", held_out.last()),
        "largest_gradient_norm_before": of(before, "gradient_norm", norms.max()),
        "largest_gradient_norm_after": of(after, "gradient_norm", norms.max()),
        "mean_gradient_norm_before": of(before, "gradient_norm", norms.mean()),
        "mean_gradient_norm_after": of(after, "gradient_norm", norms.mean()),
        "gradient_norm_variance_before": of(before, "gradient_norm", norms.var()),
        "gradient_norm_variance_after": of(after, "gradient_norm", norms.var()),
        "peak_memory": of(steps, "memory_bytes", pl.col("memory_bytes").max()),
        "highest_token": of(steps, "max_token_id", pl.col("max_token_id").max()),
    }
