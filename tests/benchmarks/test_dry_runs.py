"""What a dry run costs: time and memory over those of a cell that does nothing."""

import re
import time
from dataclasses import replace

import pytest

from failbench.crashes.cases import read_equal_cases
from failbench.crashes.dry_run.predict import predict
from failbench.crashes.question import Question
from failbench.notebooks.summaries import Summary

NOTHING = Question((), "pass", Summary((), {}, truncated=False))
SOME = 12  # notebooks, of one library each in turn


@pytest.fixture(scope="module")
def questions(repository):
    cases = read_equal_cases(repository / "data/equal_notebooks", 0)
    known = [case for case in cases if case.part == "development" and case.version == "mended"]
    return [case.ask("all") for case in known[:: max(1, len(known) // SOME)]][:SOME]


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def test_a_dry_run_takes_as_long_as_some_starts_of_its_sandbox(questions):
    predict(NOTHING)  # what is compiled and cached once
    start = min(seconds(lambda: predict(NOTHING)) for _ in range(4))
    whole = min(seconds(lambda: [*map(predict, questions)]) for _ in range(2))
    assert whole / len(questions) <= 12 * start


def test_a_dry_run_needs_little_more_memory_than_the_libraries_that_it_imports(questions):
    # the cell itself says what it came to, as the walls let nobody else look
    most = [peak(question) for question in questions]
    assert len(list(filter(None, most))) > SOME / 2
    assert max(filter(None, most)) <= 1.5 * peak(NOTHING)


def peak(question):
    told = "raise ValueError('peak', __import__('resource').getrusage(0).ru_maxrss)"
    answer = predict(replace(question, target=f"{question.target}\n{told}"))
    found = re.search(r"'peak', (\d+)", answer.reason)
    return found and int(found[1])
