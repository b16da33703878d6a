import hashlib
import shutil

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.neighbours import external
from pipeline import REPOSITORY

COPY = REPOSITORY / "data/external/default"
SOURCES = external.read_sources(COPY)
WRITTEN = "loss,memory,label\n0.1,inf,buggy\n,1e-09,correct\n12.000000000000002,-3.5,buggy\n"


def put(released, copy, content=WRITTEN):
    """A released file, and a list of sources that has it."""
    (released / "a.csv").write_text(content, encoding="utf-8")
    digest = hashlib.sha256(content.encode()).hexdigest()
    (copy / "sources.csv").write_text(
        f"table,source,folder,positive,bytes,sha256\nloss,a.csv,g,Loss,{len(content)},{digest}\n",
        encoding="utf-8",
    )


@pytest.fixture
def folders(tmp_path):
    """A folder of a released file, and one of its copy."""
    for name in ("released", "copied"):
        (tmp_path / name).mkdir()
    put(tmp_path / "released", tmp_path / "copied")
    return tmp_path / "released", tmp_path / "copied"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.table)
def test_a_table_written_back_is_the_released_file_byte_for_byte(source):
    content = external.as_released(pl.read_parquet(external.path_of(COPY, source.table)))
    assert len(content) == source.bytes
    assert hashlib.sha256(content).hexdigest() == source.sha256


def test_the_command_copies_what_has_the_hash(folders, capsys):
    released, copy = folders
    assert main(["external-default", str(released), "--output", str(copy)]) == 0
    table = pl.read_parquet(copy / "tables/loss.parquet")
    assert table["loss"].to_list() == [0.1, None, 12.000000000000002]
    assert table["memory"].to_list() == [float("inf"), 1e-9, -3.5]
    assert capsys.readouterr().out == f"{copy / 'tables/loss.parquet'}\n"


def test_a_file_with_another_hash_is_refused_and_nothing_is_written(folders, capsys):
    released, copy = folders
    (released / "a.csv").write_text(WRITTEN.replace("0.1", "0.2"), encoding="utf-8")
    assert main(["external-default", str(released), "--output", str(copy)]) == 2
    error = capsys.readouterr().err
    assert "a.csv: sha256: is " in error
    assert "PROVENANCE.md" in error
    assert not (copy / "tables").exists()


def test_a_missing_file_is_named_with_the_place_to_fetch_it_from(folders):
    released, copy = folders
    (released / "a.csv").unlink()
    with pytest.raises(BadInputError, match=r"a\.csv: \(file\): cannot be read\. Fetch g/a\.csv"):
        external.copy_released(released, copy)


def test_a_table_of_one_label_or_none_is_refused(tmp_path):
    copy = shutil.copytree(COPY, tmp_path / "copy")
    path = external.path_of(copy, external.DETECTION)
    pl.read_parquet(path).with_columns(label=pl.lit(external.BUGGY)).write_parquet(path)
    with pytest.raises(BadInputError, match="label: has the labels buggy"):
        external.read_released(copy)
    path.unlink()
    with pytest.raises(BadInputError, match="failbench external-default"):
        external.read_released(copy)
