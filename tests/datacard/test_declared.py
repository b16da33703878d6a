import pytest

from failbench.base.errors import BadInputError
from failbench.publish.datacard.main_tables import described_columns
from failbench.publish.datacard.statements import (
    read_dictionary,
)


def named(error: pytest.ExceptionInfo[BadInputError]) -> str:
    return f"{error.value.place} {error.value.field}"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "(columns)"),
        ("path,content\na,b\n", "(columns)"),
        ("path,content,key\n", "(rows)"),
        ("path,content,key\na,,\n", "files.csv:2 content"),
        ("path,content,key\na,b,c,d\n", "files.csv:2 content"),
        ('path,content,key\n"a\n', "(file)"),
        ("\udcff", "(file)"),
    ],
)
def test_a_broken_dictionary_of_files_is_named(tmp_path, text, field):
    path = tmp_path / "files.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInputError) as error:
        read_dictionary(path)
    assert field in named(error)


@pytest.mark.parametrize(
    ("names", "field"),
    [(("repeat", "fold", "scenario", "new"), "new"), (("repeat", "fold"), "scenario")],
)
def test_columns_and_their_descriptions_must_agree(names, field):
    with pytest.raises(BadInputError) as error:
        described_columns("splits", dict.fromkeys(names, ("text", 0)))
    assert named(error) == f"failbench/publish/datacard/data/columns.csv splits.{field}"
