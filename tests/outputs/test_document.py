import json

import jsonschema
import pytest

import made_up_answers as answers
from failbench.diagnose.outputs.document import Document, document_of, json_of, schema
from failbench.diagnose.outputs.outline import numbered

ALL = {
    "failed": answers.answer,
    "healthy": answers.healthy,
    "unknown": answers.unknown,
    "empty": answers.empty,
    "hostile": answers.hostile,
}
VALIDATOR = jsonschema.Draft202012Validator


def parsed(diagnosis, **more):
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(json_of(document_of(diagnosis, **more)), parse_constant=refuse)


def without_descriptions(value):
    if isinstance(value, list):
        return [without_descriptions(each) for each in value]
    if isinstance(value, dict):
        kept = {
            name: each
            for name, each in value.items()
            if not isinstance(each, str) or name != "description"
        }
        return {name: without_descriptions(each) for name, each in kept.items()}
    return value


def test_the_published_schema_is_that_of_the_records():
    made = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Document.model_json_schema(mode="serialization"),
    }
    assert without_descriptions(schema()) == without_descriptions(made)


def test_the_schema_is_one_and_describes_every_field():
    VALIDATOR.check_schema(schema())
    records = [schema(), *schema()["$defs"].values()]
    fields = [field for record in records for field in record["properties"].values()]
    assert len(fields) > 50
    assert all(field.get("description") for field in fields)


@pytest.mark.parametrize("name", ALL)
def test_every_document_fits_the_schema_and_is_read_back(name):
    document = document_of(ALL[name]())
    VALIDATOR(schema()).validate(parsed(ALL[name]()))
    assert Document.model_validate_json(json_of(document)) == document


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "broken"),
        ("confidence", 1.2),
        ("format", 2),
        ("summary", None),
        ("categories", {"bad_luck": 1.0}),
    ],
)
def test_the_schema_refuses_what_is_no_answer(field, value):
    broken = {**parsed(answers.answer()), field: value}
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR(schema()).validate(broken)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (2.5, 2.5),
        (None, None),
    ],
)
def test_numbers_that_json_cannot_write_are_words(value, written):
    found = answers.finding(value=value, threshold=value)
    document = parsed(
        answers.answer(hypotheses=(answers.hypothesis("overfitting", 0.8, found),), findings=())
    )
    (item,) = document["root_causes"][0]["evidence"]
    assert (item["value"], item["threshold"]) == (written, written)
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


def test_fixes_follow_the_causes_and_say_how_to_see_that_they_were_right():
    document = parsed(answers.answer())
    fixes = document["recommended_fixes"]
    assert [fix["priority"] for fix in fixes] == [1, 2, 3, 4, 5, 6]
    assert [fix["cause"] for fix in fixes] == ["learning_rate_too_high"] * 3 + [
        "loss_scale_wrong"
    ] * 3
    assert fixes[0]["fix"] == document["root_causes"][0]["fix"] == answers.HALVE.change
    # once each, and none that may spoil the state of the training
    assert document["quick_wins"] == [answers.HALVE.change, answers.CLIP.change]


def test_words_of_the_log_have_no_escapes_and_files_are_named():
    document = parsed(answers.hostile(), artifacts={"plot": "run\x1b[31m.svg"})
    text = json.dumps(document, ensure_ascii=False)
    assert "\x1b" not in text
    assert "\\u001b" not in json_of(document_of(answers.hostile()))
    assert document["analysis_artifacts"] == {"plot": "run.svg"}


def test_names_of_files_that_are_no_text_are_written_all_the_same():
    name = b"run\xff.log".decode("utf-8", errors="surrogateescape")
    found = answers.finding(source=name)
    diagnosis = answers.answer(hypotheses=(), findings=(found,))
    assert parsed(diagnosis)["other_evidence"][0]["source"] == "run.log"
