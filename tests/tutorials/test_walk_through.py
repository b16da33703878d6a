"""The harness of the tutorials can fail, and says where."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pages import TUTORIALS
from walk_through import Walk, WalkThroughError, agree, follow, refreshed, steps_of

PAGE = """\
# A page

Save it:

```text title="data/numbers.txt"
one
two
```

```console
$ wc -l < data/numbers.txt
2
$ cat data/numbers.txt |
> tail -1
two
```

```python
count = len(open("data/numbers.txt").readlines())
```

```python
print(count, "lines")
```

```text
2 lines
```

```diff title="data/numbers.txt"
-one
+zero
+one
```

```console
$ head -1 data/numbers.txt; ls nowhere; echo "exit status $?"
zero
...nowhere...
exit status 2
```
"""


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    return Walk(tmp_path, ())


def test_a_page_that_is_true_passes_and_all_of_its_steps_are_taken(walk: Walk) -> None:
    assert follow(PAGE, walk) == 7
    assert (walk.folder / "data/numbers.txt").read_text() == "zero\none\ntwo\n"


@pytest.mark.parametrize(
    ("true", "false", "complaint"),
    [
        ("\n2\n$", "\n3\n$", r"Line 11: wc -l < data/numbers.txt\n--- the page shows\n3\n---"),
        ("tail -1\ntwo\n", "tail -1\n", "Line 13: cat data"),
        ("tail -1\ntwo\n", "tail -1\ntwo\nthree\n", "Line 13: cat data"),
        ("2 lines\n", "3 lines\n", "Line 22: print"),
        ("```text\n2 lines\n```\n", "", "Line 22: print"),
        ("exit status 2\n", "exit status 0\n", "Line 37: head -1"),
        ('; echo "exit status $?"', "", "Line 37: .* ended with status 2"),
        ('print(count, "lines")', "print(count / 0)", "ZeroDivisionError"),
        ("-one\n", "-five\n", "Line 30: data/numbers.txt has 0 times, and not once"),
        ("```console\n$ wc", "```sh\n$ wc", "Line 10: a block of sh is neither run nor a file"),
        ("```console\n$ wc", "```console\nwc", "Line 10: a console block begins with a command"),
        ('```text title="data/numbers.txt"', "```text", "Line 5: a block of text is neither"),
    ],
)
def test_a_page_that_is_not_is_refused_with_its_line(
    walk: Walk, true: str, false: str, complaint: str
) -> None:
    assert PAGE.count(true) == 1
    with pytest.raises(WalkThroughError, match=complaint):
        follow(PAGE.replace(true, false), walk)


def test_dots_stand_for_anything_and_for_nothing_else() -> None:
    assert agree("a ... c\n...\nend\n", "a b c\n1\n2\nend\n")
    assert agree("a  \n", "a\n\n")
    assert not agree("a ... c\n", "a b d\n")
    assert not agree("a\n...\nend\n", "a\n1\n2\n")
    assert not agree("", "a\n")


def test_a_refreshed_page_is_true_and_keeps_dots_that_hold(walk: Walk, tmp_path: Path) -> None:
    outdated = PAGE.replace("\n2\n$", "\n$").replace("2 lines", "9 lines")
    mended = refreshed(outdated, walk)
    assert mended == PAGE
    assert refreshed(PAGE, Walk(tmp_path / "data", ())) == PAGE


@pytest.mark.parametrize("name", ["diagnose_a_log", "read_the_papers_numbers"])
def test_one_changed_line_of_output_in_a_tutorial_fails(name: str, tmp_path: Path) -> None:
    (tutorial,) = [each for each in TUTORIALS if each.name == name]
    text = tutorial.path.read_text(encoding="utf-8")
    first = next(step for step in steps_of(text) if step.kind == "command")
    assert first.output is not None
    lines = text.splitlines(keepends=True)
    lines[first.output[0]] = lines[first.output[0]].replace("e", "E", 1)
    with pytest.raises(WalkThroughError, match=f"^Line {first.line}: "):
        follow("".join(lines), tutorial.begin(tmp_path))


def test_commands_run_with_the_python_of_the_tests(walk: Walk) -> None:
    asked = "```console\n$ python -c 'import sys; print(sys.prefix)'\n%s\n```\n"
    assert follow(asked % sys.prefix, walk) == 1
