import pytest

from drawn_split import draw_split, write_split
from failbench.base.errors import BadInputError
from failbench.notebooks.corpus import SPLIT, check_unchanged, read_corpus, read_split
from made_up_notebooks import MENDED, SOURCES, document


@pytest.fixture(scope="module")
def split(corpus_folder):
    return read_split(corpus_folder / SPLIT)


def test_the_committed_split_is_the_one_that_was_drawn_of_the_same_bytes(corpus, split):
    assert tuple(split.values()) == draw_split(corpus)


@pytest.fixture
def drawn(written):
    """A corpus of one pair with its split."""
    folder = written(document(), MENDED)
    write_split(folder / SPLIT, draw_split(read_corpus(folder)))
    return folder


def test_a_pair_that_changed_is_named(drawn, written):
    again = document((SOURCES[0], "np.ones(2) * np.ones(2)"), version="mended")
    pairs = read_corpus(written(document(), again))
    with pytest.raises(BadInputError, match=r"mended.ipynb: \(file\): has changed since"):
        check_unchanged(pairs, read_split(drawn / SPLIT), drawn / SPLIT)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "", "in neither part"),
        (lambda text: text.replace("development", "half").replace("test", "half"), "part"),
        (lambda text: text + text.splitlines()[1] + "\n", "there twice"),
        (lambda text: text.replace("sha256_mended", "sha256"), "sha256"),
    ],
)
def test_a_bad_split_gives_one_line(drawn, change, problem):
    path = drawn / SPLIT
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BadInputError, match=problem) as caught:
        check_unchanged(read_corpus(drawn), read_split(path), path)
    assert "\n" not in str(caught.value)
