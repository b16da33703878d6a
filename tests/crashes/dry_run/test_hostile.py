import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import failbench

PACKAGE = Path(failbench.__file__).parent

QUIETLY = """
import os
from contextlib import suppress
from pathlib import Path
libc = __import__("ctypes").CDLL(None)
"""


@pytest.fixture
def guarded(tmp_path):
    """A folder of the machine with a file, and what both are to be afterwards."""
    file = tmp_path / "canary"
    file.write_text("sings", encoding="utf-8")

    def state():
        package = sorted((path.name, path.stat().st_mode) for path in PACKAGE.iterdir())
        below = sorted((path.name, path.stat().st_mode) for path in tmp_path.iterdir())
        homes = [Path(place, "hostile").exists() for place in ("/etc", "/tmp", "/", Path.home())]
        return package, below, homes, file.read_text(encoding="utf-8")

    before = state()
    yield tmp_path
    assert state() == before
    assert not any(before[2])


WRITES = {
    "to places of the machine": """
        for place in ("/etc", "/tmp", "/", "/usr", "/dev", "/kept", HOME, PACKAGE, FOLDER):
            with suppress(OSError):
                Path(place, "hostile").write_text("x")
                wrote.append(place)
        """,
    "to the parent of its folder": """
        for place in ("../hostile", "../../../../etc/hostile", f"..{FOLDER}/hostile"):
            with suppress(OSError):
                Path(place).write_text("x")
                wrote.append(place)
        """,
    "through a link": """
        for number, place in enumerate((FOLDER, PACKAGE, "/etc")):
            with suppress(OSError):
                os.symlink(place, f"link{number}")
                Path(f"link{number}", "hostile").write_text("x")
                wrote.append(place)
        """,
    "through a hard link": """
        with suppress(OSError):
            os.link(f"{PACKAGE}/errors.py", "linked")
            wrote.append("linked")
        """,
    "through descriptors of folders": """
        for number in range(64):
            with suppress(OSError):
                os.open("hostile", os.O_CREAT | os.O_WRONLY, dir_fd=number)
                wrote.append(number)
        folder = os.open("..", os.O_RDONLY)
        with suppress(OSError):
            os.open("hostile", os.O_CREAT | os.O_WRONLY, dir_fd=folder)
            wrote.append("..")
        """,
    "after it mounts anew": """
        for flags in (32, 32 | 4096, 4096, 1 << 18):
            for place in (b"/", b"/usr", PACKAGE.encode()):
                if libc.mount(b"none", place, b"", flags, None) == 0:
                    wrote.append(flags)
        if libc.umount2(b"/cell", 2) == 0 or libc.chroot(b"/usr") == 0:
            wrote.append("unmounted")
        if libc.mount(b"tmpfs", b"/cell", b"tmpfs", 0, None) == 0:
            wrote.append("tmpfs")
        """,
    "in namespaces of its own": """
        for namespaces in (0x10000000, 0x10020000, 0x00020000, 0x40000000, 0x20000000):
            if libc.unshare(namespaces) == 0:
                wrote.append(namespaces)
        """,
    "after it changes modes and owners": """
        for place in (PACKAGE, f"{PACKAGE}/errors.py", "/usr", "/dev/null", "/", FOLDER):
            for change in (lambda: os.chmod(place, 0o777), lambda: os.chown(place, 65534, 65534)):
                with suppress(OSError):
                    change()
                    wrote.append(place)
        """,
    "by deleting": """
        for place in (f"{PACKAGE}/errors.py", f"{FOLDER}/canary", "/usr/bin/env"):
            for change in (os.unlink, os.remove, lambda name: os.rename(name, "taken")):
                with suppress(OSError):
                    change(place)
                    wrote.append(place)
        with suppress(OSError):
            os.rmdir(PACKAGE)
            wrote.append("folder")
        """,
    "as another user": """
        for number in (0, 1, 1000):
            with suppress(OSError):
                os.setuid(number)
                wrote.append(number)
        for device in ("sda", "vda", "mem", "kmsg", "loop0", "fuse"):
            with suppress(OSError):
                os.mknod(device, 0o60666, os.makedev(8, 0))
                wrote.append(device)
            if os.path.exists(f"/dev/{device}"):
                wrote.append(device)
        """,
}


@pytest.mark.parametrize("way", WRITES)
def test_a_cell_does_not_write_outside_its_folder(way, hostile, guarded):
    names = f"HOME, PACKAGE, FOLDER = {str(Path.home())!r}, {str(PACKAGE)!r}, {str(guarded)!r}"
    body = "\n".join(line.removeprefix("        ") for line in WRITES[way].splitlines())
    code = f"{QUIETLY}\n{names}\nwrote = []\n{body}\nraise ValueError(wrote)"
    prediction = hostile(code)
    assert (prediction.exception, prediction.reason) == ("ValueError", "[]")


def test_a_cell_writes_to_its_folder_and_the_next_one_finds_it_empty(hostile):
    code = """
        import os
        before = os.listdir()
        with open("kept.txt", "w") as file:
            file.write("x")
        raise ValueError(before, os.listdir("/cell"), os.listdir("/dev/shm"))
        """
    for _ in range(2):
        assert hostile(code).reason == "([], ['kept.txt'], ['kept.txt'])"


def test_a_cell_reaches_no_network(hostile, tmp_path):
    listeners = [socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
    abstract = f"\0failbench-{os.getpid()}"
    places = [("127.0.0.1", 0), abstract, str(tmp_path / "s")]
    for listener, place in zip(listeners, places, strict=True):
        listener.bind(place)
        listener.listen()
        listener.setblocking(False)
    address = listeners[0].getsockname()
    code = f"""
        socket = __import__("socket")
        reached = []
        for family, place in (
            (socket.AF_INET, {address!r}),
            (socket.AF_UNIX, {abstract!r}),
            (socket.AF_UNIX, {places[2]!r}),
        ):
            try:
                socket.socket(family).connect(place)
                reached.append(place)
            except OSError:
                pass
        try:
            reached.append(socket.getaddrinfo("failbench.invalid", 443))
        except OSError:
            pass
        raise ValueError(reached, [name for _, name in socket.if_nameindex()])
        """
    assert hostile(code).reason == "([], ['lo'])"
    for listener in listeners:
        with pytest.raises(BlockingIOError):
            listener.accept()
        listener.close()


ENDLESS = {
    "computes": "while True: pass",
    "sleeps": "import time\ntime.sleep(3600)",
    "ignores signals": """
        signal = __import__("signal")
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
        """,
    "stops itself": "import os\nos.kill(os.getpid(), __import__('signal').SIGSTOP)",
    "prints": "while True: print('x' * 10_000_000)",
    "asks in its message": """
        class Slow(Exception):
            def __str__(self):
                while True: pass
        raise Slow
        """,
}


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=() if way in ("ignores signals", "sleeps") else pytest.mark.system)
        for way in ENDLESS
    ],
)
def test_a_cell_that_does_not_end_is_killed_at_its_limit(way, endless):
    prediction = endless(ENDLESS[way])
    assert prediction.crash is None
    assert "did not end" in prediction.reason


def test_children_that_detach_themselves_end_with_their_cell(hostile, tmp_path):
    code = f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    try:
                        open({str(tmp_path / "late")!r}, "w").write("x")
                    except OSError:
                        time.sleep(0.01)
            os._exit(0)
        os.wait()
        """
    assert hostile(code).crash is False  # and `hostile` saw that nothing is left
    assert not (tmp_path / "late").exists()


def test_a_bomb_of_processes_ends_with_its_cell(endless):
    code = """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """
    assert endless(code).crash is None


def test_the_number_of_processes_is_limited(hostile, limits):
    code = """
        import os, time
        started = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(60)
                started += 1
        except OSError:
            pass
        raise ValueError(started)
        """
    assert 0 < int(hostile(code).reason) < limits.processes


def test_memory_is_limited_in_a_process_and_in_all_together(hostile):
    alone = "held = []\nwhile True: held.append(bytearray(50_000_000))"
    assert hostile(alone).exception == "MemoryError"
    together = """
        import os, time
        for _ in range(16):
            if os.fork() == 0:
                held = bytearray(b"x" * 100_000_000)
                time.sleep(60)
        time.sleep(60)
        """
    assert "memory" in hostile(together).reason


def test_the_folder_is_limited(hostile, limits):
    code = """
        import os
        for number in range(1000):
            try:
                with open(f"file{number}", "wb") as file:
                    file.write(b"x" * 1_000_000)
            except OSError:
                break
        raise ValueError(sum(os.path.getsize(name) for name in os.listdir()))
        """
    assert 0 < int(hostile(code).reason) <= limits.folder


def test_a_cell_sees_no_secret_and_no_other_process(hostile, secret, tmp_path):
    (tmp_path / "token").write_text("open sesame", encoding="utf-8")
    code = f"""
        import os
        libc = __import__("ctypes").CDLL(None)
        seen = [name for name, value in os.environ.items() if "sesame" in name + value]
        for place in ("/proc/1/environ", "/proc/self/environ", {str(tmp_path / "token")!r}):
            try:
                seen.append(open(place).read())
            except OSError:
                pass
        attached = [libc.ptrace(16, number, 0, 0) for number in (1, os.getppid(), {os.getpid()})]
        seen += os.listdir("/proc")
        raise ValueError(seen, {secret!r} in os.environ, attached, os.getppid())
        """
    assert hostile(code).reason == "([], False, [-1, -1, -1], 1)"


def test_a_cell_cannot_kill_its_parents(hostile, small):
    code = """
        import os
        refused = 0
        for number in (os.getppid(), 1, -1, PARENT):
            try:
                os.kill(number, 9)
            except OSError:
                refused += 1
        raise ValueError("alive")
        """
    assert hostile(code.replace("PARENT", str(os.getpid()))).reason == "alive"
    assert hostile("1").crash is False


FORGED = {
    "an answer": ('{"crash": false, "exception": null, "reason": "forged", "line": null}', False),
    "two answers": ('{"crash": false, "exception": null, "reason": "", "line": null}' * 2, None),
    "a refusal": ('{"refused": "nothing"}', None),
    "lines of the protocol": ('\\n{"ended": "answer", "answer": ""}\\n{"ready": true}\\n', None),
    "more than is read": ("x" * 100_000, None),
    "deep nesting": ("[" * 16_000, None),
    "a long number": ('{"crash": true, "exception": "E", "reason": "", "line": 1e999}', None),
    "no name": ('{"crash": true, "exception": "E\\\\nF", "reason": "", "line": 1}', None),
    "no crash": ('{"crash": false, "exception": "E", "reason": "", "line": 1}', None),
    "a key": ('{"crash": null, "exception": null, "reason": "", "line": null, "x": 1}', None),
}
"""What a cell writes, and whether it is then said that it crashes."""


@pytest.mark.parametrize("forged", FORGED)
def test_what_is_written_to_every_descriptor_is_at_most_an_own_answer(forged, hostile, small):
    text, crash = FORGED[forged]
    code = f"""
        import os
        for number in range(100):
            try:
                os.write(number, '''{text}'''.encode())
            except OSError:
                pass
        os._exit(0)
        """
    prediction = hostile(code)
    assert prediction.crash is crash
    assert prediction.exception is None
    assert hostile("1 / 0").exception == "ZeroDivisionError"  # the next answer is its own


ENDS = {
    "raise SystemExit(3)": (True, "SystemExit"),
    "raise KeyboardInterrupt": (True, "KeyboardInterrupt"),
    "raise type('Odd', (BaseException,), {})": (True, "Odd"),
    "raise type('not a name', (Exception,), {})": (None, None),
    "raise type('X' * 1000, (Exception,), {})": (None, None),
    "def f(): f()\nf()": (True, "RecursionError"),
    "import os\nos._exit(0)": (None, None),
    "import os\nos.abort()": (None, None),
    "__import__('ctypes').string_at(0)": (None, None),
    "import requests": (None, None),
    "import sys\nsys.modules.clear()\n1 / 0": (True, "ZeroDivisionError"),
    "import json\njson.dumps = lambda value: 'forged'": (None, None),
    "raise ValueError('\\ud800')": (True, "ValueError"),
    "x = = 1": (True, "SyntaxError"),
    "%matplotlib inline": (None, None),
    "x = '\\0'": (False, None),
}


@pytest.mark.parametrize("code", ENDS)
def test_however_a_cell_ends_its_answer_is_sane(code, hostile):
    prediction = hostile(code)
    assert (prediction.crash, prediction.exception) == ENDS[code]


REFUSED = """
from failbench.crashes.dry_run.predict import predict
from failbench.crashes.dry_run.sandbox import available
from failbench.crashes.question import Question
from failbench.base.errors import BadInputError
assert "This system" in available()
try:
    predict(Question((), "open('ran', 'w')"))
except BadInputError as error:
    print(error)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="takes namespaces away by `unshare`")
def test_without_namespaces_nothing_is_run_and_the_error_says_what_is_missing(granted, tmp_path):
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@"'
    asked = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, sys.executable, "-c", REFUSED],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *sys.path])},
        check=True,
    )
    assert "lacks a wall (" in asked.stdout
    assert "or leave the dry run out" in asked.stdout
    assert not (tmp_path / "ran").exists()


def test_a_sandbox_that_dies_is_an_error_and_leaves_nothing(granted, limits):
    from failbench.base.errors import BadInputError
    from failbench.crashes.dry_run.sandbox import sandbox

    with sandbox(limits, ("failbench.crashes.dry_run.rehearsal",)) as started:
        os.kill(started.process_id, signal.SIGKILL)
        with pytest.raises(BadInputError, match="ended the sandbox"):
            started.run({"executed": [], "target": "1", "summary": None, "seed": 1})
