"""Printed lines: every number that a line says of a training, with its name and its step.

Lines that differ in their numbers alone have one form, which is understood once. A number is named
by the words before it, whatever separates them, in an object by its key, else by a rate behind it.
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from failbench.diagnose.readers.names import (
    BYTES,
    POSITIONS,
    Meaning,
    Split,
    meaning,
    meaning_at_end,
    number,
)
from failbench.diagnose.readers.numbers import NOWHERE, Collector, Name

# what a number does not follow: it would be a part of a word, a version, a path or a range;
# Chinese, Japanese and Korean have no space between words and numbers
_WITHIN: Final = r"(?:[^\W\u3040-\u9fff\uac00-\ud7a3]|[.@/\-+])"


@cache
def number_pattern(decimal: str) -> str:
    """A pattern of numbers, which takes a time in proportion to what it reads: all repeats end.

    It begins with a class of letters, by which the search goes fast. Commas part thousands where
    the decimal sign is a point, and are decimal ones where they can be nothing else.
    """
    end = r"(?![0-9,.])"
    point = r"[0-9]{0,63}(?:\.[0-9]{0,40})?"
    if decimal == ",":
        grouped = r"[0-9]{0,2}(?:\.[0-9]{3}){1,12},[0-9]{1,12}"
        digits = rf"(?:{grouped}{end}|[0-9]{{0,12}},[0-9]{{1,12}}{end}|{point})"
    else:
        grouped = r"[0-9]{0,2}(?:,[0-9]{3}){1,12}(?![0-9])(?:\.[0-9]{0,40})?"
        comma = rf"(?:(?<=0),[0-9]{{1,12}}|[0-9]{{0,12}},(?:[0-9]{{1,2}}|[0-9]{{4,12}})){end}"
        digits = rf"(?:{comma}|{grouped}|{point})"
    power = r"(?:[eE][-+]?[0-9]{1,4})?(?![0-9])"
    inner = rf"(?:[0-9]{digits}{power}|\.[0-9]{{1,40}}{power}|(?i:nan|inf|infinity)\b)"
    return (
        rf"[-+.0-9nNiI](?<!{_WITHIN}[-+.0-9nNiI])(?:(?<=[0-9]){digits}{power}"
        rf"|(?<=[.])[0-9]{{1,40}}{power}|(?<=[-+]){inner}|(?<=[nN])(?i:an)\b"
        r"|(?<=[iI])(?i:nf(?:inity)?)\b)"
    )


# what looks like a number and measures nothing: dates, versions, times, bars, places in files
_NOISE: Final = re.compile(
    r"\b\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)|(?<!\d)\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,9})?\b(?:<[\d:?]{1,12})?"
    r"(?:,\s{0,3}[\d.?]{1,12}\s?\w{1,12}/\w{1,8})?|\d{1,3}%\|[^|]{0,400}\||\b0x[0-9a-fA-F]{1,40}\b"
    r"|\b\w{1,10}://[^\s'\"]{1,300}|(?<![\w./])(?:[~.]{0,2}/)[^\s,;:)\]}'\"]{2,300}(?::\d{1,9})?"
    r"|\b[\w./\\\-]{1,200}\.[a-zA-Z]{1,4}:\d{1,9}\b|^[IWEF]\d{4}\s"
)
# what may stand between a name with its sign and a number
_WRAP: Final = re.compile(
    r"(?:\b(?:tensor|[aA]rray|np\.(?:float|int)\d{1,3})\(|[\[(\"'`~≈$€<>*#]|\s){0,40}$"
)
_SIGN: Final = re.compile(r"\s{0,20}(?:[=:：＝]{1,2}|->|→|—|–|(?<=\s)-)$")
_QUOTED: Final = re.compile(r"(['\"])(?P<name>[^'\"]{1,80})\1$")
_FRAMED: Final = re.compile(r"\|(?P<name>[^\s|]{1,20})\|$")  # a norm, as mathematicians write it
# where a name begins at the latest
_BREAK: Final = re.compile(
    r"[,;|{}<>\t•·—–、。，；\x01\u2500-\u259f]|\s{2,}|[:：=]|(?<=\s)-{1,3}\s|[.!?]\s|[\])](?=\s)|^[\])]"
    r"|\((?=[^)]*$)"
)
_LETTER: Final = re.compile(r"[^\W\d_]")
# words that no name begins or ends with
_OF: Final = re.compile(
    r"an?|and|are|as|at|after|before|by|for|from|in|is|of|on|or|over|than|the|to|was|with",
    re.IGNORECASE,
)
_TOLD_OF: Final = re.compile(r"\s(?:of|at|after|in|for)\s")  # "test loss of epoch 3: 0.5"
# what stands at a number, and whether more of a word follows, which makes it none
_UNIT: Final = re.compile(
    r"(?P<unit>[GMKk]i?B|%|[kKM](?=\s{0,3}[^\W\d]{1,10}/s)|[^\W\d_]{1,4}(?:/[^\W\d]{1,8})?)?"
    r"(?P<rest>[\w]|\.\d)?"
)
_SPACED: Final = re.compile(
    r"\s{1,2}(?:(?:%|[GMK]i?B|ms|s)(?![\w/=:])|[^\W\d]{1,10}/[^\W\d]{1,8}(?=\s{0,2}(?:[,;|)\]]|$)))"
)
_RATE: Final = re.compile(r"[kKM]?\s{0,3}(?P<unit>[^\W\d]{1,10}/(?:s(?:ec)?|second|min|h))\b")
_TOTAL: Final = re.compile(r"\s{0,3}/\s{0,6}(?P<total>\d{1,12})\b|\s{0,3}/\s{1,6}")
_LIST: Final = re.compile(r"['\"]?\s{0,2},\s{0,4}['\"]?[-+.\d]")  # goes on behind its first number
_BAR_NAME: Final = re.compile(r"^\s{0,8}(?P<epoch>\d{1,9})\|(?P<step>\d{1,12})\|(?=Loss)")
_HELD_OUT: Final = re.compile(r"\b(?:valid|validat(?:e|ion)|eval|evaluation|val)\b", re.IGNORECASE)
_TRAIN: Final = re.compile(r"\btrain(?:ing|_inner)?\b", re.IGNORECASE)

# in lines that tell of an exception or warn; the numbers in them are no measurements, unless one
# with a fraction stands at the word: "AngleError 27.60"
_TELLS: Final = re.compile(
    r"(?:Error|Exception|Interrupt|Warning)\b(?!\s?=|\s(?:[-+]?\d{1,12}\.\d|nan\b))"
    r"|Traceback|Invalid learning rate|returning lr="
)

_NO_DIGITS: Final = str.maketrans("", "", "0123456789")
_THOUSANDS: Final = {"k": 1e3, "K": 1e3, "M": 1e6}
MOST_FORMS: Final = 4_096  # forms of lines that are remembered
_MOST: Final = 256  # numbers of a line that are looked at
_BEFORE: Final = 160  # letters before a number that are looked at for its name
_LONGEST: Final = 60  # letters of a name
_WORDS: Final = 5  # its words


class Said(NamedTuple):
    """A number of a line that has a name, and how it is printed."""

    name: Name
    start: int
    is_signed: bool = True
    is_count: bool = False


class Count(NamedTuple):
    """A whole number without a name that a line begins with, or that stands before its total."""

    start: int
    total: float
    is_bar: bool


class Form:
    """What is read from lines that differ in their numbers alone."""

    def __init__(self, said: list[Said], count: Count | None, at: dict[int, int], to: Collector):
        self.places = [at[each.start] for each in said]
        self.names = [to.place(each.name) for each in said]
        means = [each.name.meaning.of if each.name.meaning else None for each in said]
        self.step = means.index("step") if "step" in means else None
        self.epoch = means.index("epoch") if "epoch" in means else None
        self.count = None if count is None else at[count.start]
        self.total = math.nan if count is None else count.total
        self.is_bar = count is not None and count.is_bar
        values = [each for each, of in zip(said, means, strict=True) if of not in POSITIONS]
        self.values = [at[each.start] for each in values]
        signals = {of for of in means if of not in (None, *POSITIONS)}
        # A learning rate among others is that of a configuration, unless it is said again.
        self.measures = bool(signals - {"learning_rate"} or (signals and len(values) == 1))
        self.is_signed = any(each.is_signed for each in values)
        if self.step is None and self.epoch is None and count is None and len(values) > 1:
            # A word that no table has, before a number that counts: "round 3 reward 0.5".
            self.step = 0 if values[0].is_count and not values[1].is_count else None
        self.is_guessed = self.step is not None and means[self.step] is None
        self.is_headed = self.step is not None or self.epoch is not None
        self.held: tuple[int, list[float], float] | None = None

    def is_remark(self, found: list[re.Match[str]]) -> bool:
        """Whether a line without a step has nothing, or whole numbers behind names without sign."""
        return not self.is_signed and all(found[at // 2][0].isdigit() for at in self.values)

    def is_whole(self, parts: list[str], values: list[float]) -> bool:
        """Whether no value of a line has a fraction."""
        named = dict(zip(self.places, values, strict=True))
        return all(named[at].is_integer() and "." not in parts[at] for at in self.values)


class Printed:
    """Reads numbers from lines: objects, ``key=value``, ``key: value``, ``key value``, bars."""

    def __init__(self, rows: Collector, decimal: str = ".") -> None:
        self._rows, self._decimal = rows, decimal
        self._token = re.compile(f"({number_pattern(decimal)})")
        self._forms: dict[str, Form] = {}
        self._silent: set[str] = set()
        self._epoch = math.nan  # the last that a line said which measures nothing

    def form(self, text: str) -> tuple[Form, list[str]] | None:
        """The form of a line and its parts, between them its numbers; None if it has none."""
        parts = self._token.split(text)
        if len(parts) < 3:
            return None
        key = "\0".join(parts[::2])
        form = self._forms.get(key)
        if form is None:
            # A remark says nothing with other digits in its words either, as those of paths are.
            if (silent := key.translate(_NO_DIGITS)) in self._silent:
                return None
            found = list(self._token.finditer(text))[:_MOST]
            at = {match.start(): 2 * place + 1 for place, match in enumerate(found)}
            said, count = _said(text, found, self._decimal)
            form = Form([each for each in said if each.start in at], count, at, self._rows)
            for known in (self._forms, self._silent):
                if len(known) >= MOST_FORMS:
                    known.clear()
            if count is None and not form.is_headed and form.is_remark(found):
                self._silent.add(silent)
            self._forms[key] = form
        return (form, parts) if form.places or form.count is not None else None

    def add(self, line: int, form: Form, parts: list[str], over_bar: bool = False) -> None:
        """Add what a line says; what might be a remark waits for another line of its form."""
        try:
            values = [float(parts[place]) for place in form.places]
        except ValueError:
            values = [self._value(parts[place]) for place in form.places]
        step = self._step(form, values, parts)
        if not form.values:
            if form.places:
                self._rows.add(line, form.names, values, step)
                self._epoch = step if form.step is None else self._epoch
            return
        if not form.measures:
            is_placed = form.is_headed or form.count is not None
            is_whole = form.is_whole(parts, values)
            if is_whole and not (form.is_headed or (form.is_signed and is_placed)):
                return  # a remark: "loaded shard 3", "vocabulary: 65"
            # Behind a step a name with a sign is trusted at once.
            is_trusted = is_placed or (form.is_signed and not math.isnan(self._rows.said))
            is_trusted = is_trusted and not (is_whole or form.is_guessed)
            if not is_trusted and self._waits(line, form, values, step):
                return
        self._rows.add(line, form.names, values, step)
        if over_bar and form.step is None and form.count is None:
            self._rows.wait()

    def _waits(self, line: int, form: Form, values: list[float], step: float) -> bool:
        """Whether a line is the first of its form; before the second, the first is added."""
        if form.held is None:
            form.held = line, values, self._rows.said if math.isnan(step) else step
            return True
        held, earlier, at = form.held
        if held != NOWHERE:
            said = self._rows.said
            self._rows.add(held, form.names, earlier, at)
            self._rows.said = said
            form.held = NOWHERE, earlier, at
        return False

    def _value(self, text: str) -> float:
        found = number(text, self._decimal)
        return math.nan if found is None else found

    def _step(self, form: Form, values: list[float], parts: list[str]) -> float:
        """The step of a line by what it says itself, or not a number."""
        if form.step is not None:
            return values[form.step]
        epoch = math.nan if form.epoch is None else values[form.epoch]
        if form.count is None or (math.isnan(form.total) and form.epoch is not None):
            return epoch
        count = self._value(parts[form.count])
        if form.is_bar:
            self._rows.redraw(count)
        if count == form.total:  # an epoch is over, if any was said
            epoch = self._epoch if math.isnan(epoch) else epoch
            return count if math.isnan(epoch) else epoch
        return count


def _said(text: str, found: list[re.Match[str]], decimal: str) -> tuple[list[Said], Count | None]:
    """The numbers of a line that have names, and the count that says its step without one."""
    if _TELLS.search(text):
        return [], None
    inside = list(_in_object(text, decimal)) if "{" in text else []
    bar = _BAR_NAME.match(text)
    said = [Said(Name(of, Meaning(of)), bar.start(of)) for of in POSITIONS] if bar else []
    shown = _NOISE.sub(lambda match: "\x01" * len(match[0]), text)
    count: Count | None = None
    begin, first = 0, ""
    for match in found:
        (start, end), before, first = match.span(), first, ""
        if shown[start] == "\x01" or (inside and start > text.index("{")):
            continue
        left, begin = shown[begin:start], end
        unit = _UNIT.match(text, end)
        if unit is None or unit["rest"]:
            continue
        if left.rstrip(" '\"").endswith("[") and _LIST.match(shown, end):
            continue
        total = _TOTAL.match(shown, end)
        begin = (total or _SPACED.match(shown, end) or unit).end()
        name, is_signed = _name_before(left[-_BEFORE:])
        if not name and before and unit["unit"] in (None, "%"):
            name = _name_of_second(left.strip(), before)
        is_count = match[0].isdigit() and not unit["unit"]
        meant = _meant(name, unit["unit"] or "")
        if name == "第" and unit["unit"]:  # in Chinese what counts stands behind its number
            meant = _meant(unit["unit"], "")
        rate = _RATE.match(text, end)
        if name and not (total and is_count and not is_signed and meant.meaning is None):
            said.append(Said(meant, start, is_signed, is_count and " " not in name))
            first = name
        elif rate and not name and (said or not is_count):
            factor = _THOUSANDS.get(text[end], 1.0)
            said.append(Said(Name(rate["unit"], meaning(rate["unit"]), factor), start))
        elif is_count and not left.rstrip().endswith("/"):
            count = _counted(shown, start, end, count)
    split: Split | None = None
    if not inside:
        said = _without_lone(said)
        # on what it was measured, which stands before the first number
        words = text[: min((each.start for each in said if each.name.meaning), default=0)]
        if _HELD_OUT.search(words) and not _TRAIN.search(words):
            split = "validation"
    return [_of_split(each, split) for each in said] + inside, count


def _counted(shown: str, start: int, end: int, count: Count | None) -> Count | None:
    """The count of a line: one with its total, else a number that it begins with."""
    total, is_first = _TOTAL.match(shown, end), not _LETTER.search(shown[:start])
    is_bar = "\x01" in shown[:start]
    if not (total and (is_bar or count is None or math.isnan(count.total))) and (
        count or not is_first
    ):
        return count
    of_all = float(total["total"] or math.nan) if total else math.nan
    return Count(start, of_all, is_bar=is_bar and is_first)


def _in_object(text: str, decimal: str) -> Iterator[Said]:
    """The numbers of objects within a line, named by the keys that lead to them."""
    outer: list[str] = []
    for match in _object(decimal).finditer(text, text.index("{")):
        if match["brace"] == "}":
            del outer[-1:]
        elif match["brace"] or match["open"]:
            outer.append(match["key"] or "")
        elif match["value"]:
            key = match["key"]
            name = "/".join([*filter(None, outer), key])
            found = Name(name, meaning(name) or meaning(key))
            yield Said(found, match.start("value"))


@cache
def _object(decimal: str) -> re.Pattern[str]:
    return re.compile(
        r"(?P<quote>['\"])(?P<key>[^'\"]{1,80})(?P=quote)\s{0,4}:\s{0,4}(?:(?P<open>\{)|"
        r"(?:[\w.]{1,20}\()?['\"]?" + f"(?P<value>{number_pattern(decimal)})"
        r"(?:\s?%)?['\"]?(?:,\s?dtype=[\w.]{1,30})?\)?\s{0,4}(?=[,}]))"
        r"|(?P<brace>[{}])|'[^']{0,2000}'|\"[^\"]{0,2000}\""
    )


def _name_before(left: str) -> tuple[str, bool]:
    """The name that stands before a number, or nothing, and whether a sign is between them."""
    wrap = _WRAP.search(left)
    head, between = (left[: wrap.start()], wrap[0]) if wrap else (left, "")
    sign = _SIGN.search(head)
    if sign is not None:
        head = head[: sign.start()]
    elif between.startswith(("' ", '" ')):  # a quotation ends
        return "", False
    framed = _QUOTED.search(head) or _FRAMED.search(head)
    if framed is not None:
        return framed["name"].strip(), sign is not None
    name = _BREAK.split(head)[-1].strip(" \"'`*_#([-/.")
    words = name.split()[-_WORDS:]
    while words and _OF.fullmatch(words[0]):
        del words[0]
    if not words or (sign is None and _OF.fullmatch(words[-1])):
        return "", False
    name = " ".join(words)
    if "[" in between and sign is None:  # a list, or "Step [100/600]"
        found = meaning_at_end(name)
        return (name if found is not None and found.of in POSITIONS else ""), False
    return (name if len(name) <= _LONGEST and _LETTER.search(name) else ""), sign is not None


def _name_of_second(between: str, first: str) -> str:
    """The name of a number behind another: its mean, or what is told of a step."""
    if between in ("(", "="):
        return first
    parts = _TOLD_OF.split(first)
    return parts[0] if between == ":" and len(parts) > 1 else ""


def _meant(name: str, unit: str) -> Name:
    """A name with its meaning; a number with a unit other than bytes is no signal."""
    found = meaning_at_end(name) if not unit or unit in BYTES else None
    return Name(name, found, BYTES.get(unit, 1.0))


def _without_lone(said: list[Said]) -> list[Said]:
    """A signal other than a loss with space alone before it is one beside others only."""
    known = [each for each in said if each.name.meaning is not None]
    if any(each.is_signed for each in known) or len(known) != 1:
        return said
    found = known[0].name.meaning
    if found is None or found.of in ("loss", *POSITIONS):
        return said
    return [each._replace(name=each.name._replace(meaning=None)) for each in said]


def _of_split(said: Said, split: Split | None) -> Said:
    found = said.name.meaning
    if found is None or found.split or split is None:
        return said
    return said._replace(name=said.name._replace(meaning=Meaning(found.of, split)))
