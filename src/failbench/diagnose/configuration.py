"""Configuration: the settings of a training, read from its file; nothing in it is executed."""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.names import number

LARGEST: Final = 2**20  # bytes of a file; those that trainings write have some kilobytes
DEEPEST: Final = 32  # levels of nesting; configurations of trainings have up to six
# values, each counted where it is repeated by an alias; model configurations have hundreds
MOST_VALUES: Final = 20_000
Value = str | float | bool | None

# ``name=value``, ``name: value``, and Megatron's ``name ....... value``.
_LINE: Final = re.compile(
    r"""\s{0,40}["']?-{0,2}([A-Za-z_][\w.-]{0,80}?)["']?\s{0,40}(?:[=:]|\.{3,200})\s{0,4}(.*)"""
)

# how an argument parser's namespace or a dataclass prints itself
_PRINTED: Final = re.compile(r"\s*(?:Namespace|[A-Z]\w*)\(")

_WORDS: Final[dict[str, Value]] = {
    "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False,
    "none": None, "null": None, "~": None, "": None,
}  # fmt: skip


_TOO_LARGE: Final = (
    f"has more than {MOST_VALUES:,} settings, or nests deeper than {DEEPEST} levels."
)
_TOO_DEEP: Final = f"nests deeper than {DEEPEST} levels."


class TooLargeError(ValueError):
    """More values, or deeper ones, than a configuration has."""


@dataclass(frozen=True)
class Setting:
    """One value of a configuration."""

    name: str
    value: Value
    line: int | None


@dataclass(frozen=True)
class Configuration:
    """What a file says of how a training was set up."""

    source: str
    settings: tuple[Setting, ...]

    def find(self, setting: str) -> Setting | None:
        """The value of a setting by its least nested name; None if there is none or two differ."""
        found = [each for each in self.settings if known_as(each.name) == setting]
        depth = min((each.name.count(".") for each in found), default=0)
        first = [each for each in found if each.name.count(".") == depth]
        return first[0] if len({repr(each.value) for each in first}) == 1 else None


def read_configuration(path: Path) -> Configuration:
    """Read a configuration: JSON, YAML, lines of names and values, or a printed namespace."""
    text = _text(path)
    try:
        values = [*_flat(_parsed(path, text))]
    except TooLargeError as error:
        raise _refused(path, f"{error}", "Name the configuration of one run.") from error
    except ValueError as error:
        reason = clean(" ".join(str(error).split()))[:200]
        raise _refused(path, f"cannot be read: {reason}.", "Mend it, or name another.") from error
    if not values:
        remedy = "Name a file of JSON, YAML or lines such as lr=1e-4."
        raise _refused(path, "contains no settings.", remedy)
    lines = _lines_of_names(text)
    ends = (_plain(name).rpartition(".")[2] for name, _ in values)
    settings = (Setting(*each, lines.get(end)) for each, end in zip(values, ends, strict=True))
    return Configuration(clean(path.name), tuple(settings))


@cache
def known_as(name: str) -> str | None:
    """What a name stands for: by the longest of its ends that is in the table.

    >>> known_as("optimizer.params.lr"), known_as("trainer.max-steps"), known_as("colour")
    ('learning_rate', 'max_steps', None)
    """
    parts = _plain(name).split(".")
    ends = (".".join(parts[start:]) for start in range(len(parts)))
    return next((known for end in ends if (known := _names().get(end))), None)


class _Name(Record):
    setting: str
    name: str
    source: str


@cache
def _names() -> dict[str, str]:
    rows = packaged_rows("failbench.diagnose", "settings.csv", _Name)
    return {row.name: row.setting for row in rows}


def _plain(name: str) -> str:
    # Weights & Biases writes each setting as an object with its value.
    return name.lower().lstrip("-").replace("-", "_").removesuffix(".value")


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise _refused(path, "is no file.", "Name the file with the settings of the run.")
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})."
        raise _refused(path, problem, "Name a file that is there.") from error
    if len(data) > LARGEST:
        raise _refused(path, "has more than 1 MiB.", "Name the configuration alone.")
    if b"\0" in data:
        raise _refused(path, "is not text.", "Print the settings as JSON; no pickle is opened.")
    return data.decode("utf-8-sig", errors="replace")


def _refused(path: Path, problem: str, remedy: str) -> BadInputError:
    return BadInputError(path, "(configuration)", problem, remedy)


def _parsed(path: Path, text: str) -> object:
    """The values of a text in whichever of the forms it has."""
    if text.lstrip().startswith("{") or path.suffix == ".json":
        try:
            return json.loads(text)
        except RecursionError as error:
            raise TooLargeError(_TOO_DEEP) from error
    if path.suffix in (".yaml", ".yml"):
        return _yaml_value(text)
    if _PRINTED.match(text):
        return _of_namespace(text) or dict(_of_lines(text))
    return dict(_of_flags(text)) or dict(_of_lines(text))


def _of_namespace(text: str) -> dict[str, object]:
    """Arguments of a printed call whose values are written as Python writes them."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    if not isinstance(call, ast.Call):
        return {}
    values: dict[str, object] = {}
    for keyword in call.keywords:
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, RecursionError, MemoryError):
            continue
        values |= {keyword.arg: value} if keyword.arg else {}
    return values


def _of_lines(text: str) -> Iterator[tuple[str, object]]:
    for line in text.splitlines():
        if found := _LINE.fullmatch(line[:2_000].rstrip()):
            yield found[1], found[2].strip().rstrip(",").strip("\"'")


def _of_flags(text: str) -> Iterator[tuple[str, object]]:
    """The options of a command line; one that no value follows is switched on."""
    if not re.search(r"(?:^|\s)--[A-Za-z]", text):
        return
    try:
        words = shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError:
        return
    for word, after in zip(words, [*words[1:], "--"], strict=True):
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            yield name, value if equals else True if after.startswith("--") else after


def _flat(tree: object) -> Iterator[tuple[str, Value]]:
    """Every value with the names that lead to it, joined by dots."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), tree)]
    given = 0
    while waiting:
        names, value = waiting.pop()
        inner: list[tuple[str, object]] = []
        if isinstance(value, dict):
            inner = [(str(key), each) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            inner = [(str(position), each) for position, each in enumerate(value)]
        elif names:
            yield clean(".".join(names))[:300], _simple(value)
        given += 1
        if given > MOST_VALUES or len(names) > DEEPEST:
            raise TooLargeError(_TOO_LARGE)
        waiting += [((*names, name), each) for name, each in reversed(inner)]


def _simple(value: object) -> Value:
    """A number, also one that YAML takes for text (``1e-4``), or a word without its case."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    text = clean(str(value)[:300]).strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    known = number(text)
    return text if known is None else known


def _lines_of_names(text: str) -> dict[str, int]:
    """The line of each name that stands before a value in one line alone."""
    lines: dict[str, int | None] = {}
    for position, line in enumerate(text.splitlines(), start=1):
        if found := _LINE.match(line[:2_000]):
            name = _plain(found[1]).rpartition(".")[2]
            lines[name] = None if name in lines else position
    return {name: line for name, line in lines.items() if line is not None}


def _yaml_value(text: str) -> object:
    """The value of a document; of values with a tag of their own nothing is made."""
    _refuse_depth(text)
    try:
        _measure(text)
        value: object = yaml.load(text, Loader=_PlainLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except (RecursionError, TypeError) as error:
        raise ValueError("it is no plain YAML") from error
    return value


def _refuse_depth(text: str) -> None:
    """Refuse deep nesting in one line, over which the scanner takes a time of its square."""
    if re.search(r"(?:[-?][ \t]+){33}", text):
        raise TooLargeError(_TOO_DEEP)
    depth = 0
    for found in re.finditer(r"[\[{\]}]", text):
        depth = depth + 1 if found[0] in "[{" else max(0, depth - 1)
        if depth > 10 * DEEPEST:
            raise TooLargeError(_TOO_DEEP)


def _measure(text: str) -> None:
    """Count values with each alias written out, before any is built: merging repeats them."""
    open_sizes = [0]
    names: list[str | None] = []
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        size = 0
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.CollectionStartEvent):
            open_sizes.append(1)
            names.append(anchor)
            continue
        if isinstance(event, yaml.AliasEvent):
            if anchor in names:
                raise TooLargeError("contains itself.")
            size = sizes.get(str(anchor), 0)
        elif isinstance(event, yaml.ScalarEvent):
            size = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = open_sizes.pop(), names.pop()
        if anchor is not None:
            sizes[anchor] = size
        open_sizes[-1] += size
        if open_sizes[-1] > MOST_VALUES or len(open_sizes) > DEEPEST:
            raise TooLargeError(_TOO_LARGE)


class _PlainLoader(yaml.SafeLoader):
    """Builds numbers, words, lists and mappings; Lightning tags the objects it was handed."""


_PlainLoader.add_multi_constructor("", lambda *_: None)
