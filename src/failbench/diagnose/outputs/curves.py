"""Curves: the signals of a log with its evidence marked on them, as a file or a part of a page."""

from io import BytesIO
from pathlib import Path
from typing import Final

from failbench.base.errors import BadInputError
from failbench.base.extras import of_extra
from failbench.base.files import write_atomically
from failbench.diagnose.answer import LogDiagnosis

# Of the palettes of Okabe and Ito (2008) and Tol (2021), as in the figures of the studies. Each
# stands for one role, so that a page can turn it into another one where it is dark.
COLOURS: Final = {
    "ink": "#1b1b1b",
    "paper": "#fefefe",
    "line": "#d9d9d9",
    "broken": "#d55e00",
    "evidence": "#661100",
    "train": "#0072b2",
    "validation": "#d98a00",
}

# kinds of files, with what is left out of each so that the same answer gives the same bytes
FORMATS: Final[dict[str, dict[str, None]]] = {
    ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def write_plot(diagnosis: LogDiagnosis, path: Path) -> None:
    """Draw the curves into a file, whose bytes are the same for the same answer."""
    if path.suffix.lower() not in FORMATS:
        problem = f"ends with {path.suffix!r}, which is no kind of picture that is drawn."
        remedy = f"Name a file that ends with {', '.join(FORMATS)}."
        raise BadInputError(path, "--plot", problem, remedy)
    content = _drawn(diagnosis, path.suffix.lower(), transparent=False)
    write_atomically(path, content, "Name a file in a folder that may be written.")


def svg_of(diagnosis: LogDiagnosis) -> str:
    """The curves as an ``svg`` element for a page of HTML, without a background."""
    text = _drawn(diagnosis, ".svg", transparent=True).decode("utf-8")
    return text[text.index("<svg") :]


def _drawn(diagnosis: LogDiagnosis, suffix: str, *, transparent: bool) -> bytes:
    with of_extra("a picture", "pictures"):
        import matplotlib as _  # noqa: F401
    from failbench.diagnose.outputs.drawing import figure_of, style

    stream = BytesIO()
    figure = figure_of(diagnosis)
    with style():
        figure.savefig(stream, format=suffix[1:], metadata=FORMATS[suffix], transparent=transparent)
    return stream.getvalue()
