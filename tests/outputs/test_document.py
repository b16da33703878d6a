import json
import math

import jsonschema
import pytest

import made_up_answers as answers
from failbench.diagnose.outputs.document import Document, document_of, json_of, schema
from failbench.diagnose.outputs.outline import numbered

ALL = (answers.answer, answers.healthy, answers.unknown, answers.empty, answers.hostile)
VALIDATOR = jsonschema.Draft202012Validator


def parsed(diagnosis, **more):
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(json_of(document_of(diagnosis, **more)), parse_constant=refuse)


def without_descriptions(value):
    if isinstance(value, list):
        return [without_descriptions(each) for each in value]
    if isinstance(value, dict):
        return {
            name: without_descriptions(each)
            for name, each in value.items()
            if not (name == "description" and isinstance(each, str))
        }
    return value


def test_the_published_schema_is_that_of_the_records_and_describes_every_field():
    VALIDATOR.check_schema(schema())
    made = Document.model_json_schema(mode="serialization")
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    assert without_descriptions(schema()) == without_descriptions(made)
    records = [schema(), *schema()["$defs"].values()]
    fields = [field for record in records for field in record["properties"].values()]
    assert len(fields) > 50
    assert all(field.get("description") for field in fields)


@pytest.mark.parametrize("make", ALL)
def test_every_document_fits_the_schema_and_is_read_back(make):
    document = document_of(make())
    VALIDATOR(schema()).validate(parsed(make()))
    assert Document.model_validate_json(json_of(document)) == document


@pytest.mark.parametrize(
    "change", [{"status": "broken"}, {"confidence": 1.2}, {"format": 2}, {"categories": {"x": 1.0}}]
)
def test_the_schema_refuses_what_is_no_answer(change):
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR(schema()).validate(parsed(answers.answer()) | change)


def test_numbers_that_json_cannot_write_are_words():
    for value, written in ((math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf"), (2.5, 2.5)):
        found = answers.finding(value=value, threshold=None if value == 2.5 else value)
        cause = answers.hypothesis("overfitting", 0.8, found)
        document = parsed(answers.answer(hypotheses=(cause,), findings=()))
        (item,) = document["root_causes"][0]["evidence"]
        assert item["value"] == written
        assert item["threshold"] == (None if value == 2.5 else written)
        VALIDATOR(schema()).validate(document)


def test_every_finding_is_in_the_document_once_per_cause_with_its_number():
    diagnosis = answers.answer()
    document = parsed(diagnosis)
    evidence = [item for cause in document["root_causes"] for item in cause["evidence"]]
    evidence += document["other_evidence"]
    assert {item["id"]: item["number"] for item in evidence} == {
        finding.id: number for finding, number in numbered(diagnosis).items()
    }
    assert [item["id"] for item in document["other_evidence"]] == [answers.RATE.id]
    assert [item["number"] for item in document["root_causes"][1]["evidence"]] == [3]


def test_words_and_names_of_files_of_the_log_have_no_escapes_or_broken_letters():
    document = parsed(answers.hostile(), artifacts={"plot": "run\x1b[31m.svg"})
    assert "\x1b" not in json.dumps(document, ensure_ascii=False)
    assert "\\u001b" not in json_of(document_of(answers.hostile()))
    assert document["analysis_artifacts"] == {"plot": "run.svg"}
    found = answers.finding(source=b"run\xff.log".decode("utf-8", errors="surrogateescape"))
    diagnosis = answers.answer(hypotheses=(), findings=(found,))
    assert parsed(diagnosis)["other_evidence"][0]["source"] == "run.log"
