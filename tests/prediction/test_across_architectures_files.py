from __future__ import annotations

import yaml

from failbench.base.studies import across_architectures_files


def test_the_files_across_architectures_are_those_that_are_committed(repository):
    params = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))
    folder = repository / "data/predictions/across_architectures"
    committed = {path.stem for path in folder.glob("*.parquet")}
    assert set(across_architectures_files(params["methods"])) == committed
