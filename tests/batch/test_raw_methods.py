"""Methods of raw telemetry, fitted to a made-up benchmark and asked about a folder of a user."""

import polars as pl
import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry, read_telemetry, write_parquet
from failbench.cli.methods import diagnose_telemetry, study_of
from failbench.cli.places import Reference
from failbench.diagnose.batch import raw_training_runs, read_features
from failbench.features.feature_table import feature_table
from made_up_telemetry import made_up_scenarios, made_up_telemetry

FAILED = pl.col("kind") == "failure"


def recorded_runs(seeds):
    """Made-up runs of which those that fail raise an error that names the cause."""
    telemetry = made_up_telemetry(seeds=seeds)
    cause = pl.col("scenario").str.replace(r"_\d$", "")
    message = pl.when(FAILED).then(pl.format("the {} failed", cause)).otherwise("error_message")
    return Telemetry(telemetry.runs.with_columns(error_message=message), telemetry.steps)


def write_telemetry(telemetry, folder):
    write_parquet(telemetry.runs, folder / "runs.parquet")
    write_parquet(telemetry.steps, folder / "steps" / "transformer-adamw.parquet")
    return folder


@pytest.fixture(scope="module")
def checkout(repository, tmp_path_factory):
    """A benchmark of 40 failing runs, with the settings of methods but for few convolutions."""
    root = tmp_path_factory.mktemp("checkout")
    params = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))
    params["raw_telemetry"] |= {"kernels": 84, "inverse_penalty": [10.0]}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (root / "data" / "scenarios").mkdir(parents=True)
    recorded = recorded_runs(seeds=2)
    write_telemetry(recorded, root / "data" / "telemetry")
    features = feature_table(recorded, made_up_scenarios())
    write_parquet(features, root / "data" / "features" / "features.parquet")
    return root


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of a third seed, which no method has seen."""
    others = recorded_runs(seeds=3).select(pl.col("seed") == 2)
    return write_telemetry(others, tmp_path_factory.mktemp("mine"))


def diagnose(checkout, folder, output, *methods):
    return diagnose_telemetry(
        telemetry=folder, method=methods, output=output, features=None, reference=checkout
    )


def test_a_training_run_without_telemetry_is_named(checkout, tmp_path):
    reference = Reference(checkout)
    features = read_features(reference.features)
    recorded = read_telemetry(checkout / "data" / "telemetry")
    part = write_telemetry(recorded.select(pl.col("seed") == 0), tmp_path)
    complaint = r"runs\.parquet: run_id: 'data_pipeline_0-adamw-s1' of the feature table is not"
    with pytest.raises(BadInputError, match=complaint):
        raw_training_runs(part, features, study_of(reference))


def test_a_folder_is_diagnosed_by_raw_methods_beside_others(checkout, folder, tmp_path, capsys):
    methods = ("raw_series", "simple_rules", "raw_telemetry")
    assert diagnose(checkout, folder, tmp_path / "out.csv", *methods) == 0
    table = pl.read_csv(tmp_path / "out.csv")
    failed = read_telemetry(folder).runs.filter(FAILED)
    keys = [(run, name) for run in failed["run_id"] for name in methods]
    assert table.select("run_id", "method").rows() == keys
    # What a fault adds to the loss depends on its category, and no feature is needed to see it.
    truth = pl.col("run_id").str.replace(r"_\d-.*", "")
    right = table.filter(pl.col("method") == "raw_series", pl.col("diagnosis") == truth)
    assert right.height > failed.height / 2
    captured = capsys.readouterr()
    assert captured.err.splitlines()[:2] == [
        "fitting raw_series to 40 runs, which takes minutes",
        "fitting raw_telemetry to 40 runs, which takes minutes",
    ]
    assert "simple_rules: " in captured.out


STEPS = "steps/transformer-adamw.parquet"
FOREIGN = pl.DataFrame({"x": [1]})
BROKEN = {
    "runs.parquet": lambda path: path.unlink(),
    STEPS: lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "steps/gru-sgd.parquet": lambda path: write_parquet(FOREIGN, path),
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("method", ["simple_rules", "raw_text"])
def test_a_broken_folder_is_named_before_a_fit(checkout, tmp_path, monkeypatch, method, broken):
    def fit(*_):
        raise AssertionError("a method was fitted")

    monkeypatch.setattr("failbench.cli.methods.fitted_methods", fit)
    folder = write_telemetry(recorded_runs(seeds=1), tmp_path / "mine")
    BROKEN[broken](folder / broken)
    with pytest.raises(BadInputError) as caught:
        diagnose(checkout, folder, tmp_path / "out.csv", method)
    assert caught.value.place == str(folder / broken)
    assert "git" not in caught.value.remedy
