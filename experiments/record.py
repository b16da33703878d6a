"""Stage record: every run of every small setting of params.yaml, as `failbench record` records it.

The stage is frozen, because the recordings are committed; it has no dependencies, because the
stage check compares the fingerprint of every run with the code.
"""

from __future__ import annotations

import sys

from failbench.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["record"]))
