import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.base.scenarios import read_scenario, read_scenarios
from failbench.causes.catalogue import causes

DATA = Path(__file__).parents[1] / "data"

GOOD = {
    "id": "rate_too_high", "title": "The learning rate is too high", "category": "optimization",
    "root_cause": "Somebody typed one zero too few.", "difficulty": "easy",
    "symptom_category": "optimization",
    "fault": {"name": "learning_rate_jump", "parameters": {"factor": 30.0}, "onset": "mid_run"},
    "expected_outcome": "diverged", "remedy": "Type the zero that is missing.",
    "rationale": "Everybody has done this once.",
}  # fmt: skip


def write(folder, place="optimization/rate_too_high", **changes):
    path = folder / f"{place}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(GOOD | changes), encoding="utf-8")
    return path


UNKNOWN = {"category": "unknown", "symptom_category": "unknown"}
JUMP = {"name": "jump"}


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"category": "weather"}, "category", "Input should be 'memory_hardware'"),
        ({"id": "Rate-Too-High"}, "id", "String should match pattern"),
        ({"difficulty": "hard"}, "(file)", "hard exactly when"),
        ({"symptom_category": "data_pipeline"}, "(file)", "hard exactly when"),
        ({"ambiguity": "truly_ambiguous"}, "(file)", "ambiguity must be given for unknown"),
        (UNKNOWN, "(file)", "ambiguity must be given for unknown"),
        ({"fault": JUMP | {"onset": "start_crash"}}, "(file)", "have the expected_outcome crash"),
        (
            {"other_outcomes": {"diverged": "By chance."}},
            "(file)",
            "leave out the expected_outcome",
        ),
    ],
)
def test_bad_value_is_refused_by_file_field_and_remedy(tmp_path, changes, field, problem):
    path = write(tmp_path, **changes)
    with pytest.raises(BadInputError) as caught:
        read_scenario(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {field}")
    assert problem in message
    assert message.endswith("Correct it after the model failbench.base.scenarios.Scenario.")


@pytest.mark.parametrize("content", [b'{"id": ', b"\xff\xfe", b""])
def test_file_that_is_not_json_is_refused_with_its_remedy(tmp_path, content):
    path = write(tmp_path)
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"json: \(file\): is not JSON: .* Correct the syntax"):
        read_scenario(path)


@pytest.mark.parametrize(
    ("place", "field"), [("data_pipeline/rate_too_high", "category"), ("optimization/rate", "id")]
)
def test_file_in_the_wrong_place_says_where_it_belongs(tmp_path, place, field):
    path = write(tmp_path, place)
    with pytest.raises(BadInputError) as caught:
        read_scenario(path)
    assert str(caught.value) == (
        f"{path}: {field}: the file says optimization/rate_too_high.json but lies elsewhere. "
        "Move the file, or correct its id and category."
    )


def test_no_file_and_an_id_that_two_categories_share_are_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"holds no scenario files\. Point to the folder data"):
        read_scenarios(tmp_path)
    write(tmp_path)
    data = {"category": "data_pipeline", "symptom_category": "data_pipeline"}
    write(tmp_path, "data_pipeline/rate_too_high", **data)
    complaint = r"rate_too_high\.json: id: 'rate_too_high' is the id of a data_pipeline scenario\. "
    with pytest.raises(BadInputError, match=complaint + r"Give each scenario a unique id\."):
        read_scenarios(tmp_path)


def test_each_author_wrote_scenarios_that_the_other_has_not_and_readers_read_all_of_the_second():
    first = read_scenarios(DATA / "scenarios")
    second = read_scenarios(DATA / "author_b/scenarios")
    authors = Counter(each.author for each in (*first, *second))
    assert (authors["A"], authors["B"]) == (76, 40)
    assert {each.author for each in second} == {"B"}
    names = {each.id for each in second}
    assert names.isdisjoint(each.id for each in first)
    with (DATA / "author_b/readers.csv").open(encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    asked = sorted((name, reader) for name in names for reader in ("1", "2"))
    assert [(row["scenario"], row["reader"]) for row in read] == asked
    assert {row["cause"] for row in read} <= {"none", *causes()}
