"""The answers of problems are right by another way of finding them, cells are what they say, and
tokenizers give back every text."""

import re
from collections import Counter

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.reasoning.conditions import read_grid
from failbench.reasoning.grid import MAKERS, stream
from failbench.reasoning.problems import END_OF_PROMPT


def by_evaluation(prompt):
    """Chained arithmetic as one expression of Python."""
    fields = prompt.rstrip(END_OF_PROMPT).split(",")
    constants = {field[0]: field[1] for field in fields if field[0].isupper()}
    first, *steps = [field[1:] for field in fields if field[0].islower()]
    expression = first + "".join(step[0] + constants.get(step[1], step[1]) for step in steps)
    return str(eval(expression) % 10)


def by_removing_pairs(prompt):
    """Brackets are balanced if nothing is left when pairs are taken out."""
    brackets = re.sub("[^()]", "", prompt)
    while "()" in brackets:
        brackets = brackets.replace("()", "")
    return "n" if brackets else "y"


def by_following(prompt):
    """A path through a mapping."""
    table, query = prompt.rstrip(END_OF_PROMPT).split("?")
    values = {entry[0]: entry[1] for entry in table.split(",")}
    place = query[0]
    for _ in range(int(query[1:])):
        place = values[place.lower()]
    return place


INDEPENDENT = {"arithmetic": by_evaluation, "brackets": by_removing_pairs, "paths": by_following}


@pytest.mark.parametrize("task", MAKERS)
def test_every_answer_of_the_test_is_right_by_another_way(declared, task):
    problems = [problem for cell, _, problem in declared.problems if cell.task == task]
    answers = [problem.answer for problem in problems]
    assert answers == [INDEPENDENT[task](problem.prompt) for problem in problems]
    if task == "brackets":
        assert 0.4 < answers.count("y") / len(answers) < 0.6


def test_what_is_trained_on_is_of_trained_cells_and_never_of_the_test(declared):
    mixture = declared.settings.mixture
    drawn = stream(declared.cells, mixture, np.random.default_rng(1), declared.held_out)
    seen = [next(drawn) for _ in range(3000)]
    tasks = Counter(task for task, _ in seen)
    for task, times in mixture.items():
        assert tasks[task] == pytest.approx(3000 * times / sum(mixture.values()), rel=0.1)
    assert not {problem.prompt for _, problem in seen} & declared.held_out
    paths = [cell.length for cell in declared.cells if cell.trained and cell.task == "paths"]
    lengths = {problem.prompt.count(",") + 1 for task, problem in seen if task == "paths"}
    assert max(lengths) == max(paths) < max(cell.length for cell in declared.cells)


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ("task,length\narithmetic,2", "depth"),
        ("paths,4,1,yes\npaths,4,1,no", "task"),
        ("paths,4,1,yes", "trained"),
        ("brackets,7,1,yes", "(file)"),
        ("paths,2,3,yes", "(file)"),
    ],
)
def test_a_broken_grid_is_refused(tmp_path, rows, field):
    path = tmp_path / "grid.csv"
    header = "" if rows.startswith("task") else "task,length,depth,trained\n"
    path.write_text(f"{header}{rows}\n", encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_grid(path)
    assert error.value.field == field
