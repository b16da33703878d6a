"""The fact that decides whether a cell crashes, in the notebook's own names, and what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from failbench.base.records import Record, packaged_rows
from failbench.crashes.question import Question
from failbench.crashes.sight import FURTHEST, Seen, Sight, sight

LONGEST: Final = 300  # characters of a sentence
LONGEST_REASON: Final = 2000
ROOM: Final = 190  # a shorter sentence has room for what else the line reads
BRIEF: Final = 120  # characters of a message
SHORT: Final = 40  # characters of an expression
FEW: Final = 3
REMEDY: Final = "Compare these objects with what the failing line expects of them."
CUT: Final = "look at what the line reads: not all of it was told"
QUOTED: Final = re.compile(r"['\"`]([^'\"`]+)['\"`]")
ADVICE: Final = re.compile(r" (This error occurred|You might want|Did you mean)|\. [A-Z]")
# arguments that name the columns by which rows are told apart or put in order
KEYS: Final = ("on", "by", "index", "columns", "index_column", "left_on", "right_on", "subset")
IDLE: Final = ("", "library", "function", "class", "random", "unreadable")
Slots = dict[str, str]


@dataclass(frozen=True)
class Deciding:
    """The deciding fact in a sentence, what to do, and what a look at the kernel would tell."""

    text: str
    remedy: str
    hint: str | None


class Rule(Record):
    """What is said of an exception; ``find`` names a finder, or what things must be like."""

    exception: str
    message: str
    find: str
    sentence: str
    remedy: str
    hint: str


class Check(Record):
    """What to look at before a call that depends on values deeper than a summary tells."""

    call: str
    needs: str
    like: str
    hint: str


class Phrase(Record):
    """How a thing of a kind is described."""

    kind: str
    phrase: str


RULES: Final = packaged_rows("failbench.crashes", "facts.csv", Rule)
CHECKS: Final = packaged_rows("failbench.crashes", "checks.csv", Check)
PHRASES: Final = {
    each.kind: each.phrase for each in packaged_rows("failbench.crashes", "phrases.csv", Phrase)
}


def deciding(question: Question, exception: str | None, reason: str, line: int | None) -> Deciding:
    """Join an exception with what is told of the objects that the failing line reads."""
    view = sight(question, line)
    reason = " ".join(reason[:LONGEST_REASON].removeprefix("A rule is broken: ").split()).rstrip(
        "."
    )
    honest = _honest(reason, view)
    brief = _cut(ADVICE.split(honest)[0], BRIEF)
    check = next(_checks(view), None)
    call = next((node for node in view.nodes if isinstance(node, ast.Call)), None)
    for rule in RULES:
        match = re.search(rule.message, reason)
        if match is None or not re.fullmatch(rule.exception, exception or ""):
            continue
        found = (
            FINDERS[rule.find](view, match)
            if rule.find in FINDERS
            else _those(view, match, rule.find)
        )
        if found is None:
            continue
        said = {name: text for name, text in match.groupdict().items() if text}
        slots = {
            "message": brief,
            "whole": _cut(honest, ROOM),
            **_slots_of(call, view),
            **said,
            **found,
        }
        text = rule.sentence.format_map({**slots, "also": ""})
        if "{also}" in rule.sentence:
            text += _also(text, view)
        hint = rule.hint.format_map(slots) if rule.hint else None
        return Deciding(_ended(text), rule.remedy, hint)
    told = _listed([describe(each) for each in _things(view)[:FEW]])
    if question.summary is None or question.summary.truncated:
        check = check or CUT
    return Deciding(_ended(": ".join(filter(None, (told, brief)))), REMEDY, check)


def hints(question: Question) -> tuple[str, ...]:
    """At most three looks at the live kernel, of calls that depend on values not told."""
    return tuple(dict.fromkeys(_checks(sight(question, None))))[:FEW]


def describe(seen: Seen) -> str:
    """What is told of a thing, in a few words."""
    rows, columns = (*seen.shape, "?", "?")[:2]
    steps = seen.facts.get("steps")
    last = _label(seen.items.get(steps[-1], {}).get("type", {}).get("class")) if steps else ""
    phrase = PHRASES.get(seen.kind, "is {an}").format(
        an=_an(seen.label),
        label=seen.label,
        dtype=seen.dtype,
        of=f" of dtype {seen.dtype}" if seen.dtype else "",
        shape=seen.shape,
        rows=rows,
        columns=columns,
        value=seen.facts.get("value"),
        more=_more(seen),
        fit=" that was not fitted" if seen.facts.get("fitted") is False else "",
        last=f", whose last step `{steps[-1]}` is {_an(last)}" if last and steps else "",
    )
    return f"{seen.name} {phrase}"


def _more(seen: Seen) -> str:
    facts = seen.facts
    lengths = facts.get("element_lengths", (0, 0))
    types = sorted(facts.get("element_types", ()))
    parts = {
        f"mixes {' with '.join(types)}": len(types) > 1,
        f"has elements of length {lengths[0]} to {lengths[-1]}": lengths[0] != lengths[-1],
        "has gaps": facts.get("nan_share") or facts.get("null_share"),
        "has infinite values": facts.get("inf_share"),
    }
    if "int" in seen.dtype.lower() and facts.get("range"):
        parts["goes from {} to {}".format(*facts["range"])] = True
    return "".join(f" and {part}" for part, holds in parts.items() if holds)


def _label(path: object) -> str:
    return str(path or "").rpartition(".")[2]


def _an(label: str) -> str:
    sounds = "AEFHILMNORSX" if label[1:2].isupper() else "AEIOaeio"
    return f"{'an' if label[:1] in sounds else 'a'} `{label}`"


def _things(view: Sight) -> list[Seen]:
    """What the line reads, without libraries and functions, and tables of which a part is named."""
    told = [each for each in view.seen if each.kind not in IDLE and each.near < FURTHEST]
    inner = {each.source.partition("[")[0] for each in told if "[" in each.source}
    return [each for each in told if each.kind != "frame" or each.source not in inner]


def _also(text: str, view: Sight) -> str:
    """What else the line reads, as long as there is room."""
    whole = ""
    for each in _things(view):
        more = f"; {describe(each)}"
        is_new = each.name not in text and each.near == 0 and each.kind not in ("object", "mapping")
        if is_new and len(text + whole + more) < ROOM:
            whole += more
    return whole


def _honest(message: str, view: Sight) -> str:
    """A message without texts that a dry run made up, which are like told ones and not told."""
    told = {str(value) for each in view.seen for value in each.facts.get("uniques", ())} - {""}
    shapes = {re.sub(r"\d", "0", each) for each in told}

    def known(found: re.Match[str]) -> str:
        text = found[1]
        is_like = re.sub(r"\d", "0", text) in shapes or text.startswith(tuple(told))
        return "'…'" if text not in told and is_like else found[0]

    return re.sub(r"'([^']*)'", known, message)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(most - 1, 0)].rstrip() + "…"


def _ended(text: str) -> str:
    text = _cut(text[:1].upper() + text[1:], LONGEST - 1)
    return text if text.endswith("…") else f"{text}."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _slots_of(call: ast.Call | None, view: Sight) -> Slots:
    """Of a call, on what it is, its first argument, and the columns that it names."""
    if call is None:
        found = dict.fromkeys(("owner", "first", "what", "call"), "it")
        return {**found, "keys": "[...]", "named": "keys"}
    columns = {name for each in view.seen if each.kind == "frame" for name in each.held}
    by_key = [each.value for each in call.keywords if each.arg in KEYS]
    for given in (by_key, call.args, [call]):
        nodes = [n for each in given for n in ast.walk(each) if isinstance(n, ast.Constant)]
        keys = [each.value for each in nodes if each.value in columns]
        if keys:
            break
    owner = call.func.value if isinstance(call.func, ast.Attribute) else call
    shown = str([*dict.fromkeys(keys)]) if keys else "[...]"
    first = _short(call.args[0] if call.args else owner)
    what = shown if keys else f"`{_short(owner)}`"
    name = _label(ast.unparse(call.func)) or ast.unparse(call.func)
    named = _listed([f"`{each}`" for each in dict.fromkeys(keys)][:FEW]) or "keys"
    found = {"owner": _short(owner), "first": first, "call": name}
    return {**found, "keys": shown, "what": what, "named": named}


def _short(node: ast.expr) -> str:
    """The code of an expression; that of what it begins with if it is long."""
    code = ast.unparse(node)
    if len(code) > SHORT and isinstance(node, ast.Subscript | ast.Attribute):
        return _short(node.value)
    return _cut(code, SHORT)


def _checks(view: Sight) -> Iterator[str]:
    for node in view.nodes:
        if isinstance(node, ast.Call):
            name, code = ast.unparse(node.func), ast.unparse(node)
            for check in CHECKS:
                is_meant = re.search(check.call, name) and re.search(check.needs, code)
                if is_meant and (not check.like or _alike(view, check.like)):
                    yield check.hint.format_map(_slots_of(node, view))


# --- what fills the slots of a sentence; None if nothing is found that it could be about ---


def _those(view: Sight, match: re.Match[str], like: str) -> Slots | None:
    """The nearest things that are like this, those that the message names or counts first."""
    found = _alike(view, like)
    told = match.string
    said = {*QUOTED.findall(told), *re.findall(r"\w+", told.rpartition(":")[2])}
    keyed = [
        node
        for n in view.nodes
        if isinstance(n, ast.keyword) and n.arg in KEYS
        for node in ast.walk(n)
    ]
    keys = {str(node.value) for node in keyed if isinstance(node, ast.Constant)}
    size = match.groupdict().get("size") or ""

    def rank(seen: Seen) -> tuple[bool | int, ...]:
        names = {*QUOTED.findall(seen.name)[:1]} if seen.kind == "column" else {seen.label}
        values = {str(each) for each in seen.facts.get("uniques", ())}
        fits = (size in map(str, seen.shape), names & said, values & said, names & keys)
        return (*(not each for each in fits), seen.near)

    best = min(map(rank, found), default=())
    found = [each for each in found if rank(each) == best]
    if not found:
        return None
    more = f" and {len(found) - FEW} more" if len(found) > FEW else ""
    labels = found[0].facts.get("index_labels", ())[:2]
    return {
        "them": _listed([describe(each) for each in found[:FEW]]) + more,
        "name": found[0].name,
        "source": found[0].source,
        "index": str(found[0].facts.get("index")),
        "labels": ", ".join(f"`{each}`" for each in labels),
    }


def _alike(view: Sight, like: str) -> list[Seen]:
    """What has all of these facts, each a pattern, as ``kind=column dtype=int.*``."""
    wanted = [part.partition("=")[::2] for part in like.split()]
    return [
        each
        for each in view.seen
        if all(re.fullmatch(pattern, str(each.fact(key))) for key, pattern in wanted)
    ]


def _missing(view: Sight, match: re.Match[str]) -> Slots | None:
    """A key that a table, mapping or index does not hold, and what it holds instead."""
    wanted = QUOTED.findall(match["key"]) or [match["key"]]
    bases = [n.value if isinstance(n, ast.Subscript) else n for n in view.nodes]
    asked = [
        re.split(r"[.\[(\n]", ast.unparse(n).strip("( \n"))[0]
        for n in bases
        if isinstance(n, ast.expr)
    ]
    by_label = any(
        isinstance(n, ast.Attribute) and n.attr in ("loc", "xs", "at") for n in view.nodes
    )
    held = [
        (each, "label" if by_label else "column" if each.kind == "frame" else "key", names)
        for each in view.seen
        if (names := [*map(str, each.facts.get("index_labels", ()))] if by_label else each.held)
    ]
    held.sort(key=lambda one: (one[0].source.partition("[")[0] not in asked, one[0].near))
    for holder, kind, names in held:
        lost = [f"`{key}`" for key in wanted if key not in names]
        if lost:
            close = get_close_matches(lost[0], names, 2, 0.5)
            shown = [f"`{each}`" for each in dict.fromkeys([*close, *names])]
            more = f" and {len(shown) - 6} more" if len(shown) > 6 else ""
            listed = _cut(", ".join(shown[:6]), 150) + more
            found = {"holder": holder.name, "kind": kind}
            return {**found, "lost": _listed(lost[:FEW]), "held": listed}
    return None


def _attribute(view: Sight, match: re.Match[str]) -> Slots | None:
    """What was asked for an attribute that it does not have."""
    for node in view.nodes:
        if isinstance(node, ast.Attribute) and node.attr == match["attribute"]:
            base = ast.unparse(node.value)
            seen = next((each for each in view.seen if base == each.source), None)
            told = (
                describe(seen) if seen else f"`{_short(node.value)}` is {_an(_label(match['cls']))}"
            )
            return {"them": told, "source": _short(node.value)}
    return None


def _apart(view: Sight, _: re.Match[str]) -> Slots | None:
    """Two columns of one name that have different dtypes."""
    columns = [each for each in view.seen if each.kind == "column"]
    for one in columns:
        for other in columns:
            is_same = one.name.partition("` of ")[0] == other.name.partition("` of ")[0]
            if is_same and one.dtype != other.dtype:
                return {"one": describe(one), "other": describe(other)}
    return None


def _lengths(view: Sight, match: re.Match[str]) -> Slots | None:
    """Two things of different lengths, those that a message counts if it does."""
    numbers = {int(number) for number in re.findall(r"\d+", match.string)}
    sized = [
        e for e in view.seen if e.shape and e.kind not in ("text", "column") and e.near < FURTHEST
    ]
    pairs = [(a, b) for a in sized for b in sized if a.shape[0] != b.shape[0]]
    counted = [pair for pair in pairs if all(each.shape[0] in numbers for each in pair)]
    if not pairs or (numbers and not counted):
        return None
    one, other = (counted or pairs)[0]
    return {"one": _sized(one), "other": _sized(other)}


def _sized(seen: Seen) -> str:
    if len(seen.shape) > 1 and seen.kind != "frame":
        return f"{seen.name} has the shape {seen.shape}"
    return f"{seen.name} has {seen.shape[0]} {'rows' if seen.kind == 'frame' else 'values'}"


def _reach(view: Sight, _: re.Match[str]) -> Slots | None:
    """Codes beyond the rows of an embedding."""
    for network in [each for each in view.seen if each.kind == "network"]:
        inner = {name: item.get("value", {}) for name, item in network.items.items()}
        for name, facts in {"": network.facts, **inner}.items():
            rows = facts.get("settings", {}).get("num_embeddings")
            whole = [e for e in view.seen if "int" in e.dtype and e.facts.get("range")]
            beyond = [each for each in whole if rows and each.facts["range"][1] >= rows]
            for codes in sorted(beyond, key=lambda each: each.source != name):
                path = ".".join(filter(None, (network.source, name)))
                found = {"name": codes.name, "top": str(codes.facts["range"][1])}
                return {**found, "source": codes.source, "network": path, "rows": str(rows)}
    return None


def _odd(view: Sight, _: re.Match[str]) -> Slots | None:
    """Names of columns that LightGBM does not take."""
    for each in view.seen:
        odd = [f"`{name}`" for name in each.held if re.search(r'[\[\]{}",:]', name)]
        if odd and each.kind == "frame":
            return {"holder": each.name, "odd": _listed(odd[:FEW])}
    return None


FINDERS: Final[dict[str, Callable[[Sight, re.Match[str]], Slots | None]]] = {
    "missing": _missing,
    "attribute": _attribute,
    "apart": _apart,
    "lengths": _lengths,
    "reach": _reach,
    "odd": _odd,
    "nothing": lambda _view, _match: {},
}
