import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.base.vocabulary import SIGNAL_GROUPS
from failbench.features.catalogue import (
    FEATURE_SETS,
    FEATURES,
    KEYWORD_FEATURES,
    PAPER_FEATURES,
    extract,
    signal_groups,
)
from failbench.features.feature import CEILING
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, KEYS, feature_table, to_frame
from failbench.features.observables import observe
from shared.importance import IMPORTANCE_SETS, TABLE_SIX

CAPACITY = 1_000_000
STEPS = 60


def steps_of(run_id: str, **columns: object) -> pl.DataFrame:
    """Sixty ordinary steps with some columns replaced."""
    rng = np.random.default_rng(sum(map(ord, run_id)))
    values: dict[str, object] = {
        "run_id": [run_id] * STEPS,
        "step": np.arange(STEPS),
        "loss": 6 - 0.02 * np.arange(STEPS) + rng.normal(0, 0.1, STEPS),
        "gradient_norm": rng.uniform(0.5, 2, STEPS),
        "learning_rate": np.linspace(1e-3, 1e-4, STEPS),
        "clip_norm": [1.0] * STEPS,
        "memory_bytes": rng.integers(400_000, 800_000, STEPS),
        "step_seconds": [0.01] * STEPS,
        "sequences": [8] * STEPS,
        "tokens": rng.integers(200, 256, STEPS),
        "unknown_tokens": rng.integers(0, 5, STEPS),
        "covered_tokens": rng.integers(150, 200, STEPS),
        "max_token_id": [500] * STEPS,
        "mean_length": rng.uniform(20, 30, STEPS),
        "max_length": rng.integers(30, 33, STEPS),
        "validation_loss": [5 - 0.01 * i if i % 10 == 0 else None for i in range(STEPS)],
    }
    return pl.DataFrame(values | columns).select(STEP_SCHEMA.names()).cast(STEP_SCHEMA)


def telemetry_of(*steps: pl.DataFrame, **run: object) -> Telemetry:
    ids = [part["run_id"][0] for part in steps] or ["empty"]
    runs = [
        dict.fromkeys(RUN_SCHEMA)
        | {
            "run_id": item,
            "kind": "failure",
            "failure_step": STEPS - 1,
            "capacity_bytes": CAPACITY,
            "parameters": 12_345,
        }
        | run
        for item in ids
    ]
    return Telemetry(
        pl.DataFrame(runs, schema=RUN_SCHEMA), pl.concat([STEP_SCHEMA.to_frame(), *steps])
    )


def features_of(*steps: pl.DataFrame, last_step: int = STEPS - 1, **run: object) -> pl.DataFrame:
    telemetry = telemetry_of(*steps, **run)
    last_steps = telemetry.runs.select("run_id", last_step=pl.lit(last_step, pl.Int32))
    return extract(observe(telemetry, last_steps)[0])


def features_of_run(*steps: pl.DataFrame, **run: object) -> dict[str, float | None]:
    return features_of(*steps, **run).row(0, named=True)


def test_the_primary_set_is_the_19_features_of_the_paper_in_its_groups():
    groups: dict[str, list[str]] = {}
    for feature in PAPER_FEATURES:
        groups.setdefault(feature.group, []).append(feature.name)
    assert groups == {
        "training_dynamics": [
            "learning_rate_at_failure", "steps_before_failure", "max_loss", "mean_loss",
            "gradient_norm_variance", "max_gradient_norm", "mean_gradient_norm", "loss_trend",
        ],
        "memory": ["peak_memory", "memory_at_failure", "memory_growth_rate", "memory_warning"],
        "data": ["perplexity", "vocabulary_coverage", "oov_rate", "sequence_length_spread"],
        "configuration": ["batch_size", "parameter_count", "gradient_clipping"],
    }  # fmt: skip
    assert len(FEATURE_SETS["19"]) == 19
    assert set(FEATURE_SETS["19+keywords"]) - set(FEATURE_SETS["19"]) == {
        feature.name for feature in KEYWORD_FEATURES
    }


def test_features_equal_their_definitions_computed_by_numpy_and_scipy():
    steps = steps_of("a")
    actual = features_of_run(steps)
    loss, norm = (steps[name].to_numpy().astype(float) for name in ("loss", "gradient_norm"))
    memory = steps["memory_bytes"].to_numpy() / CAPACITY
    recent = steps.tail(20)
    validations = steps.drop_nulls("validation_loss")
    expected = {
        "learning_rate_at_failure": 1e-4,
        "steps_before_failure": STEPS,
        "max_loss": loss.max(),
        "mean_loss": loss.mean(),
        "gradient_norm_variance": norm.var(ddof=1),
        "max_gradient_norm": norm.max(),
        "mean_gradient_norm": norm.mean(),
        "loss_trend": stats.linregress(np.arange(STEPS), loss).slope,
        "peak_memory": memory.max(),
        "memory_at_failure": memory[-1],
        "memory_growth_rate": stats.linregress(np.arange(STEPS), memory).slope,
        "memory_warning": 0.0,
        "perplexity": math.exp(np.float32(4.5)),
        "vocabulary_coverage": recent["covered_tokens"].sum() / recent["tokens"].sum(),
        "oov_rate": recent["unknown_tokens"].sum() / recent["tokens"].sum(),
        "sequence_length_spread": recent["max_length"].max() - recent["mean_length"].min(),
        "batch_size": 8,
        "parameter_count": 12_345,
        "gradient_clipping": 1.0,
        "perplexity_trend": stats.linregress(
            validations["step"].to_numpy(), validations["validation_loss"].to_numpy()
        ).slope,
    }
    assert {name: actual[name] for name in expected} == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e30])
def test_a_loss_that_is_not_finite_or_huge_counts_as_the_ceiling(bad: float):
    losses = [2.0] * (STEPS - 1) + [bad]
    actual = features_of_run(
        steps_of("a", loss=losses, gradient_norm=losses, validation_loss=losses)
    )
    assert actual["max_loss"] == CEILING
    assert actual["max_gradient_norm"] == CEILING
    assert actual["mean_loss"] == pytest.approx((2 * (STEPS - 1) + CEILING) / STEPS)
    assert actual["perplexity"] == pytest.approx(CEILING)


def test_a_run_without_steps_is_kept_and_its_measurements_are_missing():
    actual = features_of_run(error_type="ValueError", error_message="bad shape")
    kept = [actual[n] for n in ("steps_before_failure", "parameter_count", "keyword_shape")]
    assert kept == [0, 12_345, 1.0]
    measured = [each for each in FEATURES if each.over == "steps" and each.without_steps is None]
    assert {actual[feature.name] for feature in measured} == {None}


def test_what_the_step_of_death_never_reached_is_taken_from_before():
    whole = steps_of("a")
    unreached = ("loss", "gradient_norm", "tokens", "sequences", "max_length", "mean_length")
    died = {name: [*whole[name].to_list()[:-1], None] for name in unreached}
    actual, before = (
        features_of_run(each) for each in (steps_of("a", **died), whole.head(STEPS - 1))
    )
    assert (actual["steps_before_failure"], actual["batch_size"]) == (STEPS, 8)
    for name in ("mean_loss", "loss_trend"):
        assert actual[name] == before[name]
    # and before the first validation perplexity is that of the training loss
    early = features_of_run(steps_of("a", loss=[3.0] * STEPS, validation_loss=[None] * STEPS))
    assert (early["perplexity"], early["perplexity_trend"]) == (pytest.approx(math.exp(3)), None)


def test_a_run_has_the_same_features_alone_and_among_others():
    alone = features_of(steps_of("b")).drop("row")
    among = features_of(steps_of("a"), steps_of("b"), steps_of("c")).drop("row")
    assert among[1].equals(alone)


WORDINGS = {
    "CUDA out of memory.": "cuda",
    "DefaultCPUAllocator: can't allocate memory": "allocation memory",
    "Function 'MmBackward0' returned nan values": "nan",
    "index out of range in self": "out_of_range",
    "mat1 and mat2 shapes cannot be multiplied": "shape",
    "size mismatch for head.weight": "size mismatch",
    "expected scalar type Float but found Half": "dtype",
    "Missing key(s) in state_dict": "state_dict",
    "modified by an inplace operation": "inplace",
    "Trying to backward through the graph a second time": "backward",
    "does not require grad and has no grad_fn": "requires_grad",
    "'utf-8' codec can't decode byte 0xff": "decode",
    "stack expects each tensor to be equal size": "collate",
    "Compressed file ended: unexpected end of data": "corrupt",
    "embed_dim must be divisible by num_heads": "divisible",
}


@pytest.mark.parametrize(("message", "keywords"), WORDINGS.items())
def test_keywords_find_the_wording_of_the_libraries(message: str, keywords: str):
    none = features_of_run(steps_of("a"))
    found = features_of_run(steps_of("a"), error_type="RuntimeError", error_message=message)
    for keyword in keywords.split():
        assert (found[f"keyword_{keyword}"], none[f"keyword_{keyword}"]) == (1.0, 0.0)


def test_the_feature_table_has_a_row_per_run_and_methods_receive_no_key_but_the_run_id(
    small_telemetry, small_scenarios
):
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


def test_every_feature_is_in_one_group_data_by_subgroup_and_keywords_by_error_text():
    for columns in (*FEATURE_SETS.values(), *IMPORTANCE_SETS.values()):
        members = [name for names in signal_groups(columns).values() for name in names]
        assert sorted(members) == sorted(columns)
    actual = signal_groups(IMPORTANCE_SETS[TABLE_SIX])
    assert tuple(actual) == SIGNAL_GROUPS
    assert actual["perplexity"] == ("perplexity", "perplexity_trend")
    assert actual["vocabulary"] == ("vocabulary_coverage", "oov_rate")
    assert actual["sequence_length"] == ("sequence_length_spread",)
    assert all(name.startswith("keyword_") for name in actual["error_text"])
    sizes = [len(actual[name]) for name in ("training_dynamics", "memory", "configuration")]
    assert sizes == [8, 4, 3]
