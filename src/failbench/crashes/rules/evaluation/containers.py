"""Methods of lists, dictionaries, texts and sets, and containers of Python's library."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.evaluation import computed, iteration
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, key_of, lift
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def _list_method(call: Call) -> Value:
    owner = call.receiver
    assert isinstance(owner, Sequence)
    rules = {"append": _append, "extend": _extend, "pop": _pop, "insert": _insert}
    if call.name in rules:
        return rules[call.name](call, owner)
    if call.name == "copy":
        return Sequence(
            owner.kind,
            None if owner.items is None else list(owner.items),
            owner.length,
            owner.element,
        )
    if call.name == "clear":
        owner.items = []
        return Known(None)
    try:
        data = concrete(owner)
        if call.name in ("index", "count", "remove"):
            result = computed.folded(getattr(list(data), call.name), concrete(call.first()))
            if call.name == "remove" and owner.items is not None:
                del owner.items[list(data).index(concrete(call.first()))]
            return result
    except (NotConcreteError, ViolationError) as error:
        if isinstance(error, ViolationError):
            if error.exception == "ValueError" and "ambiguous" not in error.reason:
                raise
            return Unknown()
    if call.name in ("sort", "reverse"):
        if owner.items is not None:
            owner.length, owner.items = len(owner.items), None
        return Known(None)
    if call.name == "remove":
        owner.items, owner.length = None, None
    return Unknown()


def _append(call: Call, owner: Sequence) -> Value:
    if owner.items is not None and call.args:
        owner.items.append(call.first())
    elif owner.length is not None:
        owner.length += 1
    return Known(None)


def _extend(call: Call, owner: Sequence) -> Value:
    iteration.check_iterable(call.first())
    items = iteration.elements(call.first())
    if owner.items is not None and items is not None:
        owner.items.extend(items)
    else:
        owner.items, owner.length = None, None
    return Known(None)


def _pop(call: Call, owner: Sequence) -> Value:
    place = call.integer(0, default=-1)
    size = owner.size
    if size == 0:
        raise ViolationError("IndexError", "pop from an empty list")
    if place is None or owner.items is None:
        owner.items, owner.length = None, None if size is None else size - 1
        return owner.element
    if not -len(owner.items) <= place < len(owner.items):
        raise ViolationError("IndexError", "pop index out of range")
    return owner.items.pop(place)


def _insert(call: Call, owner: Sequence) -> Value:
    place = call.integer(0)
    if place is not None and owner.items is not None and len(call.args) == 2:
        owner.items.insert(place, call.args[1])
    else:
        owner.items, owner.length = None, None
    return Known(None)


def _dict_method(call: Call) -> Value:
    owner = call.receiver
    assert isinstance(owner, Mapping)
    name = call.name
    if name in ("items", "keys", "values"):
        if not owner.is_complete:
            return Sequence("iterator")
        keys: list[Value] = [lift(key) for key in owner.items]
        values = list(owner.items.values())
        if name == "items":
            return Sequence(
                "view", [Sequence("tuple", list(p)) for p in zip(keys, values, strict=False)]
            )
        return Sequence("view", keys if name == "keys" else values)
    if name in ("get", "pop", "setdefault"):
        return _looked_up(call, owner)
    if name == "update":
        given = call.first() if call.args else Mapping()
        if isinstance(given, Mapping):
            owner.items |= given.items
            owner.is_complete &= given.is_complete
        else:
            owner.is_complete = False
        owner.items |= call.kwargs
        return Known(None)
    if name == "copy":
        return Mapping(dict(owner.items), owner.is_complete, owner.kind)
    if name == "clear":
        owner.items.clear()
        owner.is_complete = True
        return Known(None)
    if name == "popitem":
        if owner.is_complete and not owner.items:
            raise ViolationError("KeyError", "popitem of an empty dict")
        owner.items.clear()
        owner.is_complete = False
    return Unknown()


def _looked_up(call: Call, owner: Mapping) -> Value:
    try:
        key = key_of(call.first())
    except NotConcreteError:
        if call.name != "get":
            owner.is_complete = False
        return Unknown()
    if key in owner.items:
        return owner.items.pop(key) if call.name == "pop" else owner.items[key]
    if not owner.is_complete:
        return Unknown()
    default = call.args[1] if len(call.args) > 1 else None
    if call.name == "pop" and default is None:
        raise ViolationError("KeyError", f"{key!r} is none of the keys {list(owner.items)[:8]}")
    value = default or Known(None)
    if call.name == "setdefault":
        owner.items[key] = value
    return value


def _text_method(call: Call) -> Value:
    owner = call.receiver
    assert isinstance(owner, Known)
    if call.name == "join" and call.args:
        items = iteration.elements(call.first())
        for item in items or []:
            is_text = isinstance(item, Known) and isinstance(item.data, (str, bytes))
            if isinstance(item, Known) and not is_text:
                raise ViolationError("TypeError", "what is joined must be text")
    try:
        args = [concrete(each) for each in call.args]
        kwargs = {key: concrete(each) for key, each in call.kwargs.items()}
    except NotConcreteError:
        return (
            Array("python", (), "str") if call.name in ("format", "join", "replace") else Unknown()
        )
    if not computed.is_small(owner.data, *args) or call.name in (
        "zfill",
        "ljust",
        "rjust",
        "center",
        "expandtabs",
    ):
        return Array("python", (), "str")
    method: Any = getattr(owner.data, call.name)
    if call.name == "format" and any(not isinstance(each, (int, float, str)) for each in args):
        return Array("python", (), "str")
    return computed.folded(lambda: method(*args, **kwargs))


def _set_method(call: Call) -> Value:
    owner = call.receiver
    assert isinstance(owner, Sequence)
    try:
        data = set(concrete(owner))
        args = [concrete(each) for each in call.args]
        result = computed.folded(lambda: getattr(data, call.name)(*args))
        owner.items = [lift(each) for each in sorted(data, key=repr)]
        return result
    except (NotConcreteError, TypeError):
        owner.items = None
        return Unknown()


def _mapping_of(kind: str) -> Handler:
    def made(call: Call) -> Value:
        value = call.args[-1] if call.args else Mapping()
        if kind == "defaultdict":
            return Mapping({}, True, kind)
        if kind == "OrderedDict" and isinstance(value, Mapping):
            return Mapping(dict(value.items), value.is_complete)
        return Mapping({}, not call.args, kind if kind != "OrderedDict" else "dict")

    return made


def _text_file(call: Call) -> Value:
    return Thing("io.StringIO", {"text": call.text(0, "initial_value", default="")})


FUNCTIONS: Final[dict[str, Handler]] = {
    "list.*": _list_method,
    "tuple.*": _list_method,
    "view.*": _list_method,
    "dict.*": _dict_method,
    "str.*": _text_method,
    "set.*": _set_method,
    "collections.defaultdict": _mapping_of("defaultdict"),
    "collections.Counter": _mapping_of("Counter"),
    "collections.OrderedDict": _mapping_of("OrderedDict"),
    "io.StringIO": _text_file,
}
