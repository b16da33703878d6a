"""Where the corpus is kept between campaigns, under a name that says what it was made by."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

from failbench.recording.fingerprint import corpus_code


def corpus_cache(folder: Path) -> Path:
    """Path of the file that keeps the corpus of this code, interpreter and tokenizer library.

    A cache under one fixed name outlived an edit of the code that had made it, and 500 runs were
    recorded on a corpus that nobody could make again; so another maker has another file.

    Parameters
    ----------
    folder
        Folder of what campaigns keep while they run.
    """
    makers = (corpus_code(), platform.python_version(), version("tokenizers"))
    return folder / f"corpus-{hashlib.sha256(' '.join(makers).encode()).hexdigest()[:12]}.json"
