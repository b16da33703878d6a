"""The answers of problems are right by another way of finding them, and cells are what they say."""

import re
from collections import Counter

import numpy as np
import pytest

from failbench.base.errors import BadInputError
from failbench.reasoning.declared import read_grid
from failbench.reasoning.grid import MAKERS, Cell, problems_of, stream
from failbench.reasoning.problems import END_OF_PROMPT

CELLS = [
    Cell(task=task, length=length, depth=depth, trained=True)
    for task, length, depth in [
        ("arithmetic", 2, 1),
        ("arithmetic", 9, 2),
        ("brackets", 8, 2),
        ("brackets", 22, 3),
        ("paths", 4, 1),
        ("paths", 18, 3),
    ]
]


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


def nesting(prompt):
    levels = np.cumsum([1 if bracket == "(" else -1 for bracket in re.sub("[^()]", "", prompt)])
    return levels.max()


@pytest.mark.parametrize("task", MAKERS)
def test_every_answer_of_the_test_is_right_by_another_way(declared, task):
    problems = [problem for cell, _, problem in declared.problems if cell.task == task]
    assert [problem.answer for problem in problems] == [
        INDEPENDENT[task](problem.prompt) for problem in problems
    ]
    if task == "brackets":
        assert 0.4 < sum(problem.answer == "y" for problem in problems) / len(problems) < 0.6


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_lengths_and_depths_are_those_of_the_cell(cell):
    for problem in problems_of(cell, 30, seed=1):
        names = re.findall("[a-z]", problem.prompt)
        if cell.task == "arithmetic":
            assert len(problem.steps) == cell.length
            assert any(name.isupper() for name in problem.prompt) == (cell.depth == 2)
        elif cell.task == "brackets":
            assert len(names) == cell.length
            if problem.answer == "y":
                assert nesting(problem.prompt) == cell.depth
        else:
            assert problem.prompt.count(",") + 1 == cell.length
            assert len(problem.steps) == cell.depth


def test_a_guess_is_right_as_often_as_it_says():
    """Whoever knows the form of answers alone guesses one of them."""
    random = np.random.default_rng(0)
    for task, answers in [("arithmetic", 10), ("brackets", 2)]:
        problem = MAKERS[task](random, 8, 2)
        assert problem.guess == 1 / answers
    for _ in range(20):
        problem = MAKERS["paths"](random, 8, 2)
        printed = set(re.findall("[A-Z]", problem.prompt))
        assert problem.answer in printed
        assert problem.guess == 1 / len(printed)


def test_what_is_trained_on_is_of_trained_cells_and_never_of_the_test(declared):
    trained = [cell for cell in declared.cells if cell.trained]
    mixture = declared.settings.mixture
    drawn = stream(declared.cells, mixture, np.random.default_rng(1), declared.held_out)
    seen = [next(drawn) for _ in range(3000)]
    drawn_tasks = Counter(task for task, _ in seen)
    for task, times in mixture.items():
        expected = 3000 * times / sum(mixture.values())
        assert drawn_tasks[task] == pytest.approx(expected, rel=0.1)
    assert not {problem.prompt for _, problem in seen} & declared.held_out
    longest = max(cell.length for cell in trained if cell.task == "paths")
    lengths = {problem.prompt.count(",") + 1 for task, problem in seen if task == "paths"}
    assert max(lengths) == longest < max(cell.length for cell in declared.cells)


HEADER = "task,length,depth,trained\n"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("task,length\narithmetic,2\n", "depth"),
        (HEADER + "chess,2,1,yes\n", "task"),
        (HEADER + "paths,0,1,yes\n", "length"),
        (HEADER + "paths,4,1,yes\npaths,4,1,no\n", "task"),
        (HEADER + "paths,4,1,yes\n", "trained"),
        (HEADER + "brackets,7,1,yes\n", "(file)"),
        (HEADER + "brackets,4,3,yes\n", "(file)"),
        (HEADER + "paths,2,3,yes\n", "(file)"),
        (HEADER + "arithmetic,26,1,yes\n", "(file)"),
    ],
)
def test_a_broken_grid_is_refused(tmp_path, text, field):
    path = tmp_path / "grid.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_grid(path)
    assert error.value.field == field
