"""A page that is executed: what its fenced blocks do, run in order, and what they show, compared.

=========================  ====================================================================
Block                      What is done with it
=========================  ====================================================================
``console``                each line that begins with ``$`` is a command of bash, a line that
                           begins with ``>`` goes on with it, and what stands below is what it
                           prints, errors included; its exit status must be 0
``diff``, with a ``title`` a change of the file of that name: lines after ``-``, which are there
                           once, give way to the lines after ``+`` below them
any, with a ``title``      a file of that name, written as it stands
``python``                 code, run in one namespace for the whole page
``text``                   what the ``python`` block above it prints
=========================  ====================================================================

A command that is meant to end otherwise says so: ``...; echo "exit status $?"``. Three dots stand
for anything, lines included, as in doctests. A block of another kind is refused, so that nothing on
a page is left untried.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from markdown_it import MarkdownIt

Kind = Literal["file", "change", "command", "python"]

SECONDS = 600
"""Within which a command ends, on a slow machine too."""

TITLE = re.compile(r'title="([^"]+)"')


CHANGE = re.compile(r"((?:^-.*\n)+)((?:^\+.*\n)*)", re.MULTILINE)
"""Lines that go, and those that come in their place."""


class WalkThroughError(AssertionError):
    """A page does not show what happens; the message names the line and both texts."""


@dataclass(frozen=True)
class Step:
    """What a reader does, and what is then seen; ``line`` is of the page, from 1."""

    kind: Kind
    line: int
    action: str  # the command, the code, or the content of the file
    shown: str | None = None  # what the page says that it prints; None of a file
    path: str | None = None  # of a file, from the working directory
    output: tuple[int, int] | None = None  # lines from 0 of what is shown, if there is a place


def steps_of(text: str) -> list[Step]:
    """The steps of a page."""
    steps: list[Step] = []
    for token in MarkdownIt().parse(text):
        if token.type != "fence" or token.map is None:
            continue
        language, _, options = token.info.strip().partition(" ")
        title = TITLE.search(options)
        first = token.map[0] + 1
        if title:
            kind: Kind = "change" if language == "diff" else "file"
            steps.append(Step(kind, first, token.content, path=title[1]))
        elif language == "console":
            steps += _commands(token.content, first)
        elif language == "python":
            steps.append(Step("python", first, token.content, shown=""))
        elif language == "text" and steps and steps[-1].kind == "python" and not steps[-1].shown:
            steps[-1] = replace(
                steps[-1], shown=token.content, output=(first, first + token.content.count("\n"))
            )
        else:
            raise WalkThroughError(
                f"Line {first}: a block of {language or 'no language'} is neither run nor a file. "
                "Give it a title, or make it a console block."
            )
    return steps


def _commands(content: str, first: int) -> Iterator[Step]:
    lines = content.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        raise WalkThroughError(f"Line {first}: a console block begins with a command: $ ...")
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        end = start + 1
        while end < stop and lines[end].startswith("> "):
            end += 1
        yield Step(
            "command",
            first + start + 1,
            "\n".join(line[2:] for line in lines[start:end]),
            shown="".join(f"{line}\n" for line in lines[end:stop]),
            output=(first + end, first + stop),
        )


@dataclass
class Walk:
    """A folder in which the steps of a page are taken, with the folders of Python's modules."""

    folder: Path
    sources: tuple[Path, ...]

    def __post_init__(self) -> None:
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def take(self, step: Step) -> str:
        """Take a step; what it printed."""
        if step.kind in ("file", "change"):
            assert step.path is not None
            file = self.folder / step.path
            file.parent.mkdir(parents=True, exist_ok=True)
            text = step.action
            if step.kind == "change":
                text = changed(file.read_text(encoding="utf-8"), step)
            file.write_text(text, encoding="utf-8")
            return ""
        return self._execute(step) if step.kind == "python" else self._run(step)

    def _run(self, step: Step) -> str:
        done = subprocess.run(
            ["bash", "-c", step.action],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        if done.returncode:
            raise WalkThroughError(
                f"Line {step.line}: {step.action} ended with status {done.returncode}:\n"
                f"{done.stdout[-4000:]}"
            )
        return done.stdout

    def _execute(self, step: Step) -> str:
        printed = io.StringIO()
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
                exec(compile(step.action, f"line {step.line}", "exec"), self._names)
        except Exception:
            raise WalkThroughError(
                f"Line {step.line}: the code raises:\n{traceback.format_exc()}"
            ) from None
        return printed.getvalue()

    def _environment(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
            "PYTHONPATH": os.pathsep.join(map(str, self.sources)),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "NO_COLOR": "1",
            "PAGER": "cat",
        }


def changed(text: str, step: Step) -> str:
    """The text of a file after a change."""
    for old, new in CHANGE.findall(step.action):
        before, after = (re.sub("^[-+]", "", part, flags=re.MULTILINE) for part in (old, new))
        count = text.count(before)
        if count != 1:
            raise WalkThroughError(
                f"Line {step.line}: {step.path} has {count} times, and not once:\n{before}"
            )
        text = text.replace(before, after)
    return text


def agree(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; dots stand for anything.

    Blanks at the ends of lines do not count, and neither do empty lines at the end.
    """
    return doctest.OutputChecker().check_output(
        _bare(shown), _bare(printed), doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE
    )


def _bare(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).rstrip("\n") + "\n"


def follow(text: str, walk: Walk) -> int:
    """Take all steps of a page; how many there are."""
    steps = steps_of(text)
    for step in steps:
        printed = walk.take(step)
        if step.shown is not None and not agree(step.shown, printed):
            raise WalkThroughError(
                f"Line {step.line}: {step.action.rstrip()}\n--- the page shows\n{step.shown}"
                f"--- it prints\n{printed}"
            )
    return len(steps)


def refreshed(text: str, walk: Walk) -> str:
    """The page with what its steps print now, where that differs; dots that still hold stay."""
    lines = text.splitlines(keepends=True)
    changes: list[tuple[tuple[int, int], str]] = []
    for step in steps_of(text):
        printed = walk.take(step)
        if step.output is not None and not agree(step.shown or "", printed):
            changes.append((step.output, _bare(printed)))
    return "".join(_replaced(lines, reversed(changes)))


def _replaced(lines: list[str], changes: Iterable[tuple[tuple[int, int], str]]) -> list[str]:
    result = list(lines)
    for (first, last), output in changes:
        result[first:last] = [output]
    return result
