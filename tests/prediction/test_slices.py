from __future__ import annotations

import polars as pl
import pytest
import yaml

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.slices import ReferenceStudy
from failbench.base.studies import across_architectures_files

STUDY = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0, 1), seed=0
)


def test_failing_runs_of_every_named_seed_are_taken(failures: pl.DataFrame) -> None:
    assert STUDY.failures(failures).height == failures.height
    assert failures["seed"].unique().sort().to_list() == [0, 1]


def test_of_a_single_seed_there_is_one_run_per_scenario(failures: pl.DataFrame) -> None:
    of_seed = STUDY.with_seed(1).failures(failures)
    assert of_seed["seed"].unique().to_list() == [1]
    assert not of_seed["scenario"].is_duplicated().any()
    assert of_seed["scenario"].n_unique() == failures["scenario"].n_unique()


@pytest.mark.parametrize(
    ("seeds", "problem"), [("[]", "run_seeds"), ("[0, 0]", "twice"), ("[-1]", "run_seeds")]
)
def test_no_seed_and_a_seed_named_twice_are_refused(tmp_path, seeds: str, problem: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(
        "nested_cv: {architecture: transformer, optimizer: adamw, scale: small, "
        f"run_seeds: {seeds}, seed: 0}}\n",
        encoding="utf-8",
    )
    with pytest.raises(BadInputError, match=problem):
        read_section("nested_cv", ReferenceStudy, path)


def test_the_files_across_architectures_are_those_that_are_committed(repository):
    params = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))
    folder = repository / "data/predictions/across_architectures"
    committed = {path.stem for path in folder.glob("*.parquet")}
    assert set(across_architectures_files(params["methods"])) == committed
