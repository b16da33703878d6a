import numpy as np
import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.features.catalogue import FEATURE_SETS, FEATURES, extract, signal_groups
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, KEYS, feature_table, to_frame
from failbench.features.observables import observe
from shared.importance import IMPORTANCE_SETS

CAPACITY = 1_000_000
STEPS = 60


def steps_of(run_id: str, **columns: object) -> pl.DataFrame:
    rng = np.random.default_rng(sum(map(ord, run_id)))
    values: dict[str, object] = {
        "run_id": [run_id] * STEPS, "step": np.arange(STEPS),
        "loss": 6 - 0.02 * np.arange(STEPS) + rng.normal(0, 0.1, STEPS),
        "gradient_norm": rng.uniform(0.5, 2, STEPS),
        "learning_rate": np.linspace(1e-3, 1e-4, STEPS), "clip_norm": [1.0] * STEPS,
        "memory_bytes": rng.integers(400_000, 800_000, STEPS), "step_seconds": [0.01] * STEPS,
        "sequences": [8] * STEPS, "tokens": rng.integers(200, 256, STEPS),
        "unknown_tokens": rng.integers(0, 5, STEPS),
        "covered_tokens": rng.integers(150, 200, STEPS), "max_token_id": [500] * STEPS,
        "mean_length": rng.uniform(20, 30, STEPS), "max_length": rng.integers(30, 33, STEPS),
        "validation_loss": [5 - 0.01 * i if i % 10 == 0 else None for i in range(STEPS)],
    }  # fmt: skip
    return pl.DataFrame(values | columns).select(STEP_SCHEMA.names()).cast(STEP_SCHEMA)


def telemetry_of(*steps: pl.DataFrame, **run: object) -> Telemetry:
    ids = [part["run_id"][0] for part in steps] or ["empty"]
    usual = dict.fromkeys(RUN_SCHEMA) | {"kind": "failure", "failure_step": STEPS - 1}
    usual |= {"capacity_bytes": CAPACITY, "parameters": 12_345} | run
    runs = [usual | {"run_id": item} for item in ids]
    rows = pl.concat([STEP_SCHEMA.to_frame(), *steps])
    return Telemetry(pl.DataFrame(runs, schema=RUN_SCHEMA), rows)


def features_of(*steps: pl.DataFrame, **run: object) -> pl.DataFrame:
    telemetry = telemetry_of(*steps, **run)
    last_steps = telemetry.runs.select("run_id", last_step=pl.lit(STEPS - 1, pl.Int32))
    return extract(observe(telemetry, last_steps)[0])


def features_of_run(*steps: pl.DataFrame, **run: object) -> dict[str, float | None]:
    return features_of(*steps, **run).row(0, named=True)


def test_a_run_has_the_same_features_alone_and_among_others():
    alone = features_of(steps_of("b")).drop("row")
    among = features_of(steps_of("a"), steps_of("b"), steps_of("c")).drop("row")
    assert among[1].equals(alone)


@pytest.mark.parametrize(
    ("message", "keyword"),
    [
        ("CUDA out of memory.", "cuda"),
        ("does not require grad and has no grad_fn", "requires_grad"),
        ("embed_dim must be divisible by num_heads", "divisible"),
    ],
)
def test_keywords_find_wordings_that_no_recorded_run_has(message: str, keyword: str):
    none = features_of_run(steps_of("a"))
    found = features_of_run(steps_of("a"), error_type="RuntimeError", error_message=message)
    assert (found[f"keyword_{keyword}"], none[f"keyword_{keyword}"]) == (1.0, 0.0)


def test_methods_receive_no_key_but_the_run_id(small_telemetry, small_scenarios):
    table = feature_table(small_telemetry, small_scenarios)
    assert table.columns == [*KEYS, *ERROR_TEXT_COLUMNS, *(each.name for each in FEATURES)]
    assert table["run_id"].to_list() == sorted(small_telemetry.runs["run_id"])
    category = dict(table.select("run_id", "category").rows())
    assert category["runaway-transformer-adamw-s0"] == "optimization"
    assert category["no_start-transformer-adamw-s0-twin"] == "model_software"
    frame = to_frame(table)
    assert frame.index.name == "run_id"
    assert not set(frame.columns) & set(KEYS)
    assert frame["error_type"].tolist() == [""] * len(frame)
    assert frame["max_loss"].isna().sum() == 1


def test_every_feature_is_in_one_group():
    for columns in (*FEATURE_SETS.values(), *IMPORTANCE_SETS.values()):
        members = [name for names in signal_groups(columns).values() for name in names]
        assert sorted(members) == sorted(columns)
