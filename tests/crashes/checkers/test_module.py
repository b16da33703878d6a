from __future__ import annotations

from failbench.crashes.checkers.module import module_of
from failbench.crashes.question import Question


def test_cells_are_in_order_of_execution_and_a_repeated_one_is_there_twice():
    module = module_of(Question(("b = 1", "a = 2", "b = 1"), "a + b"))
    lines = [line for line in module.text.splitlines() if line]
    assert lines == ["b = 1", "a = 2", "b = 1", "a + b"]


def test_the_first_line_of_the_target_is_line_1_of_it_whatever_the_cells_before_end_with():
    for cell in ("x = 1", "x = 1\n", "x = 1\r\ny = 2\r", "for x in range(2):\n    y = x  # \f"):
        module = module_of(Question((cell, cell), "\nhere"))
        place = module.text.split("\n").index("here") + 1
        assert module.line_of_target(place) == 2
        assert module.line_of_target(place - 1) == 1
        assert module.line_of_target(place - 2) is None


def test_a_block_that_ends_a_cell_does_not_go_on_in_the_next():
    module = module_of(Question(("if False:\n    x = 1",), "y = 2"))
    known: dict[str, object] = {}
    exec(module.text, known)
    assert known["y"] == 2
