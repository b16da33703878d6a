from pathlib import Path

import pytest
from walk_through import Walk, WalkThroughError, agree, follow

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
