"""Writes ``data/interfaces.json.gz``: the public names, arguments and words of the six libraries.

It is executed by hand, in an environment that has the libraries of the notebooks:
``python -m failbench.crashes.rules.knowledge.record``. Nothing that predicts imports it.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import pkgutil
import re
import warnings
from typing import Any, Final

from failbench.crashes.rules.knowledge.interfaces import DATA, FILE, LIBRARIES

MODULES: Final = (
    "numpy", "numpy.linalg", "numpy.random", "numpy.fft", "numpy.ma", "numpy.polynomial",
    "pandas", "pandas.api.types", "pandas.plotting",
    "matplotlib", "matplotlib.pyplot", "matplotlib.cm", "matplotlib.colors", "matplotlib.dates",
    "matplotlib.ticker", "matplotlib.patches", "matplotlib.lines", "matplotlib.animation",
    "matplotlib.gridspec", "matplotlib.style",
    "lightgbm",
    "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils",
    "torch.nn.utils.rnn", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data",
    "torch.linalg", "torch.autograd", "torch.cuda", "torch.distributions",
)  # fmt: skip

CLASSES: Final = (
    "numpy.ndarray", "numpy.random.Generator", "numpy.random.RandomState",
    "pandas.core.groupby.DataFrameGroupBy", "pandas.core.groupby.SeriesGroupBy",
    "pandas.core.window.rolling.Rolling", "pandas.core.resample.DatetimeIndexResampler",
    "pandas.core.strings.accessor.StringMethods",
    "pandas.core.indexes.accessors.DatetimeProperties",
    "matplotlib.figure.Figure", "matplotlib.axes.Axes", "mpl_toolkits.mplot3d.Axes3D",
    "matplotlib.projections.polar.PolarAxes",
    "lightgbm.basic.Booster", "lightgbm.basic.Dataset",
    "sklearn.utils.Bunch",
    "torch.Tensor", "torch.nn.Module",
)  # fmt: skip

ARTISTS: Final = {
    "line": "matplotlib.lines.Line2D",
    "patch": "matplotlib.patches.Patch",
    "rectangle": "matplotlib.patches.Rectangle",
    "collection": "matplotlib.collections.PathCollection",
    "text": "matplotlib.text.Text",
    "image": "matplotlib.image.AxesImage",
}
"""Artists to which methods of axes hand the arguments that they do not know."""


def main() -> None:
    """Record what is installed."""
    warnings.simplefilter("ignore")
    modules: dict[str, list[str]] = {}
    calls: dict[str, str] = {}
    classes: dict[str, dict[str, Any]] = {}
    for module in (*MODULES, *_public_modules("sklearn")):
        loaded = importlib.import_module(module)
        modules[module] = sorted(set(_public(loaded)) | _lazy(loaded))
        for name in modules[module]:
            value = getattr(loaded, name, None)
            if isinstance(value, type) and _is_ours(value):
                _record_class(f"{module}.{name}", value, calls, classes)
            elif callable(value):
                _record_call(f"{module}.{name}", value, calls)
    for path in CLASSES:
        module, _, name = path.rpartition(".")
        _record_class(path, getattr(importlib.import_module(module), name), calls, classes)
    content = {
        "versions": {name: importlib.import_module(name).__version__ for name in LIBRARIES},
        "modules": modules,
        "calls": calls,
        "classes": classes,
        "constraints": _constraints(modules),
        "words": _words(),
        "data_sets": _data_sets(),
    }
    text = json.dumps(content, indent=0, sort_keys=True, separators=(",", ":"))
    (DATA / FILE).write_bytes(gzip.compress(f"{text}\n".encode(), mtime=0))


def _public_modules(package: str) -> list[str]:
    root = importlib.import_module(package)
    found = [package]
    for info in pkgutil.walk_packages(root.__path__, f"{package}."):
        parts = info.name.split(".")
        hidden = any(part.startswith("_") or part in ("tests", "externals") for part in parts)
        if not hidden and len(parts) <= 3 and "conftest" not in parts:
            try:
                importlib.import_module(info.name)
            except ImportError:  # an optional dependency
                continue
            found.append(info.name)
    return found


def _public(owner: Any) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def _lazy(module: Any) -> set[str]:
    names = {name for name in getattr(module, "__all__", ()) if not name.startswith("_")}
    path = getattr(module, "__path__", None)
    inner = {info.name for info in pkgutil.iter_modules(path)} if path else set()
    return names | {name for name in inner if not name.startswith("_")}


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in LIBRARIES


def _parameters(value: Any) -> str | None:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    words = []
    for each in parameters:
        if each.kind is each.VAR_POSITIONAL:
            words.append("*")
        elif each.kind is each.VAR_KEYWORD:
            words.append("**")
        else:
            marks: dict[Any, str] = {each.KEYWORD_ONLY: ":", each.POSITIONAL_ONLY: "/"}
            mark = marks.get(each.kind, "")
            words.append(each.name + mark + ("!" if each.default is each.empty else ""))
    return " ".join(words)


def _record_call(path: str, value: Any, calls: dict[str, str]) -> None:
    known = _parameters(value)
    if known is not None:
        calls[path] = known


def _record_class(
    path: str, cls: type, calls: dict[str, str], classes: dict[str, dict[str, Any]]
) -> None:
    _record_call(path, cls, calls)
    plain = {}
    members = set(_public(cls))
    members = {n for n in members if not n.endswith("_request") and n != "get_metadata_routing"}
    base = importlib.import_module("torch.nn").Module
    if cls is not base and issubclass(cls, base):
        members -= set(_public(base))
    for name in sorted(members):
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property):
            continue
        value = getattr(cls, name, None)
        if callable(value) and not isinstance(value, type):
            known = _parameters(value)
            is_bound = isinstance(member, (classmethod, staticmethod))
            if known is not None and _is_asked(path):
                words = known.split() if is_bound else known.split()[1:]
                calls[f"{path}.{name}"] = " ".join(words)
            plain[name] = True
    learnt = sorted(set(_documented(cls)))
    stored = sorted(set(_stored(cls)) - members - set(learnt))
    classes[path] = {
        "class": f"{cls.__module__}.{cls.__qualname__}",
        "bases": [base.__name__ for base in cls.__mro__[1:-1]],
        "members": sorted(members),
        "methods": sorted(plain),
        "documented": learnt,
        "stored": stored,
        **_habits(cls),
    }


def _is_asked(path: str) -> bool:
    """Whether notebooks call methods of a class; of others the arguments are left out."""
    return path in CLASSES or path.startswith(("sklearn.", "lightgbm.", "pandas.", "torch.nn."))


def _habits(cls: type) -> dict[str, bool]:
    """Whether a class answers for any name, and whether an estimator has nothing to learn."""
    habits = {}
    if any("__getattr__" in vars(each) for each in cls.__mro__[:-1]):
        habits["dynamic"] = True
    if hasattr(cls, "__sklearn_tags__"):
        try:
            if not cls().__sklearn_tags__().requires_fit:
                habits["stateless"] = True
        except Exception:
            return habits
    return habits


def _stored(cls: type) -> list[str]:
    """Attributes that the methods of a class and its bases store in an instance."""
    names: list[str] = []
    for each in cls.__mro__[:-1]:
        if _is_ours(each):
            try:
                source = inspect.getsource(each)
            except (OSError, TypeError):
                continue
            names += re.findall(r"\bself\.([A-Za-z]\w*)(?:, self\.\w+)*(?::[^=\n]+)? = ", source)
    return names


def _documented(cls: type) -> list[str]:
    """Attributes that the docstrings of a class and its bases list, after numpydoc or Google."""
    names: list[str] = []
    for each in cls.__mro__[:-1]:
        text = inspect.cleandoc(each.__doc__) if isinstance(each.__doc__, str) else ""
        section = re.search(r"^Attributes\n-{3,}\n(.*?)(?=^\S[^\n]*\n-{3,}|\Z)", text, re.M | re.S)
        if section:
            names += re.findall(r"^([A-Za-z_]\w*) ?:", section.group(1), re.M)
    return names


def _constraints(modules: dict[str, list[str]]) -> dict[str, dict[str, list[Any]]]:
    constraints: dict[str, dict[str, list[Any]]] = {}
    for module in modules:
        if not module.startswith("sklearn"):
            continue
        loaded = importlib.import_module(module)
        for name in modules[module]:
            value = getattr(loaded, name, None)
            declared = (
                getattr(value, "_parameter_constraints", None)
                if isinstance(value, type)
                else getattr(value, "_skl_parameter_constraints", None)
            )
            if isinstance(declared, dict):
                known = {key: _allowed(each) for key, each in declared.items()}
                constraints[f"{module}.{name}"] = {k: v for k, v in known.items() if v}
    return constraints


def _allowed(declared: Any) -> list[Any]:
    """What a parameter of scikit-learn may be; empty if that cannot be told as data."""
    if isinstance(declared, str):
        return []
    allowed: list[Any] = []
    for each in declared:
        name = type(each).__name__
        if each is None:
            allowed.append({"none": True})
        elif name in ("StrOptions", "Options"):
            options = [option for option in each.options if isinstance(option, (str, int, float))]
            allowed.append({"options": sorted(options, key=str)})
        elif name == "Interval":
            ends = [None if end is None or end in (float("inf"), float("-inf")) else float(end)
                    for end in (each.left, each.right)]  # fmt: skip
            allowed.append({"kind": each.type.__name__, "ends": ends, "closed": each.closed})
        elif isinstance(each, str):
            allowed.append({"word": each})
        elif isinstance(each, type):
            allowed.append({"type": each.__name__})
        elif name == "Hidden":
            return []
        elif each is callable:
            allowed.append({"word": "callable"})
        else:
            allowed.append({"type": name})
    return allowed


def _words() -> dict[str, list[str]]:
    matplotlib = importlib.import_module("matplotlib")
    for inner in ("colors", "markers", "lines", "style", "pyplot", "projections", "scale"):
        importlib.import_module(f"matplotlib.{inner}")
    importlib.import_module("mpl_toolkits.mplot3d")
    figure = matplotlib.figure.Figure()
    colors = matplotlib.colors
    words = {
        "cmap": list(matplotlib.colormaps),
        "marker": [key for key in matplotlib.markers.MarkerStyle.markers if isinstance(key, str)],
        "linestyle": [*matplotlib.lines.Line2D.lineStyles, *matplotlib.lines.ls_mapper.values()],
        "color": [*colors.get_named_colors_mapping()],
        "style": [*matplotlib.style.available, "default"],
        "rcparams": list(matplotlib.rcParams),
        "projection": matplotlib.projections.get_projection_names(),
        "scale": matplotlib.scale.get_scale_names(),
        "format": list(figure.canvas.get_supported_filetypes()),
        "scoring": importlib.import_module("sklearn.metrics").get_scorer_names(),
    }
    for artist, path in ARTISTS.items():
        module, _, name = path.rpartition(".")
        cls = getattr(importlib.import_module(module), name)
        inspector = importlib.import_module("matplotlib.artist").ArtistInspector(cls)
        aliases = [alias for names in inspector.aliasd.values() for alias in names]
        names = [n[4:] for n in dir(cls) if n.startswith("set_")]
        words[f"set {artist}"] = [
            *names,
            *aliases,
            *inspector.aliasd,
            *(_parameters(cls) or "").replace("!", "").replace(":", "").split(),
        ]
    return {key: sorted({word for word in known if word}) for key, known in words.items()}


def _data_sets() -> dict[str, dict[str, Any]]:
    sets = importlib.import_module("sklearn.datasets")
    recorded = {}
    for name in ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"):
        bunch = getattr(sets, f"load_{name}")()
        recorded[f"load_{name}"] = {
            "shape": list(bunch.data.shape),
            "target_shape": list(bunch.target.shape),
            "target_dtype": str(bunch.target.dtype),
            "features": [str(each) for each in bunch.feature_names],
            "classes": len(bunch.target_names) if bunch.target.dtype.kind == "i" else None,
            "keys": sorted(bunch),
        }
    return recorded


if __name__ == "__main__":
    main()
