"""Execute the notebooks of the corpus in live kernels, and keep what was observed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from failbench.base.errors import BadInputError
from failbench.cli.paths import NOTEBOOKS
from failbench.notebooks.corpus import SPLIT, check_unchanged, read_corpus, read_split


def record_notebooks(
    only: Sequence[str] | None = None, corpus: Path = NOTEBOOKS, output: Path | None = None
) -> int:
    """Record notebooks that are new or changed; see ``docs/notebooks.md``."""
    for name in ("jupyter_client", "ipykernel", "torch"):
        if find_spec(name) is None:
            remedy = "Install the extra: pip install -e '.[notebooks]'."
            raise BadInputError("failbench notebooks", name, "is not installed.", remedy)
    from failbench.notebooks.recorder import record

    pairs = read_corpus(corpus)
    check_unchanged(pairs, read_split(corpus / SPLIT), corpus / SPLIT)
    known = [pair.card.pair for pair in pairs]
    for name in only or ():
        if name not in known:
            problem = f"{name!r} is no pair of {corpus}."
            raise BadInputError("--only", "PAIR", problem, f"Name one such as {known[0]}.")
    with tempfile.TemporaryDirectory(prefix="failbench-") as cache:
        number = record(pairs, output or corpus, Path(cache), print, only or ())
    print(f"recorded {number} of {len(pairs)} pairs")
    return 0
