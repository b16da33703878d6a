"""Values with partial knowledge; what is not known is None, and :class:`Unknown` knows nothing."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Final

import numpy.typing as npt

Data = npt.NDArray[Any]
Shape = tuple[int | None, ...]

FOLDED: Final = 100_000
"""Elements of an array whose values are kept; of a larger one only facts are."""


@dataclass(eq=False)
class Value:
    """Base of all values.

    Attributes
    ----------
    absent
        Attributes of which a summary says that the value has not got them.
    """

    absent: frozenset[str] = field(default=frozenset(), init=False, repr=False)


@dataclass(eq=False)
class Unknown(Value):
    """A value of which nothing is known."""


@dataclass(eq=False)
class Known(Value):
    """A constant of Python: a number, text, bytes, truth value, slice, None or Ellipsis."""

    data: Any


@dataclass(eq=False)
class Sequence(Value):
    """A list, tuple, set, range or other run of elements.

    Parameters
    ----------
    kind
        Name of the class, or ``iterator`` for what can be gone through once.
    items
        Its elements; None if they are not known.
    length
        How many; None if not known.
    element
        What an element is like, if the elements are not known one by one.
    """

    kind: str
    items: list[Value] | None = None
    length: int | None = None
    element: Value = field(default_factory=Unknown)

    @property
    def size(self) -> int | None:
        """How many elements there are, if that is known."""
        return self.length if self.items is None else len(self.items)


@dataclass(eq=False)
class Mapping(Value):
    """A dictionary.

    Parameters
    ----------
    items
        What is known to be in it, by key.
    is_complete
        Whether nothing else is in it.
    kind
        ``dict``, or a class that behaves so: ``Bunch``, ``defaultdict``, ``Counter``, ``archive``.
    """

    items: dict[Any, Value] = field(default_factory=dict)
    is_complete: bool = True
    kind: str = "dict"


@dataclass(eq=False)
class Symbol(Value):
    """A module, class, function or constant of a library, by the path of its documentation."""

    path: str


@dataclass(eq=False)
class Function(Value):
    """A function of the notebook, or a lambda, with the names that it sees."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    defaults: dict[str, Value]
    closure: list[dict[str, Value]]

    @property
    def name(self) -> str:
        """As Python prints it."""
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(eq=False)
class Class(Value):
    """A class of the notebook."""

    name: str
    bases: list[Value]
    members: dict[str, Value]
    is_complete: bool = True


@dataclass(eq=False)
class Instance(Value):
    """An object of a class of the notebook."""

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)
    is_complete: bool = True


@dataclass(eq=False)
class Bound(Value):
    """A method, or another attribute that is called, together with what it was asked of."""

    receiver: Value
    name: str
    function: Function | None = None


@dataclass(eq=False)
class Thing(Value):
    """An object of a library that has no class of its own here, with the facts that rules use."""

    path: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Array(Value):
    """Numbers or other values in a grid: an array, tensor, series, index or a scalar of them.

    Parameters
    ----------
    home
        ``numpy``, ``torch``, ``series``, ``index``, or ``python`` for a number of Python whose
        value is not known.
    dtype
        As numpy names it; text is ``str``, dates are ``datetime64``, categories ``category``.
    data
        The values, if they follow from what is written; never more than :data:`FOLDED`.
    low, high, is_attained
        Lowest and highest value without NaN, and whether both occur or are bounds alone.
    nan, inf
        Whether there is any.
    uniques
        The distinct values, if all are known.
    distinct
        How many there are.
    labels, name
        Index and name of a series.
    categories
        Those of a categorical series.
    fields
        Names of the fields of a structured array.
    device, needs_grad, has_graph, is_contiguous, graph
        Of a tensor; ``graph`` stands for what backward frees, the same object for all that
        share it.
    is_unique
        Whether no value occurs twice.
    element_types
        Classes of the elements of objects.
    member
        What an element is, if it is no number or text.
    """

    home: str
    shape: Shape | None = None
    dtype: str | None = None
    data: Data | None = None
    low: float | None = None
    high: float | None = None
    is_attained: bool = False
    nan: bool | None = None
    inf: bool | None = None
    uniques: tuple[Any, ...] | None = None
    distinct: int | None = None
    labels: Array | None = None
    name: Value | None = None
    categories: tuple[Any, ...] | None = None
    fields: tuple[str, ...] | None = None
    device: str | None = "cpu"
    needs_grad: bool | None = False
    is_leaf: bool | None = True
    is_contiguous: bool | None = None
    graph: tuple[Graph, ...] = ()
    is_unique: bool | None = None
    element_types: tuple[str, ...] | None = None
    member: Value | None = None

    @property
    def rank(self) -> int | None:
        """Number of axes."""
        return None if self.shape is None else len(self.shape)

    @property
    def length(self) -> int | None:
        """Size of the first axis."""
        return self.shape[0] if self.shape else None

    @property
    def size(self) -> int | None:
        """Number of elements."""
        if self.shape is None or any(each is None for each in self.shape):
            return None
        total = 1
        for each in self.shape:
            total *= each or 0
        return total


@dataclass(eq=False)
class Graph:
    """What one operation keeps for the way back, until a backward pass frees it."""

    is_freed: bool = False


@dataclass(eq=False)
class Frame(Value):
    """A table of pandas.

    Parameters
    ----------
    columns
        By label, in order; None if they are not known.
    is_complete
        Whether there are no other columns.
    rows
        How many.
    labels
        The index.
    width
        How many columns there are, where their labels are not known.
    """

    columns: dict[Any, Array] | None = None
    is_complete: bool = True
    rows: int | None = None
    labels: Array | None = None
    width: int | None = None


@dataclass(eq=False)
class Estimator(Value):
    """An estimator of scikit-learn or LightGBM.

    Parameters
    ----------
    path
        Of its documentation.
    settings
        Arguments that were given.
    fitted
        Whether it learnt.
    features, names
        Number and names of the features it learnt from.
    classes
        Labels it learnt, if all are known.
    n_classes
        How many.
    steps
        Of a pipeline, column transformer or vote, by name.
    learnt
        Attributes that a summary says it has.
    facts
        What else rules use.
    """

    path: str
    settings: dict[str, Value] = field(default_factory=dict)
    fitted: bool | None = False
    features: int | None = None
    names: tuple[Any, ...] | None = None
    classes: tuple[Any, ...] | None = None
    n_classes: int | None = None
    steps: dict[str, Value] | None = None
    learnt: frozenset[str] | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of its class."""
        return self.path.rpartition(".")[2]


@dataclass(eq=False)
class Network(Value):
    """A layer, or a container of layers, of torch.

    Parameters
    ----------
    path
        Of its documentation.
    settings
        Its arguments, by name.
    children
        Its layers by name.
    parameters
        Its own weights by name; None if they are not known.
    """

    path: str
    settings: dict[str, Value] = field(default_factory=dict)
    children: dict[str, Value] = field(default_factory=dict)
    parameters: dict[str, Array] | None = None

    @property
    def name(self) -> str:
        """Name of its class."""
        return self.path.rpartition(".")[2]
