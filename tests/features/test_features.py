import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.base.telemetry import RUN_SCHEMA, Telemetry
from failbench.features.catalogue import FEATURE_SETS, FEATURES, extract, signal_groups
from failbench.features.feature_table import (
    ERROR_TEXT_COLUMNS,
    KEYS,
    RAW_SERIES,
    RAW_TEXT,
    feature_table,
    raw_table,
    snapshot_table,
    to_frame,
)
from failbench.features.observables import (
    RUN_COLUMNS,
    STEP_COLUMNS,
    observe,
    without_project_frames,
)
from made_up_telemetry import telemetry_of
from shared.importance import IMPORTANCE_SETS
from smooth_run import healthy

TRACEBACK = """Traceback (most recent call last):
  File "failbench/recording/child.py", line 12, in run
    training.train_step()
  File "failbench/recording/faults/data.py", line 40, in ids_past_the_vocabulary
    return model(
        ids,
    )
    ^^^^^^
  [Previous line repeated 3 more times]
  File "torch/nn/functional.py", line 2546, in embedding
    return torch.embedding(weight, input)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
IndexError: index out of range in self
"""

NEVER_SEEN = {
    "run_id", "kind", "scenario", "category", "twin_of", "seed", "ending", "outcome", "onset_step",
    "failure_step", "steps", "exit_signal", "planned_steps", "distractor", "capacity_multiple",
    "fingerprint",
}  # fmt: skip


def telemetry(**steps_by_run: int) -> Telemetry:
    error = {"error_type": "IndexError", "error_message": "index out of range in self"}
    error |= {"error_traceback": TRACEBACK}
    runs = [
        error | {"run_id": run_id, "steps": count, "capacity_bytes": 100 + index}
        for index, (run_id, count) in enumerate(steps_by_run.items())
    ]
    steps = [
        {"run_id": run_id, "step": step, "loss": 5.0 - 0.1 * step}
        for run_id, count in steps_by_run.items()
        for step in range(count)
    ]
    return telemetry_of(runs, steps)


def at(**last_steps: int | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"run_id": list(last_steps), "last_step": list(last_steps.values())},
        schema={"run_id": pl.String, "last_step": pl.Int32},
    )


def test_observables_have_no_column_that_tells_the_cause_or_the_draw():
    seen = {*RUN_COLUMNS, *STEP_COLUMNS}
    assert not seen & NEVER_SEEN
    assert not [name for name in seen if name.startswith("nominal_")]


@given(kept=st.integers(-1, 5))
def test_a_snapshot_equals_the_end_of_a_run_that_was_physically_cut_there(kept: int):
    whole = telemetry(a=6, b=4)
    names = ("error_type", "error_message", "error_traceback")
    unknown = whole.runs.with_columns(pl.lit(None, pl.String).alias(name) for name in names)
    runs = unknown if kept < 5 else whole.runs
    cut = Telemetry(
        pl.concat([runs.filter(pl.col("run_id") == "a"), whole.runs[1:]]),
        whole.steps.filter((pl.col("run_id") == "b") | (pl.col("step") <= kept)),
    )
    snapshot, _ = observe(whole, at(a=kept, b=3))
    end, _ = observe(cut, at(a=kept, b=3))
    assert snapshot.runs.equals(end.runs)
    assert snapshot.steps.equals(end.steps)
    assert snapshot.steps.filter(pl.col("row") == 0).height == kept + 1


@pytest.mark.parametrize("last_step", [0, None])
def test_a_run_without_steps_is_kept_with_its_error_text(last_step: int | None):
    observables, _ = observe(telemetry(a=0, b=2), at(a=last_step, b=1))
    assert observables.runs["error_type"].to_list() == ["IndexError", "IndexError"]
    assert observables.steps["row"].to_list() == [1, 1]


def test_project_frames_go_and_library_frames_and_messages_stay_verbatim():
    lines = TRACEBACK.splitlines(keepends=True)
    cleaned = pl.Series([TRACEBACK]).to_frame("t").select(without_project_frames(pl.col("t")))
    assert cleaned["t"].to_list() == ["".join([lines[0], *lines[-4:]])]


def test_an_unknown_run_and_one_with_steps_but_no_last_are_refused():
    with pytest.raises(BadInputError, match="'nowhere' is not in the telemetry"):
        observe(telemetry(a=3), at(nowhere=1))
    with pytest.raises(BadInputError, match="'a' has steps but no last step"):
        observe(telemetry(a=3), at(a=None))


# Rows of runs that are cut, and series as they were logged.

CRASHED = "late_crash-transformer-adamw-s0"
OF_IT = pl.col("run_id") == CRASHED


def cuts_of(*steps: int) -> pl.DataFrame:
    cuts = {"run_id": [CRASHED] * len(steps), "last_step": list(steps)}
    return pl.DataFrame(cuts, schema_overrides={"last_step": pl.Int32})


def test_a_snapshot_is_the_feature_row_of_the_run_cut_there(small_telemetry, small_scenarios):
    several = snapshot_table(small_telemetry, small_scenarios, cuts_of(6, 2, 4))
    for step in (2, 4, 6):
        alone = feature_table(small_telemetry, small_scenarios, cuts_of(step))
        mine = several.filter(run_id=f"{CRASHED}@{step}")
        assert mine.drop("run_id").equals(alone.drop("run_id"))


def raw(runs, steps, scenarios, run_id=CRASHED):
    return raw_table(Telemetry(runs, steps), scenarios).filter(run_id=run_id).row(0, named=True)


def test_a_series_is_what_the_run_logged_up_to_its_failure(small_telemetry, small_scenarios):
    runs, steps = small_telemetry.runs, small_telemetry.steps
    (failure,) = runs.filter(OF_IT)["failure_step"]
    logged = steps.filter(OF_IT, pl.col("step") <= failure)
    mine = raw(runs, steps, small_scenarios)
    for name in RAW_SERIES:
        assert mine[name] == logged[name].cast(pl.Float64).to_list()
    # of a run that failed before its end neither later steps nor its error are shown
    fourth = pl.when(OF_IT).then(4).otherwise("failure_step").cast(pl.Int32)
    early = runs.with_columns(failure_step=fourth)
    mine = raw(early, steps, small_scenarios)
    assert mine["step"] == [0, 1, 2, 3, 4]
    assert [mine[name] for name in RAW_TEXT] == ["", "", ""]
    empty = raw(runs, steps, small_scenarios, "no_start-transformer-adamw-s0")
    assert [empty[name] for name in RAW_SERIES] == [[]] * len(RAW_SERIES)


def test_what_was_logged_as_nan_is_told_from_what_was_not_logged(small_telemetry, small_scenarios):
    there = OF_IT & (pl.col("step") == 1)
    loss = pl.when(there).then(float("nan")).otherwise("loss").cast(pl.Float32)
    norm = pl.when(~there).then("gradient_norm")
    steps = small_telemetry.steps.with_columns(loss=loss, gradient_norm=norm)
    mine = raw(small_telemetry.runs, steps, small_scenarios)
    assert (mine["loss"][1], mine["gradient_norm"][1]) == (float("inf"), None)


# Features of what is observed.

STEPS = 60


def features_of(*run_ids: str, **run: object) -> pl.DataFrame:
    """Of healthy runs, whose losses and gradients differ by the letters that name them."""
    usual = {"kind": "failure", "capacity_bytes": 20_000_000, "parameters": 12_345} | run
    runs = pl.DataFrame([usual | {"run_id": name} for name in run_ids], schema=RUN_SCHEMA)
    steps = pl.concat(
        healthy(STEPS).with_columns(
            pl.col("loss", "gradient_norm") * ord(name), run_id=pl.lit(name)
        )
        for name in run_ids
    )
    last_steps = runs.select("run_id", last_step=pl.lit(STEPS - 1, pl.Int32))
    return extract(observe(Telemetry(runs, steps), last_steps)[0])


def test_a_run_has_the_same_features_alone_and_among_others():
    alone = features_of("b").drop("row")
    among = features_of("a", "b", "c").drop("row")
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
    none = features_of("a")[f"keyword_{keyword}"][0]
    found = features_of("a", error_type="RuntimeError", error_message=message)
    assert (found[f"keyword_{keyword}"][0], none) == (1.0, 0.0)


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
