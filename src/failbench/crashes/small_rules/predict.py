"""A few rules of Python and of six libraries, held against what is established before a cell."""

import ast
from contextlib import suppress
from typing import Any, Final

from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.crashes.small_rules.interpreter import Interpreter, Returned, Uncertain
from failbench.crashes.small_rules.values import Value, Violation, literal

SIGNS: Final = {"keys": "mapping", "learnt": "estimator"} | dict.fromkeys(
    ("columns", "dtypes", "by_column"), "frame"
)


def predict(question: Question) -> CrashPrediction:
    """Whether the target certainly breaks a rule."""
    try:
        target = ast.parse(question.target)
    except (SyntaxError, ValueError) as error:
        reason, line = f"The cell is not Python: {error}.", getattr(error, "lineno", None)
        return CrashPrediction(True, type(error).__name__, reason, line)
    except RecursionError:
        return CrashPrediction(False, None, "The cell is nested too deeply to be read.")
    try:
        _before(question).run(target.body)
    except Violation as found:
        exception, reason = found.args
        return CrashPrediction(True, exception, f"A rule is broken: {reason}.", found.line)
    except (Uncertain, Returned, RecursionError):
        pass
    return CrashPrediction(False, None, "No rule finds a violation.")


def _before(question: Question) -> Interpreter:
    """What is established before the target, by the executed cells and the summary."""
    notebook = Interpreter()
    for source in question.executed:
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError):
            notebook.is_open = True
            notebook.names.clear()
            continue
        for statement in body:
            try:
                notebook.run([statement])
            except (Violation, Uncertain, Returned):  # it raised nothing, whatever a rule says
                notebook.local, notebook.depth = None, 0
                with suppress(Uncertain):
                    notebook.skip([statement])
    summary = question.summary
    if summary is not None:
        tensors = "torch" in {value.path.partition(".")[0] for value in notebook.names.values()}
        for name in summary.absent:
            notebook.names.pop(name, None)
        for name, entry in summary.names.items():
            seen = described(entry, tensors=tensors)
            notebook.names[name] = overlaid(notebook.names.get(name), seen)
    return notebook


def described(entry: dict[str, Any], *, tensors: bool) -> Value:
    """The value that an entry describes; ``tensors`` reads a shape alone as that of a tensor."""
    said = entry.get("type", {})
    facts = said | entry.get("structural", {}) | entry.get("value", {})
    kind = said.get("kind") or next((SIGNS[sign] for sign in SIGNS if sign in facts), "")
    if not kind and "shape" in facts:
        kind = "tensor" if tensors else "array"
    value = Value(kind, said.get("class", ""), dtype=str(facts.get("dtype", "")), facts=facts)
    if "shape" in facts or "length" in facts:
        value.shape = tuple(facts.get("shape", [facts.get("length")]))
    shown = facts.get("value")
    if kind in ("text", "number", "") and shown not in (None, "inf", "-inf", "nan"):
        value.constant = value.constant if str(shown).endswith("…") else shown
    if kind == "none":
        value.constant = None
    if kind == "library":
        value.path = facts.get("module", "")
    elif kind == "function" and value.cls == "function" and facts.get("module") != "__main__":
        value.path = f"{facts.get('module')}.{facts.get('name')}"
    elif kind == "class" and not value.cls.startswith("__main__"):
        value.path = value.cls
    items = entry.get("items", {}).items()
    _fill(value, {name: described(item, tensors=tensors) for name, item in items})
    return value


def _fill(value: Value, inner: dict[str, Value]) -> None:
    facts = value.facts
    if value.kind == "sequence":
        value.items = {int(place): item for place, item in inner.items() if place.isdigit()}
        value.items |= {at: literal(each) for at, each in enumerate(facts.get("first", ()))}
    elif value.kind == "mapping":
        keys = facts.get("keys")
        if keys is not None and len(keys) == facts.get("length") and _is_plain(keys):
            value.keys = list(keys)
        value.items = {key: inner[str(key)] for key in value.keys or inner if str(key) in inner}
    elif value.kind == "frame":
        dtypes, contents = facts.get("dtypes", {}), facts.get("by_column", {})
        names = facts.get("columns", list(dtypes or contents))
        if len(names) < 40 and _is_plain(names):  # more are left out
            value.keys = list(names)
        for name in map(str, names):
            more = {"dtype": dtypes.get(name, ""), **contents.get(name, {})}
            shape = value.shape and value.shape[:1]
            value.items[name] = Value("series", "", shape, more["dtype"], facts=more)
    else:
        value.keys, value.items = facts.get("fields"), inner


def _is_plain(names: list[Any]) -> bool:
    """Whether all are whole texts and integers, not several levels, objects or beginnings."""
    odd = [name for name in map(str, names) if name.startswith(("[", "<")) or name.endswith("…")]
    return not odd and all(isinstance(name, str | int) for name in names)


def overlaid(code: Value | None, seen: Value) -> Value:
    """What the summary says, and beside it what code establishes of the same value."""
    if code is None or (seen.kind and code.kind not in ("", "library", seen.kind)):
        return seen
    if code.kind == "library" or code.node is not None:
        code.facts |= seen.facts
        return code
    seen.kind, seen.cls = seen.kind or code.kind, seen.cls or code.cls
    seen.shape, seen.dtype = seen.shape or code.shape, seen.dtype or code.dtype
    seen.keys = code.keys if seen.keys is None else seen.keys
    seen.constant = seen.constant if seen.is_fixed else code.constant
    seen.items, seen.facts = code.items | seen.items, code.facts | seen.facts
    if seen.facts.get("learnt"):
        seen.facts["fitted"] = True
    return seen
