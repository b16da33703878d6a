import io
import json
import math
import shutil
import sys
from pathlib import Path

import jsonschema
import polars as pl
import pytest
import yaml

from failbench.base.telemetry import write_parquet
from failbench.cli.main import main
from failbench.cli.terminal import progress_meter
from failbench.diagnose.outputs.document import schema

RUNS = Path("data/telemetry/runs.parquet")


@pytest.fixture
def project(tmp_path, repository, monkeypatch):
    """A folder with the benchmark, whose parameters and runs a test may change, as its place."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(repository / "params.yaml", tmp_path)
    RUNS.parent.mkdir(parents=True)
    shutil.copy(repository / RUNS, RUNS)
    for name in ("data/telemetry/steps", "data/scenarios"):
        Path(name).symlink_to(repository / name)
    return tmp_path


@pytest.fixture
def strange(tmp_path, repository, small_telemetry, monkeypatch):
    """Telemetry of three failing runs that the benchmark does not know, seen from its folder."""
    monkeypatch.chdir(repository)
    write_parquet(small_telemetry.runs, tmp_path / "runs.parquet")
    write_parquet(small_telemetry.steps, tmp_path / "steps" / "transformer-adamw.parquet")
    return tmp_path


@pytest.fixture
def refusal(capsys):
    """The line with which a command ends that is refused, with 2 and without a result."""

    def refused(*arguments):
        if "record" in arguments:
            pytest.importorskip("torch", reason="recording needs the extra `record`")
        assert main([*map(str, arguments)]) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert captured.out == ""
        return captured.err

    return refused


def test_check_of_an_invalid_benchmark_ends_with_1_and_says_why(project, capsys):
    assert main(["check", "--brief"]) == 0
    assert capsys.readouterr().out.endswith("The check passes.\n")
    runs = pl.read_parquet(RUNS)
    crashed = runs.filter(kind="failure", outcome="crash")["run_id"][0]
    spoilt = pl.when(pl.col("run_id") == crashed).then(pl.lit("killed"))
    write_parquet(runs.with_columns(spoilt.otherwise("outcome").alias("outcome")), RUNS)
    assert main(["check", "--brief"]) == 1
    captured = capsys.readouterr()
    assert "killed where crash was expected" in captured.out
    assert captured.out.endswith("The check FAILS.\n")
    assert captured.err == ""


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (["colour"], "red", "colour: the key is unknown. Known keys are set"),
        (
            ["settings"],
            {"transformer-adamw": {"seeds": 1, "successes": 9}},
            "settings.transformer-adamw.successes: Input should be greater",
        ),
        (
            ["nominal", "onset_step"],
            [115, 190],
            "nominal: Value error, onset_step must end at least 100 steps",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", "record"])
def test_bad_parameters_are_refused(project, refusal, command, place, value, sentence):
    params = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    *outer, last = ["record", *place]
    section = params
    for name in outer:
        section = section[name]
    section[last] = value
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    assert refusal(command).startswith(f"params.yaml: record.{sentence}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("check", f"{RUNS}: (file): is not a readable parquet file"),
        ("check --scenarios elsewhere", "elsewhere: (folder): contains no scenario files."),
        ("check --telemetry elsewhere", "elsewhere/runs.parquet: (file): "),
        (
            "record --only thrashing gremlin",
            "data/scenarios: id: there is no scenario 'gremlin'. Name an existing scenario.",
        ),
    ],
)
def test_what_is_not_there_or_broken_is_refused(project, refusal, arguments, sentence):
    RUNS.write_bytes(RUNS.read_bytes()[:-50])
    assert refusal(*arguments.split()).startswith(sentence)


def test_diagnose_writes_a_row_a_failing_run_and_method_and_counts_the_answers(strange, capsys):
    output = strange / "diagnoses.parquet"
    methods = ["simple_rules", "improved_rules"]
    assert main(["diagnose", str(strange), "--method", *methods, "--output", str(output)]) == 0
    table = pl.read_parquet(output)
    failed = pl.read_parquet(strange / "runs.parquet").filter(pl.col("kind") == "failure")
    assert sorted(table["run_id"]) == sorted([*failed["run_id"]] * 2)
    captured = capsys.readouterr()
    counts = [line for line in captured.out.splitlines() if line.startswith(("simple", "improved"))]
    assert sum(int(line.split()[-1]) for line in counts) == table.height
    assert captured.err == "diagnosing, 6 of 6 done\n"


def test_diagnosis_that_is_interrupted_ends_with_130_and_writes_nothing(
    strange, monkeypatch, capsys
):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("failbench.diagnose.batch.diagnoses_of", interrupted)
    before = sorted(strange.rglob("*"))
    output = strange / "diagnoses.parquet"
    assert main(["diagnose", str(strange), "--output", str(output)]) == 130
    assert capsys.readouterr().err == f"Stopped; nothing was written to {output}.\n"
    assert sorted(strange.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("diagnos train.log", "failbench: diagnos: there is no such command (diagnose)."),
        ("diagnose", 'failbench diagnose: Command "diagnose" parameter LOG requires an'),
        ("diagnose a.log b.log", "failbench diagnose: Unused Tokens: ['b.log']."),
        ("diagnose a.log --colour", "failbench diagnose: Unknown option: --colour."),
        ("diagnose a.log --code", 'failbench diagnose: Command "diagnose" parameter --code'),
        ("record --workers 0", 'failbench record: Invalid value "0" for --workers.'),
        ("freeze 5 --date soon", "failbench freeze: Invalid value for --date: unable"),
        ("foresee tried.ipynb --target 0.7", "'0.7' is no whole number."),
    ],
)
def test_a_command_that_cannot_be_understood_is_refused(arguments, complaint, refusal):
    said = refusal(*arguments.split())
    assert complaint in said
    assert said.startswith(complaint) or not complaint.startswith("failbench")


@pytest.mark.parametrize(("terminal", "shown"), [(False, "diagnosing, 3 of 7 done"), (True, "━")])
def test_progress_goes_to_standard_error_even_if_a_command_ends_early(
    terminal, shown, monkeypatch, capsys
):
    def interrupted():
        with progress_meter() as meter:
            meter.show("diagnosing", 3, 7, kept=0)
            raise KeyboardInterrupt

    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")  # by which rich takes anything for a terminal
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert shown in captured.err
    assert "under a minute left" in captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        "--code=train.py train.log",
        "--code train.py --failed train.log",
        "train.log --code train.py",
    ],
)
def test_an_option_that_lists_leaves_the_log_its_place(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("x = 1\n", encoding="utf-8")
    Path("train.log").write_text("step 1 loss 2.0\n", encoding="utf-8")
    assert main(["diagnose", *arguments.split()]) in (1, 3, 5)


# `failbench diagnose LOG`.

UNEVEN = """\
step=1 loss=3.0
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    for batch in loader:
RuntimeError: stack expects each tensor to be equal size, but got [4] at entry 0 and [5] at entry 1
"""
HEALTHY = "\n".join(f"step={step} loss={9 * math.exp(-step / 80):.4f}" for step in range(120))


@pytest.fixture
def diagnose(tmp_path, capsys):
    """The status of the command for a text, and what it printed."""

    def run(text, *options, name="train.log"):
        (tmp_path / name).write_text(text)
        status = main(["diagnose", str(tmp_path / name), *map(str, options)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_a_healthy_log_is_exit_status_0_and_one_of_no_training_4(diagnose):
    status, page, _ = diagnose(HEALTHY)
    assert (status, page[:7]) == (0, "Healthy")
    assert diagnose(HEALTHY, "--failed")[0] in (1, 3)
    status, page, error = diagnose("the moon is full\n", name="train\x1b[31m.log")
    assert (status, page[:15], error) == (4, "No training log", "")
    assert "\x1b" not in page


def test_a_document_is_as_the_published_schema_says(diagnose, tmp_path):
    page, plot = tmp_path / "why.html", tmp_path / "why.svg"
    status, document, _ = diagnose(UNEVEN, "--json", "--html", page, "--plot", plot)
    document = json.loads(document)
    jsonschema.validate(document, schema())
    assert status == 1
    assert document["analysis_artifacts"] == {"page": str(page), "curves": str(plot)}
    assert page.is_file()
    assert plot.is_file()


def test_a_paste_is_read_from_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UNEVEN.encode())))
    assert main(["diagnose", "-"]) == 1
    assert "line 5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("--method simple_rules", "--method"), ("--features features.parquet", "--features"),
        ("--output a.csv --json", "--json"), ("--output a.csv --all", "--all"),
        ("--output a.csv --run x", "--run"),
        ("--output a.csv --code a.py", "--code"), ("--plot why.gif", ".gif"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(diagnose, options, named):
    status, page, error = diagnose(UNEVEN, *options.split())
    assert (status, page) == (2, "")
    assert named in error
