import polars as pl

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA
from failbench.features.observables import RUN_COLUMNS, STEP_COLUMNS, Observables
from failbench.methods.llm.settings import LlmAgentsSettings

VALUES = {
    "models": {
        "mistral_7b": {"name": "mistral", "digest": "6577803aa9a0"},
        "llama_3_8b": {"name": "llama3:8b", "digest": None},
    },
    "steps": 50, "error_characters": 1500, "traceback_lines": 12, "temperature": 0, "seed": 0,
    "context_tokens": 8192, "answer_tokens": 1024, "timeout_seconds": 5, "attempts": 2,
    "pause_seconds": 2,
}  # fmt: skip


def settings(**values):
    return LlmAgentsSettings.model_validate(VALUES | values)


def one_run(steps=6, losses=None, **run):
    facts = dict.fromkeys(RUN_COLUMNS) | {"capacity_bytes": 2**21, "parameters": 100} | run
    usual = {"row": 0, "gradient_norm": 1.5, "tokens": 50, "covered_tokens": 50}
    rows = [
        dict.fromkeys(STEP_COLUMNS)
        | usual
        | {"step": step, "loss": 6.0 - step / 10 if losses is None else losses[step]}
        | {"memory_bytes": 2**20 + step * 2**15, "unknown_tokens": step}
        for step in range(steps)
    ]
    of_run, of_step = (
        {name: schema[name] for name in names}
        for schema, names in ((RUN_SCHEMA, RUN_COLUMNS), (STEP_SCHEMA, STEP_COLUMNS))
    )
    return Observables(
        pl.DataFrame([{"row": 0} | facts], schema_overrides=of_run),
        pl.DataFrame(rows, schema={"row": pl.UInt32} | of_step),
    )
