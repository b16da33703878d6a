"""The committed corpus, and small notebooks of a test's own."""

import json

import pytest

from failbench.notebooks.corpus import read_corpus


@pytest.fixture
def written(tmp_path):
    """Writes a pair into a folder of its own, and returns the folder of the corpus."""

    def write(crashing, mended):
        folder = tmp_path / "corpus" / "numpy" / "tried"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "crashing.ipynb").write_text(json.dumps(crashing), encoding="utf-8")
        (folder / "mended.ipynb").write_text(json.dumps(mended), encoding="utf-8")
        return folder.parents[1]

    return write


@pytest.fixture(scope="session")
def corpus_folder(repository):
    return repository / "data/notebooks"


@pytest.fixture(scope="session")
def corpus(corpus_folder):
    return read_corpus(corpus_folder)
