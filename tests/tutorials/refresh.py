"""Writes into tutorials what their commands print now; ``make tutorials`` calls it.

Read the difference before it is committed: dots that no longer hold give way to what was printed.
"""

import argparse
import tempfile
from pathlib import Path

from pages import TUTORIALS
from walk_through import refreshed


def main() -> None:
    names = [tutorial.name for tutorial in TUTORIALS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    chosen = parser.parse_args().names or names
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no tutorial {', '.join(sorted(unknown))}")
    for tutorial in TUTORIALS:
        if tutorial.name in chosen:
            with tempfile.TemporaryDirectory() as folder:
                walk = tutorial.begin(Path(folder))
                text = refreshed(tutorial.path.read_text(encoding="utf-8"), walk)
            tutorial.path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
