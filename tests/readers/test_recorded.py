import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_telemetry
from failbench.diagnose.readers.opening import read_log
from pipeline import REPOSITORY

FOLDER = REPOSITORY / "data/telemetry"


@pytest.fixture(scope="module")
def telemetry():
    return read_telemetry(FOLDER)


def run_of(telemetry, **which):
    return telemetry.runs.filter(**which).sort("run_id").row(0, named=True)


@pytest.mark.parametrize(
    ("ending", "named_by"),
    [("exception", "error_type"), ("signal", "exit_signal"), ("timeout", None), ("completed", "")],
)
def test_a_recorded_run_is_read_as_it_was_recorded(telemetry, ending, named_by):
    run = run_of(telemetry, ending=ending)
    log = read_log(FOLDER, run["run_id"])
    steps = telemetry.select(pl.col("run_id") == run["run_id"]).steps
    losses = log.series("loss")
    assert losses.step.tolist() == steps.drop_nulls("loss")["step"].to_list()
    assert losses["loss"].tolist() == steps["loss"].drop_nulls().cast(pl.Float64).to_list()
    assert len(log.series("loss", "validation")) == steps["validation_loss"].count()
    assert log.absent == ("perplexity",)
    names = [] if ending == "completed" else [run[named_by] if named_by else ""]
    assert [event.name for event in log.events] == names


@pytest.mark.parametrize(("run", "words"), [(None, "no run is named"), ("nobody", "no run of it")])
def test_a_folder_of_many_runs_wants_a_name(run, words):
    with pytest.raises(BadInputError, match=words) as error:
        read_log(FOLDER, run)
    assert "--run" in error.value.remedy
