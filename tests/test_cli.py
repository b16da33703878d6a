"""The command line: exit statuses, and one sentence on standard error for bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
import yaml

from failbench.base.scenarios import COUNTS, FaultDeclaration
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry, write_parquet
from failbench.cli.main import commands, main, overview
from failbench.cli.terminal import SECONDS_BETWEEN_LINES, LineMeter, progress_meter
from failbench.recording.fingerprint import PROVENANCE, fingerprint
from failbench.recording.nominal import NominalRanges

PLANNED, ONSET = 225, 115
PARAMS: dict[str, dict[str, object]] = {
    "record": {
        "settings": {"transformer-adamw": {"seeds": 1, "successes": 10}},
        "hang_seconds": 1,
        "wall_limit_seconds": 1,
        "nominal": {
            "batch_size": [4],
            "learning_rate": {"adamw": [0.1, 0.2], "sgd": [0.1, 0.2]},
            "width": [8],
            "sequence_length": [8],
            "warmup_steps": [1, 2],
            "clip_norm": [None],
            "planned_steps": [PLANNED, PLANNED],
            "onset_step": [ONSET, ONSET],
            "capacity_multiple": [1.5, 2.0],
            "distractor": ["none"],
        },
    },
    "detector": {
        "deviations": 3,
        "consecutive_steps": 20,
        "head_steps": 100,
        "tail_steps": 50,
        "validations": 3,
        "slow_factor": 2.0,
        "worse_nats": 0.05,
    },
}
FAULT = FaultDeclaration(name="loss_graph_retained", parameters={"every": 5}, onset="mid_run")
RUNS = Path("data/telemetry/runs.parquet")


def write_params(**changes: object) -> None:
    """Write params.yaml, with other values in its section ``record``."""
    params = PARAMS | {"record": PARAMS["record"] | changes}
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def declare(category: str, index: int) -> tuple[str, FaultDeclaration]:
    """Write one scenario that crashes, the first two of most categories at their start."""
    name = f"{category}_{index}"
    early = index < 2 and category != "unknown"
    fault = FAULT.model_copy(update={"onset": "start_crash"}) if early else FAULT
    difficulty = ("hard", "easy", "hard", "medium")[index % 4]
    other = "optimization" if category != "optimization" else "data_pipeline"
    content = {
        "id": name,
        "title": "A title of a test",
        "category": category,
        "root_cause": "A cause that a test made up.",
        "difficulty": difficulty,
        "symptom_category": other if difficulty == "hard" else category,
        "fault": fault.model_dump(),
        "expected_outcome": "crash",
        "ambiguity": "truly_ambiguous" if category == "unknown" else None,
        "remedy": "None is needed, it is a test.",
        "rationale": "It takes so many of them.",
    }
    path = Path("data/scenarios") / category / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return name, fault


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small benchmark that is valid by every rule, as working directory."""
    monkeypatch.chdir(tmp_path)
    write_params()
    ranges = NominalRanges.model_validate(PARAMS["record"]["nominal"])  # type: ignore[index]
    provenance = dict.fromkeys(PROVENANCE, "one") | {"device": "cpu"}
    common = provenance | {
        "architecture": "transformer",
        "optimizer": "adamw",
        "scale": "small",
        "device": "cpu",
        "seed": 0,
    }
    well = {
        "ending": "completed",
        "outcome": "completed",
        "failure_step": PLANNED - 1,
        "steps": PLANNED,
        "fingerprint": fingerprint(ranges, "adamw", None, provenance),
    }
    rows = [
        {"run_id": f"success-{item}", "kind": "success", **common, **well, "seed": item}
        for item in range(10)
    ]
    for category, count in COUNTS.items():
        for index in range(count):
            name, fault = declare(category, index)
            onset, last = (ONSET, PLANNED - 1) if fault.onset == "mid_run" else (0, 0)
            crash = {
                "ending": "exception",
                "outcome": "crash",
                "onset_step": onset,
                "failure_step": last,
                "steps": last + 1,
                "error_type": "RuntimeError",
                "fingerprint": fingerprint(ranges, "adamw", fault, provenance),
            }
            rows.append({"run_id": name, "kind": "failure", "scenario": name, **common, **crash})
            twin = {"run_id": f"{name}-twin", "kind": "twin", "scenario": name, "twin_of": name}
            rows.append(twin | common | well)
    step = pl.int_range(PLANNED)
    loss = 2 + 4 * (-step / 20).exp()
    healthy = pl.select(
        step=step,
        loss=loss,
        gradient_norm=1.0,
        step_seconds=0.1,
        validation_loss=pl.when(step % 10 == 0).then(loss),
    )
    steps = [healthy[: row["steps"]].with_columns(run_id=pl.lit(row["run_id"])) for row in rows]
    empty = STEP_SCHEMA.to_frame()
    table = pl.concat([empty, *steps], how="diagonal_relaxed").cast(dict(STEP_SCHEMA))
    write_parquet(pl.DataFrame(rows, schema=RUN_SCHEMA), RUNS)
    write_parquet(table, Path("data/telemetry/steps/transformer-adamw.parquet"))
    return tmp_path


def test_check_of_a_valid_benchmark_ends_with_0(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--brief"]) == 0
    captured = capsys.readouterr()
    assert "76 of 76 failing runs pass with their twins" in captured.out
    assert captured.out.endswith("The check passes.\n")
    assert captured.err == ""


def test_check_of_an_invalid_benchmark_ends_with_1_and_says_why(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoilt = pl.when(pl.col("run_id") == "unknown_7").then(pl.lit("killed"))
    write_parquet(
        pl.read_parquet(RUNS).with_columns(spoilt.otherwise("outcome").alias("outcome")), RUNS
    )
    assert main(["check", "--brief"]) == 1
    captured = capsys.readouterr()
    assert "killed where crash was expected" in captured.out
    assert captured.out.endswith("The check FAILS.\n")
    assert captured.err == ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"colour": "red"},
            "params.yaml: record.colour: the key is unknown. Known keys are settings",
        ),
        (
            {"settings": {"transformer-adamw": {"seeds": 1, "successes": 9}}},
            "params.yaml: record.settings.transformer-adamw.successes: Input should be greater",
        ),
        (
            {"nominal": PARAMS["record"]["nominal"] | {"onset_step": [115, 126]}},  # type: ignore[operator]
            "params.yaml: record.nominal: Value error, onset_step must end at least 100 steps",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", "record"])
def test_bad_parameters_end_with_2_and_one_line(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    changes: dict[str, object],
    sentence: str,
) -> None:
    if command == "record":
        pytest.importorskip("torch", reason="recording needs the extra `record`")
    write_params(**changes)
    assert main([command]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(sentence)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_truncated_telemetry_ends_with_2_and_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    RUNS.write_bytes(RUNS.read_bytes()[:-50])
    assert main(["check"]) == 2
    captured = capsys.readouterr().err
    assert captured.startswith(f"{RUNS}: (file): is not a readable parquet file")
    assert captured.count("\n") == 1


def test_folders_are_taken_from_the_options(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--scenarios", "elsewhere"]) == 2
    assert capsys.readouterr().err.startswith("elsewhere: (folder): holds no scenario files.")
    assert main(["check", "--telemetry", "elsewhere"]) == 2
    assert capsys.readouterr().err.startswith("elsewhere/runs.parquet: (file): ")


def test_scenario_to_record_that_is_not_there_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="recording needs the extra `record`")
    assert main(["record", "--only", "unknown_7", "gremlin"]) == 2
    assert capsys.readouterr().err == (
        "data/scenarios: id: there is no scenario 'gremlin'. Name an existing scenario.\n"
    )


@pytest.fixture
def strange(
    tmp_path: Path,
    repository: Path,
    small_telemetry: Telemetry,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Telemetry of three failing runs that the benchmark does not know, seen from its folder."""
    monkeypatch.chdir(repository)
    write_parquet(small_telemetry.runs, tmp_path / "runs.parquet")
    write_parquet(small_telemetry.steps, tmp_path / "steps" / "transformer-adamw.parquet")
    return tmp_path


def test_diagnose_writes_a_row_a_failing_run_and_method_and_counts_the_answers(
    strange: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = strange / "diagnoses.parquet"
    methods = ["simple_rules", "improved_rules"]
    assert main(["diagnose", str(strange), "--method", *methods, "--output", str(output)]) == 0
    table = pl.read_parquet(output)
    failed = pl.read_parquet(strange / "runs.parquet").filter(pl.col("kind") == "failure")
    assert sorted(table["run_id"]) == sorted([*failed["run_id"]] * 2)
    captured = capsys.readouterr()
    printed = [
        line for line in captured.out.splitlines() if line.startswith(("simple", "improved"))
    ]
    assert sum(int(line.split()[-1]) for line in printed) == table.height
    assert captured.err == "diagnosing, 6 of 6 done\n"


def test_diagnosis_that_is_interrupted_ends_with_130_and_writes_nothing(
    strange: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("failbench.diagnose.batch.diagnoses.diagnoses_of", interrupted)
    before = sorted(strange.rglob("*"))
    output = strange / "diagnoses.parquet"
    assert main(["diagnose", str(strange), "--output", str(output)]) == 130
    assert capsys.readouterr().err == f"Stopped; nothing was written to {output}.\n"
    assert sorted(strange.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--method", "crystal_ball"], "command line: --method: 'crystal_ball' is unknown. Choose"),
        (["--method", "simulated_human"], "command line: --method: 'simulated_human' needs the"),
        (["--features", "elsewhere"], "elsewhere: (file): is missing or is not a parquet file."),
    ],
)
def test_what_cannot_diagnose_ends_with_2_and_one_line(
    strange: Path, capsys: pytest.CaptureFixture[str], options: list[str], complaint: str
) -> None:
    assert main(["diagnose", str(strange), "--output", str(strange / "out.csv"), *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(complaint)
    assert captured.err.count("\n") == 1


def test_every_command_has_its_function_with_arguments_that_can_be_read():
    for command in commands().values():
        arguments = command.app[command.name].assemble_argument_collection()
        assert len(arguments) > 0
        assert all(argument.names for argument in arguments)
        assert command.name in overview()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["diagnos", "train.log"], "failbench: diagnos: there is no such command (diagnose)."),
        (["diagnose"], 'failbench diagnose: Command "diagnose" parameter LOG requires an'),
        (["diagnose", "a.log", "b.log"], "failbench diagnose: Unused Tokens: ['b.log']."),
        (["diagnose", "a.log", "--colour"], "failbench diagnose: Unknown option: --colour."),
        (
            ["diagnose", "a.log", "--code"],
            'failbench diagnose: Command "diagnose" parameter --code',
        ),
        (["lens", "microscope", "a.csv"], 'failbench lens: Invalid value "microscope" for LENS.'),
        (["record", "--workers", "0"], 'failbench record: Invalid value "0" for --workers.'),
        (["record", "--shard", "1/2", "--merge"], "failbench record: Invalid values for group"),
        (["freeze", "5", "--date", "soon"], "failbench freeze: Invalid value for --date: unable"),
        (["diagnose", "a.log", "--method", "x"], "diagnose: --method: is of the form that"),
        (["diagnose", "a.log", "--output", "x.csv", "--all"], "diagnose: --all: is of the form"),
    ],
)
def test_a_command_that_cannot_be_understood_ends_with_2_and_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(complaint)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


class Clock:
    """A clock that a test moves."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_off_a_terminal_a_line_is_written_when_the_last_is_long_ago() -> None:
    clock, stream = Clock(), io.StringIO()
    meter = LineMeter(stream, clock)
    for done in range(1, 7):
        clock.seconds += SECONDS_BETWEEN_LINES / 2
        meter.show("recording", done, 6, 60.0 * (6 - done))
    assert stream.getvalue().splitlines() == [
        "recording, 2 of 6 done, 4 min left",
        "recording, 4 of 6 done, 2 min left",
        "recording, 6 of 6 done",
    ]


def test_off_a_terminal_lines_go_to_standard_error_even_if_a_command_ends_early(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted() -> None:
        with progress_meter() as meter:
            meter.show("diagnosing", 3, 7)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "diagnosing, 3 of 7 done\n")


def test_on_a_terminal_there_is_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # by which rich takes anything for a terminal
    with progress_meter() as meter:
        meter.show("diagnosing", 3, 7, 150.0)
    said = capsys.readouterr().err
    assert "━" in said
    assert "3 min left" in said
