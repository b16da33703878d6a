"""Settings of language models, and one run as observables."""

import polars as pl

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA
from failbench.features.observables import RUN_COLUMNS, STEP_COLUMNS, Observables
from failbench.methods.llm.settings import LlmAgentsSettings

VALUES: dict[str, object] = {
    "models": {
        "mistral_7b": {"name": "mistral", "digest": "6577803aa9a0"},
        "llama_3_8b": {"name": "llama3:8b", "digest": None},
    },
    "steps": 50,
    "error_characters": 1500,
    "traceback_lines": 12,
    "temperature": 0,
    "seed": 0,
    "context_tokens": 8192,
    "answer_tokens": 1024,
    "timeout_seconds": 5,
    "attempts": 2,
    "pause_seconds": 2,
}


def settings(**values: object) -> LlmAgentsSettings:
    return LlmAgentsSettings.model_validate(VALUES | values)


def one_run(steps: int = 6, losses: list[float | None] | None = None, **run: object) -> Observables:
    """A run whose loss falls and whose memory grows; ``run`` has what it is otherwise."""
    facts = dict.fromkeys(RUN_COLUMNS) | {"capacity_bytes": 2**21, "parameters": 100} | run
    rows = [
        dict.fromkeys(STEP_COLUMNS)
        | {
            "step": step,
            "loss": 6.0 - step / 10 if losses is None else losses[step],
            "gradient_norm": 1.5,
            "memory_bytes": 2**20 + step * 2**15,
            "tokens": 50,
            "unknown_tokens": step,
            "covered_tokens": 50,
        }
        for step in range(steps)
    ]
    return Observables(
        pl.DataFrame([{"row": 0} | facts], schema_overrides=_schema(RUN_SCHEMA, RUN_COLUMNS)),
        pl.DataFrame(
            [{"row": 0} | row for row in rows],
            schema={"row": pl.UInt32} | _schema(STEP_SCHEMA, STEP_COLUMNS),
        ),
    )


def _schema(schema: pl.Schema, names: tuple[str, ...]) -> dict[str, pl.DataType]:
    return {name: schema[name] for name in names}
