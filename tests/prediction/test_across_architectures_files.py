from __future__ import annotations

import yaml

from failbench.base.studies import across_architectures_files


def test_the_files_across_architectures_are_those_that_are_committed(repository):
    params = yaml.safe_load((repository / "params.yaml").read_text(encoding="utf-8"))
    folder = repository / "data/predictions/across_architectures"
    committed = {path.stem for path in folder.glob("*.parquet")}
    assert set(across_architectures_files(params["methods"])) == committed


def test_what_asks_the_monitor_first_has_a_file_where_the_monitor_is_asked():
    assert "hybrid_monitor" in across_architectures_files(["random_forest", "invariants"])
    assert "hybrid_monitor" not in across_architectures_files(["random_forest", "ending"])


def test_a_method_taken_out_of_the_comparison_has_no_file():
    assert "ebm" not in across_architectures_files(["random_forest"])
