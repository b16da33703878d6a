"""The paper: its typst sources, what these name, and one document of the same bytes anywhere."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import matplotlib as mpl

from failbench.base.errors import BadInputError
from failbench.statistics.settings import StatisticsSettings

REMEDY = "Correct the source, or run `dvc repro` for the stage whose output it names."

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Whole numbers as prose has them."""

SPACE = "\u00a0"  # between a number and its unit a line is not broken
UNSUPPORTED = "<unsupported>"  # of what paper/lib/metrics.typ no longer bears out

FUNCTIONS = {  # the paper's functions whose first argument names a file, and where it is
    **dict.fromkeys(
        ["metric", "value", "rate", "rates", "pct", "ci", "points", "number", "n-of", "p-value"],
        "data/metrics/{}.json",
    ),
    **dict.fromkeys(("drawing", "pictured"), "figures/{}.svg"),
    **dict.fromkeys(("generated", "long"), "paper/tables/{}.typ"),
}

_CALL = re.compile(rf'(?<![\w-])({"|".join(map(re.escape, FUNCTIONS))})\(\s*"([^"]+)"')
_READ = re.compile(
    r'(?<![\w-])(?:csv|json|yaml|read|image|bibliography|rows-of)\(\s*"/([^"]+\.\w+)"'
)
_COMMENT = re.compile(r"(?m)(?<![:\"])//.*$")


class Compiled(NamedTuple):
    """The paper."""

    document: bytes
    unsupported: tuple[str, ...]


class Named(NamedTuple):
    """A file that a source of the paper names, and the line where it does."""

    source: Path
    line: int
    path: str


def facts(
    statistics: StatisticsSettings, folds: int, repeats: int, seeds: Sequence[int]
) -> dict[str, str]:
    """The parameters that the text names, as it prints them."""

    def word(count: int) -> str:
        return WORDS[count] if count < len(WORDS) else f"{count:,}"

    return {
        "confidence": f"{_trimmed(100 * statistics.confidence)}{SPACE}%",
        "level": _trimmed(1 - statistics.confidence),
        "resamples": f"{statistics.resamples:,}",
        "practical_equivalence": f"{_trimmed(100 * statistics.practical_equivalence)}{SPACE}points",
        "equivalence_margin": f"{_trimmed(100 * statistics.equivalence_margin)}{SPACE}points",
        "power": f"{statistics.power:.2f}",
        "folds": word(folds),
        "repeats": word(repeats),
        "seeds": word(len(seeds)),
    }


def _trimmed(value: float) -> str:
    return f"{value:.10g}"


def compiled(root: Path, main: Path, facts: Mapping[str, str], reads: Sequence[Path]) -> Compiled:
    """Compile the paper, without a date, in fonts of typst and matplotlib (DejaVu Sans)."""
    try:
        import typst
    except ImportError as error:
        problem = "is not installed."
        raise BadInputError("environment", "typst", problem, "Install failbench[paper].") from error
    check_named(sources(main), root, reads)
    fonts = Path(mpl.get_data_path()) / "fonts" / "ttf"
    try:
        compiler = typst.Compiler(
            str(main),
            root=str(root),
            font_paths=[str(fonts)],
            ignore_system_fonts=True,
            sys_inputs=dict(facts),
        )
        document = compiler.compile(format="pdf", timestamp=0)
        assert isinstance(document, bytes)  # images alone are several
        unsupported = json.loads(compiler.query(UNSUPPORTED, field="value"))
    except typst.TypstError as error:
        problem = " ".join(str(error).split()).removeprefix("panicked with: ").rstrip(".")
        raise BadInputError(main, "(source)", f"does not compile: {problem}.", REMEDY) from error
    return Compiled(document, tuple(unsupported))


def sources(main: Path) -> list[Path]:
    """The sources of the paper: the main one, then those in the folders beside it, by name."""
    tables = main.parent / "tables"
    found = sorted(path for path in main.parent.rglob("*.typ") if tables not in path.parents)
    return [main, *(path for path in found if path != main)]


def check_named(sources: Sequence[Path], root: Path, reads: Sequence[Path]) -> None:
    """Refuse sources that name a file that is not there, or that the stage does not read."""
    for source, line, path in named_files(sources):
        place = f"line {line}"
        if not any(Path(path).is_relative_to(each) for each in reads):
            problem = f"names {path}, whose change would not compile the paper again."
            remedy = "Add it to READS in experiments/paper.py, and to the stage."
            raise BadInputError(source, place, problem, remedy)
        if not (root / path).is_file():
            remedy = "Run `dvc repro` for the stage that writes it, or correct the name."
            raise BadInputError(source, place, f"names {path}, which does not exist.", remedy)
        _text(root / path)


def named_files(sources: Sequence[Path]) -> list[Named]:
    """Every metrics file, figure, table and other file that the sources name."""
    return [named for source in sources for named in _named(source)]


def _named(source: Path) -> Iterator[Named]:
    code = _COMMENT.sub("", _text(source))
    found = [
        (call, FUNCTIONS[call.group(1)].format(call.group(2))) for call in _CALL.finditer(code)
    ]
    found += [(read, read[1]) for read in _READ.finditer(code)]
    for match, path in found:
        yield Named(source, code.count("\n", 0, match.start()) + 1, path)


def _text(path: Path) -> str:
    form = {".json": "JSON", ".svg": "SVG"}.get(path.suffix, "text")
    try:
        text = path.read_text(encoding="utf-8")
        if form == "JSON":
            json.loads(text)
        elif form == "SVG":
            # our own figures, which no outsider writes
            ElementTree.fromstring(text)  # noqa: S314
    except (OSError, ValueError, ElementTree.ParseError) as error:
        problem = f"is missing or is not a {form} file."
        remedy = "Run `dvc repro` for the stage that writes it, or restore it with git."
        raise BadInputError(path, "(file)", problem, remedy) from error
    return text
