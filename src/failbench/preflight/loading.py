"""Loading: a function of a user's file that builds what a preflight looks at."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from failbench.errors import BadInputError
from failbench.preflight.raised import text_of

FUNCTIONS: Final = ("preflight", "build")  # names that are looked for where none is given
# what the function returns, in this order or by these names
NAMES: Final = ("model", "optimizer", "loss", "batch")
OPTIONS: Final = ("forward", "vocabulary", "capacity_bytes")  # what it may return by name besides
_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def built_by(target: str) -> dict[str, Any]:
    """What a function of a file returns, by name."""
    name, colon, function = target.rpartition(":")
    if not colon or not name.endswith(".py"):
        name, function = target, ""
    path = Path(name)
    if path.suffix != ".py" or not path.is_file():
        raise BadInputError(target, "FILE", "is no Python file.", "Name a file that ends in .py.")
    build = _function(_imported(path), function, path)
    try:
        made = build()
    except Exception as error:
        problem = f"raises {text_of(error)}"
        remedy = "Mend it, or let it return what it has before that line."
        raise BadInputError(path, build.__name__, _line(problem), remedy) from error
    return _by_name(made, path, build.__name__)


def bytes_of(text: str) -> int:
    """A size as people write it."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or not float(match[1]):
        problem = f"{text!r} is no size."
        raise BadInputError("preflight", "--capacity", problem, "Write 512MiB or 16GiB.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def _imported(path: Path) -> Any:
    folder = str(path.resolve().parent)
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where its dataclasses look it up
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        problem = f"cannot be imported ({_line(text_of(error))})."
        remedy = "Put what trains below `if __name__ == '__main__':`, and run it where it trains."
        raise BadInputError(path, "(file)", problem, remedy) from error
    return module


def _function(module: Any, name: str, path: Path) -> Callable[[], Any]:
    names = (name,) if name else FUNCTIONS
    for each in names:
        function = getattr(module, each, None)
        if callable(function):
            return function
    raise BadInputError(
        path,
        "FUNCTION",
        f"there is no function {' or '.join(names)}.",
        "Write one that returns model, optimizer, loss and batch.",
    )


def _by_name(made: Any, path: Path, function: str) -> dict[str, Any]:
    remedy = f"Return {', '.join(NAMES)}, or a dict with these keys."
    if isinstance(made, Mapping):
        unknown = sorted(map(str, made.keys() - {*NAMES, *OPTIONS}))
        if unknown:
            known = f"Known keys are {', '.join((*NAMES, *OPTIONS))}."
            raise BadInputError(path, function, f"returns the unknown key {unknown[0]!r}.", known)
        missing = [name for name in ("model", "batch") if name not in made]
        if missing:
            raise BadInputError(path, function, f"returns no {missing[0]}.", remedy)
        return {"optimizer": None, "loss": None, **made}
    if not isinstance(made, tuple | list) or len(made) != len(NAMES):
        size = f" of {len(made)}" if isinstance(made, tuple | list) else ""
        raise BadInputError(path, function, f"returns a {type(made).__name__}{size}.", remedy)
    return dict(zip(NAMES, made, strict=True))


def _line(text: str) -> str:
    return " ".join(text.split())
