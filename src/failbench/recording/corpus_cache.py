"""The corpus cache, whose file name identifies the code that made it."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

from failbench.recording.fingerprint import corpus_code


def corpus_cache(folder: Path) -> Path:
    """Path of the file that keeps the corpus of this code, interpreter and tokenizer library.

    A cache under a fixed name once outlived a change of the code that made it, and 500 runs were
    recorded on a corpus that could not be made again; so other code uses another file.
    """
    makers = (corpus_code(), platform.python_version(), version("tokenizers"))
    return folder / f"corpus-{hashlib.sha256(' '.join(makers).encode()).hexdigest()[:12]}.json"
