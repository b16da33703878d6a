"""Declarations of conditions are whole, and broken ones are refused with their place."""

import json

import pytest

from failbench.base.errors import BadInputError
from failbench.reasoning.conditions import HEALTHY
from failbench.reasoning.declared import read_conditions, read_settings

HEADER = "condition,tokenizer,prompt_tokenizer,steps,rate,context,is_causal,shuffled,looped,what\n"
ROW = "healthy,char,char,1,1,96,yes,0,0,nothing\n"


def test_every_condition_but_the_healthy_differs_from_it_in_one_thing(declared):
    healthy = {each.tokenizer: each for each in declared.conditions if each.condition == HEALTHY}
    assert set(healthy) == {"char", "bpe"}
    for each in declared.conditions:
        twin = healthy[each.tokenizer].model_dump(exclude={"condition", "what"})
        changed = {name for name, value in twin.items() if getattr(each, name) != value}
        assert len(changed) == (each.condition != HEALTHY)


def test_context_and_budget_are_enough_for_every_right_answer(declared):
    lengths = [
        (len(problem.prompt) + len(problem.response) + 1, len(problem.response) + 1, cell.trained)
        for cell, _, problem in declared.problems
    ]
    context = max(each.context for each in declared.conditions)
    assert max(whole for whole, _, trained in lengths if trained) <= context
    assert max(response for _, response, _ in lengths) <= declared.settings.budget


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (HEADER + ROW.replace("char,char", "char,words"), "prompt_tokenizer"),
        (HEADER + ROW.replace("yes", "perhaps"), "is_causal"),
        (HEADER + ROW.replace("yes,0", "yes,2"), "shuffled"),
        (HEADER + ROW + ROW, "condition"),
        (HEADER.replace(",looped", "") + ROW.replace("0,0", "0"), "looped"),
    ],
)
def test_broken_conditions_are_refused(tmp_path, text, field):
    path = tmp_path / "conditions.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_conditions(path, frozenset({"char"}))
    assert error.value.field == field


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"batch": 0}, "batch"),
        ({"speed": 1}, "speed"),
        ({"shape": {"width": 10, "layers": 1, "heads": 2}}, "shape"),
    ],
)
def test_broken_settings_are_refused(folder, tmp_path, change, field):
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(settings | change), encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_settings(path)
    assert error.value.field == field
