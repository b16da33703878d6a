from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.records import Record


class Settings(Record):
    folds: int = Field(ge=2)
    names: tuple[str, ...] = ()


@pytest.fixture
def params(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "params.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_section_becomes_a_typed_record(params):
    path = params("study: {folds: 5, names: [a]}\nother: {x: 1}")
    assert read_section("study", Settings, path) == Settings(folds=5, names=("a",))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("study: {folds: 5, fold: 3}", r"study\.fold: the key is unknown\. Known keys are folds"),
        ("study: {folds: 1}", r"study\.folds: .*greater than or equal to 2 \(found 1\)"),
        ("study: {folds: many}", r"study\.folds: .*valid integer.* \(found 'many'\)"),
        ("study: {}", r"study\.folds: Field required"),
        ("other: {folds: 5}", r"study: the section is missing or empty\. Give it the keys folds"),
        ("study: 5", r"study: the section is missing or empty"),
        ("study: [", r"\(file\): is not YAML"),
    ],
)
def test_bad_parameters_are_refused_by_file_key_and_remedy(params, text, complaint):
    with pytest.raises(BadInputError, match=r"params\.yaml: " + complaint):
        read_section("study", Settings, params(text))


def test_a_missing_file_says_where_to_run_from(tmp_path):
    with pytest.raises(BadInputError, match="from the repository's root"):
        read_section("study", Settings, tmp_path / "params.yaml")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(b"study: \xff")
    with pytest.raises(BadInputError, match=r"\(file\): is not YAML"):
        read_section("study", Settings, path)


def test_a_file_that_has_changed_is_read_again(params):
    assert read_section("study", Settings, params("study: {folds: 5}")).folds == 5
    assert read_section("study", Settings, params("study: {folds: 6}")).folds == 6
