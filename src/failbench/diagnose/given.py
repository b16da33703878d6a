"""Given beside a log: contradictions of a configuration, and slips of a training loop."""

import ast
import math
import operator
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, cast

import numpy as np
from pydantic import BeforeValidator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.causes.support import Strength
from failbench.diagnose.code_patterns import CODE_PATTERNS
from failbench.diagnose.configuration import Configuration, Setting, Value
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.folders import files_below
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.numbers import NOWHERE

Comparison = Literal["above", "below", "at_least", "equals", "is", "has"]

_COMPARE: Final = {
    "above": operator.gt,
    "below": operator.lt,
    "at_least": operator.ge,
    "equals": operator.eq,
}

# what is read of a log: its last step in training, and the largest values of two signals
FACTS: Final = ("last_step", "largest_learning_rate", "largest_grad_norm")


class Condition(NamedTuple):
    """One comparison."""

    left: str
    comparison: Comparison
    right: str
    times: float = 1.0


def _conditions(cell: str) -> Iterator[Condition]:
    for condition in cell.split(";"):
        left, comparison, right, *rest = condition.split()
        if rest[:1] not in ([], ["times"]):
            raise ValueError(f"{condition!r} is no condition.")
        yield Condition(left, cast("Comparison", comparison), right, *map(float, rest[1:]))


class Rule(Record):
    """A contradiction that speaks for causes."""

    id: str
    conditions: Annotated[tuple[Condition, ...], BeforeValidator(lambda c: tuple(_conditions(c)))]
    strength: Strength
    causes: CauseNames
    statement: str
    source: str


@cache
def setting_rules() -> tuple[Rule, ...]:
    """All rules."""
    return packaged_rows("failbench.diagnose", "setting_rules.csv", Rule)


def configuration_findings(configuration: Configuration, log: Log) -> tuple[Finding, ...]:
    """What in a configuration speaks for a cause, by itself or beside a log."""
    facts = _facts_of(log)
    found = (_contradiction(rule, configuration, facts) for rule in setting_rules())
    return tuple(filter(None, found))


def _facts_of(log: Log) -> dict[str, float]:
    """What rules compare settings with (``FACTS``); a norm that is not finite is infinite."""
    steps = log.rows.step[log.rows.is_train]
    rates = log.series("learning_rate")["learning_rate"]
    norms = log.series("grad_norm")["grad_norm"]
    known = {
        "last_step": steps[steps != NOWHERE],
        "largest_learning_rate": rates[np.isfinite(rates)],
        "largest_grad_norm": np.where(np.isnan(norms), np.inf, norms),
    }
    return {name: float(values.max()) for name, values in known.items() if len(values)}


def _contradiction(
    rule: Rule, configuration: Configuration, facts: Mapping[str, float]
) -> Finding | None:
    values: dict[str, Value] = dict(facts)
    settings: dict[str, Setting] = {}
    for condition in rule.conditions:
        for side in (condition.left, condition.right):
            setting = None if side in FACTS else configuration.find(side)
            if setting is not None:
                settings[side], values[side] = setting, setting.value
    if not all(_holds(condition, values) for condition in rule.conditions):
        return None
    first = rule.conditions[0]
    shown = settings.get(first.left) or settings[first.right]
    value, threshold = values[first.left], values.get(first.right, _literal(first.right))
    said = rule.statement.format(
        name=shown.name,
        value=_words(value),
        threshold=_words(threshold),
        setting=f"{shown.name} ({_words(shown.value)})",
    )
    relation, limit = "", math.nan
    if isinstance(value, float) and isinstance(threshold, float):
        relation, limit = first.comparison, first.times * threshold
    number = value if isinstance(value, float) and math.isfinite(value) else None
    return Finding(
        rule.id, "setting", rule.strength, f"{said}.", configuration.source, shown.line, None,
        shown.name, number, relation, limit if relation else None,
        quote=f"{shown.name}: {_words(shown.value)}"[:300], causes=rule.causes,
    )  # fmt: skip


def _holds(condition: Condition, values: Mapping[str, Value]) -> bool:
    """Whether a condition holds; not where a side is not known or of another type."""
    if condition.left not in values:
        return False
    left = values[condition.left]
    right = values.get(condition.right, _literal(condition.right))
    if condition.comparison in ("is", "has"):
        said, wanted = _words(left).lower(), str(condition.right).lower()
        return wanted == said if condition.comparison == "is" else wanted in said
    if not (isinstance(left, float) and isinstance(right, float)):
        return False
    return bool(_COMPARE[condition.comparison](left, condition.times * right))


def _literal(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text


def _words(value: Value) -> str:
    """A value as a person writes it.

    >>> _words(1000.0), _words(1e-4), _words(True), _words(None)
    ('1000', '0.0001', 'true', 'none')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else value


LARGEST: Final = 2**20  # bytes of a file; the largest modules of transformers have a quarter of it
NOT_READ: Final = "code_not_read"  # id of the finding that says that a file could not be read
_REMEDY: Final = "Name a file of Python, or a folder with some, that may be read."


def code_findings(path: Path) -> tuple[Finding, ...]:
    """Slips by file and line of code that is not run; a file that cannot be read is a finding."""
    try:
        if path.is_file():
            return _findings(path, clean(path.name))
        if path.is_dir():
            return tuple(
                finding
                for file in files_below(path)
                if file.suffix == ".py"
                for finding in _findings(file, clean(file.relative_to(path).as_posix()))
            )
    except OSError as error:
        problem = f"cannot be read ({error.strerror})."
        raise BadInputError(error.filename or path, "(code)", problem, _REMEDY) from error
    raise BadInputError(path, "(code)", "is neither a file nor a folder.", _REMEDY)


def _findings(path: Path, name: str) -> tuple[Finding, ...]:
    with path.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        return (_not_read(name, None, "it has more than 1 MiB"),)
    try:
        with warnings.catch_warnings(action="ignore"):  # of odd escapes in strings
            tree = ast.parse(data)
        found = [
            _slip(find.__name__, name, data, node) for find in CODE_PATTERNS for node in find(tree)
        ]
    except SyntaxError as error:
        return (_not_read(name, error.lineno, f"it is no Python of this version ({error.msg})"),)
    except (ValueError, RecursionError, MemoryError):
        return (_not_read(name, None, "it is no Python, or nests too deep"),)
    return tuple(sorted(found, key=lambda finding: finding.line or 0))


def _not_read(name: str, line: int | None, why: str) -> Finding:
    said = clean(f"{name} was not read: {why}.")
    return Finding(NOT_READ, "code", "circumstantial", said, name, line, None)


def _slip(id_: str, name: str, data: bytes, node: ast.AST) -> Finding:
    slip = slips()[id_]
    line = int(getattr(node, "lineno", 1))
    text = data.splitlines()[line - 1 : line]
    quote = clean(text[0].decode("utf-8", errors="replace")).strip()[:300] if text else ""
    said = slip.statement.format(what=_what(node)) + "."
    return Finding(
        slip.id, "code", slip.strength, said, name, line, None, quote=quote, causes=slip.causes
    )


def _what(node: ast.AST) -> str:
    """What a finding is about, as code of at most 80 letters."""
    if isinstance(node, ast.For):
        node = node.iter
    elif isinstance(node, ast.Call) and node.args == [] and isinstance(node.func, ast.Attribute):
        node = node.func if node.func.attr == "backward" else node.func.value
    return clean(ast.unparse(node))[:80]


class Slip(Record):
    """A slip of training code: what it is called, and how strongly it speaks."""

    id: str
    strength: Strength
    causes: CauseNames
    statement: str
    source: str


@cache
def slips() -> dict[str, Slip]:
    """The catalogue by names."""
    return {row.id: row for row in packaged_rows("failbench.diagnose", "code_patterns.csv", Slip)}
