import os
import signal
import subprocess
import sys
import time

import pytest

from drawn_split import draw_split, write_split
from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.notebooks.corpus import OBSERVED, SPLIT, read_corpus, read_observed
from made_up_notebooks import MENDED, SOURCES, document

pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")
pytest.importorskip("torch")

from failbench.notebooks.kernel import Frame, OutOfTimeError, forge, frames_of
from failbench.notebooks.recorder import MEMORY, record

AGAIN = ("join_shifts", "all_pairs_distance", "baseline_not_run", "clone_loses_fit", "key_of_batch")


def test_frames_are_those_of_cells_without_comprehensions():
    shown = [
        "Traceback \x1b[36m(most recent call last)\x1b[39m:\n",
        "  Cell \x1b[92mIn[3]\x1b[39m\x1b[92m, line 2\x1b[39m\n    sum(f(x) for x in a)\n",
        "  Cell \x1b[92mIn[3]\x1b[39m\x1b[92m, line 2\x1b[39m in \x1b[95m<genexpr>\x1b[39m\n",
        "  File /lib/numpy/core.py:12 in add\n",
        "  Cell \x1b[92mIn[1]\x1b[39m\x1b[92m, line 5\x1b[39m in \x1b[95mf\x1b[39m\n    1 / x\n",
    ]
    assert frames_of(shown) == (Frame(3, 2, None), Frame(1, 5, "f"))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    with forge(limit=60, memory=MEMORY, cache=tmp_path_factory.mktemp("cache")) as started:
        yield started


@pytest.mark.system
def test_a_kernel_keeps_names_between_cells_and_nothing_between_notebooks(kernels):
    with kernels.kernel() as kernel:
        for code in ("a = 1", "a + 1", "open('x', 'w').close()"):
            assert kernel.execute(code) is None
    with kernels.kernel() as kernel:
        assert kernel.execute("a").name == "NameError"
        assert kernel.execute("import os, socket\nassert os.listdir() == []") is None
        network = "socket.create_connection(('192.0.2.1', 9), timeout=2)"
        assert kernel.execute(network) is not None
    with kernels.kernel() as kernel:  # a summary binds no name and counts no execution
        kernel.execute("before = 1")
        kernel.execute("known = set(globals()) | {'known'}")
        assert '"before"' in kernel.summary(["before"], {})
        same = "assert {n for n in globals() if n[0] != '_'} == {n for n in known if n[0] != '_'}"
        assert kernel.execute(same) is None
        assert kernel.execute("1 / 0").frames == (Frame(4, 1, None),)


@pytest.mark.system
def test_a_cell_that_does_not_end_is_killed_and_the_next_kernel_starts(tmp_path):
    with forge(limit=5, memory=MEMORY, cache=tmp_path) as kernels:
        with pytest.raises(OutOfTimeError), kernels.kernel() as kernel:
            kernel.execute("while True: pass")
        with kernels.kernel() as kernel:
            assert kernel.execute("1") is None


@pytest.mark.system
@pytest.mark.parametrize(
    ("crashing", "mended", "problem"),
    [
        (document((SOURCES[0], "1")), MENDED, "does not raise in the crashing version"),
        (document(), document((SOURCES[0], "2 / 0"), version="mended"), "raises ZeroDivisionError"),
        (
            document(("np", SOURCES[1])),
            document(("np", "1"), version="mended"),
            r"cells.0: raises NameError .*, before the target",
        ),
        (
            document(functions_between=3, difficulty="hard"),
            document((SOURCES[0], "1"), version="mended", functions_between=3, difficulty="hard"),
            "the crash passed 0",
        ),
    ],
)
def test_a_pair_that_does_not_do_what_it_says_is_refused(
    written, tmp_path, crashing, mended, problem
):
    pairs = read_corpus(written(crashing, mended))
    with pytest.raises(BadInputError, match=problem):
        record(pairs, tmp_path, tmp_path, print)
    assert not (tmp_path / OBSERVED).exists()


@pytest.mark.system
def test_pairs_recorded_again_are_what_is_committed(repository, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    assert main(["notebooks", "--only", *AGAIN, "--output", str(tmp_path)]) == 0
    columns = ["pair", "version", "crash", "ename", "evalue", "line", "functions", "summary"]
    again = read_observed(tmp_path / OBSERVED).select(columns)
    known = read_observed(repository / "data/notebooks" / OBSERVED).select(columns)
    assert again.equals(known.join(again, ["pair", "version"], "semi").sort("pair", "version"))


@pytest.mark.system
def test_a_recording_that_was_killed_goes_on_and_what_is_known_is_not_recorded_again(
    written, tmp_path, capsys
):
    folder = written(document(), MENDED)
    write_split(folder / SPLIT, draw_split(read_corpus(folder)))
    command = ["notebooks", "--corpus", str(folder)]
    code = f"from failbench.cli.main import main; main({command!r})"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        time.sleep(3)
        os.killpg(process.pid, signal.SIGKILL)
    assert main(command) == 0
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "recorded 0 of 1 pairs"
