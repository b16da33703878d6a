import re
from pathlib import Path

import pytest
from pages import FOLDER, TUTORIALS, Tutorial
from walk_through import Walk, WalkThroughError, follow, steps_of

NUMBER = re.compile(r"\d+\.?\d*(?:e[-+]\d+)?")
LOOSE = 0.1
"""Share by which what a loop prints may differ on another processor, after some hundred steps."""


def marked(tutorial: Tutorial) -> object:
    marks = [pytest.mark.system] if tutorial.slow else []
    return pytest.param(tutorial, id=tutorial.name, marks=marks)


@pytest.mark.parametrize("tutorial", [marked(each) for each in TUTORIALS])
def test_what_it_shows_is_what_is_printed(tutorial: Tutorial, tmp_path: Path) -> None:
    if tutorial.needs_torch:
        pytest.importorskip("torch", reason="something in this tutorial trains")
    walk = tutorial.begin(tmp_path)
    assert follow(tutorial.path.read_text(encoding="utf-8"), walk) > 5


def test_every_page_is_executed_and_listed() -> None:
    names = {path.stem for path in FOLDER.glob("*.md")} - {"index"}
    assert names == {tutorial.name for tutorial in TUTORIALS}
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[.*?\]\((\w+)\.md\)", index, re.MULTILINE) == [
        tutorial.name for tutorial in TUTORIALS
    ]


def lines_of(log: str) -> list[str]:
    """The lines of a log, without the folders of its files, the lines that point, and numbers."""
    lines = [re.sub(r'File ".*/', 'File "', line) for line in log.splitlines()]
    return [NUMBER.sub("0", line) for line in lines if line.strip(" ^~")]


def numbers_of(log: str) -> list[float]:
    lines = [line for line in log.splitlines() if line.startswith("step ")]
    return [float(number) for line in lines for number in NUMBER.findall(line)]


@pytest.mark.parametrize("mistake", ["letter", "shift"])
def test_the_logs_of_the_first_tutorial_are_printed_by_the_loop_of_the_second(
    mistake: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="the loop trains")
    first, second = (tutorial for tutorial in TUTORIALS[:2])
    walk = second.begin(tmp_path)
    loop = steps_of(second.path.read_text(encoding="utf-8"))[0]
    assert loop.path == "train.py"
    walk.take(loop)
    printing = steps_of(f"```console\n$ python train.py {mistake} 2>&1 || true\n```\n")[0]
    printed = walk.take(printing)
    pages = steps_of(first.path.read_text(encoding="utf-8"))
    (shown,) = [step.action for step in pages if step.path == f"{mistake}.log"]
    assert lines_of(shown) == lines_of(printed)
    assert numbers_of(shown) == pytest.approx(numbers_of(printed), rel=LOOSE)


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


@pytest.mark.parametrize(
    ("true", "false", "complaint"),
    [
        ("\n2\n$", "\n3\n$", r"Line 11: wc -l < data/numbers.txt\n--- the page shows\n3\n---"),
        ("tail -1\ntwo\n", "tail -1\ntwo\nthree\n", "Line 13: cat data"),
        ("2 lines\n", "3 lines\n", "Line 22: print"),
        ("exit status 2\n", "exit status 0\n", "Line 37: head -1"),
        ('print(count, "lines")', "print(count / 0)", "ZeroDivisionError"),
        ("-one\n", "-five\n", "Line 30: data/numbers.txt has 0 times, and not once"),
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
