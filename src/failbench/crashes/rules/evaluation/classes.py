"""Classes of the notebook, and what they inherit."""

from __future__ import annotations

import ast

from failbench.crashes.rules.knowledge.values import (
    Class,
    Instance,
    Known,
    Symbol,
    Thing,
    Unknown,
    Value,
)


def parents(cls: Class) -> list[Class]:
    """A class of the notebook and those of the notebook that it inherits from."""
    result = [cls]
    for base in cls.bases:
        if isinstance(base, Class):
            result += parents(base)
    return result


def library_bases(cls: Class) -> list[str] | None:
    """Paths of the classes of libraries that a class inherits from; None if one is unknown."""
    paths: list[str] = []
    for base in cls.bases:
        if isinstance(base, Class):
            further = library_bases(base)
            if further is None:
                return None
            paths += further
        elif isinstance(base, Symbol):
            paths.append(base.path)
        else:
            return None
    return paths


def is_network(value: Value) -> bool:
    """Whether a value is an object of a class of the notebook that is a module of torch."""
    if not isinstance(value, Instance):
        return False
    return any(path.endswith("nn.Module") for path in library_bases(value.cls) or [])


def marked(value: Value, path: str) -> Value:
    """A member of a class under a decorator of Python."""
    return Thing(path.rpartition(".")[2], {"function": value})


def data_class(value: Value, node: ast.ClassDef) -> Value:
    """A class under the decorator ``dataclass``: its ``__init__`` is made of its annotations."""
    if isinstance(value, Class):
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        names = [each.target.id for each in fields if isinstance(each.target, ast.Name)]
        value.members["<fields>"] = Known(tuple(names))
    return value


def entered(value: Value) -> Value:
    """What a context gives."""
    return value if isinstance(value, (Thing, Instance)) else Unknown()
