"""The walls of the sandbox: what a process sees of the machine, and what it may use of it."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from failbench.crashes.dry_run import linux
from failbench.crashes.dry_run.limits import Limits
from failbench.crashes.dry_run.linux import Mount

NOBODY: Final = 65_534
"""Number of the user and group that a cell runs as, inside the sandbox."""

CELL: Final = Path("/cell")
"""The one folder that a cell can write to."""

KEPT: Final = Path("/kept")
"""What libraries keep: written while they are imported, and read-only afterwards."""

SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib64")
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
NAMESPACES_OF_USERS: Final = Path("/proc/sys/user/max_user_namespaces")

APART: Final = (
    linux.NEW_USERS
    | linux.NEW_MOUNTS
    | linux.NEW_NETWORK
    | linux.NEW_PROCESSES
    | linux.NEW_IPC
    | linux.NEW_HOST_NAME
)
"""Namespaces of the process that the sandboxes are forked from."""

APART_AGAIN: Final = linux.NEW_MOUNTS | linux.NEW_PROCESSES | linux.NEW_IPC | linux.NEW_HOST_NAME
"""Namespaces of each dry run."""

CALM: Final = Mount.NO_SUID | Mount.NO_DEVICES


def forbid_namespaces() -> None:
    """Let nobody in this namespace of users make another, in which they had every capability."""
    NAMESPACES_OF_USERS.write_text("0", encoding="ascii")


def build_root() -> None:
    """Replace the root by one that holds Python, its libraries and nothing else of the machine.

    What is taken over is read-only; the root itself still can be written to, until
    :func:`close_root`. Only the first process of new namespaces can do this.

    Raises
    ------
    OSError
        If a mount is refused.
    """
    linux.mount("none", Path("/"), "", Mount.WHOLE | Mount.PRIVATE)
    base = Path("/proc")  # a folder that is always there, and of which nothing is taken over
    root = base / "root"
    linux.mount("tmpfs", base, "tmpfs", CALM, "size=32m,mode=755")
    root.mkdir()
    linux.mount("tmpfs", root, "tmpfs", CALM, "size=32m,mode=755")
    for path in _needed():
        _take_over(path, root)
    (root / "dev").mkdir()
    for name in DEVICES:
        device = root / "dev" / name
        device.touch()
        linux.mount(f"/dev/{name}", device, "", Mount.BIND)
    for folder in ("proc", "old", CELL.name, KEPT.name):
        (root / folder).mkdir()
    (root / "dev" / "shm").symlink_to(CELL)
    linux.mount("proc", root / "proc", "proc", CALM)
    os.chdir(root)
    linux.enter_root(root, root / "old")
    os.chdir("/")
    linux.unmount(Path("/old"))
    Path("/old").rmdir()


def close_root() -> None:
    """Make the root read-only."""
    linux.mount("none", Path("/"), "", Mount.AGAIN | Mount.BIND | Mount.READ_ONLY | CALM)


def enclose(limits: Limits) -> None:
    """Give a dry run an empty folder, and take from it the view of other processes.

    Only a process in new namespaces of mounts and processes can do this.
    """
    linux.mount("none", Path("/"), "", Mount.WHOLE | Mount.PRIVATE)
    linux.unmount(Path("/proc"))
    options = f"size={limits.folder},nr_inodes=4096,mode=700,uid={NOBODY},gid={NOBODY}"
    linux.mount("tmpfs", CELL, "tmpfs", CALM, options)
    os.chdir(CELL)


def become_nobody(limits: Limits) -> None:
    """Bound what this process and its children use, and give up every privilege.

    Raises
    ------
    OSError
        If a wall does not stand afterwards.
    """
    seconds = int(limits.seconds) + 1
    for kind, bound in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits.folder),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))
    linux.leave_keys()
    if os.getuid() != NOBODY:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    linux.renounce()
    linux.show_memory()
    _inspect()


def _inspect() -> None:
    if linux.has_privileges():
        raise OSError("a capability is left")
    if not os.statvfs("/").f_flag & os.ST_RDONLY:
        raise OSError("the root can be written to")
    if os.getppid() != 1 or Path("/proc/1").exists():
        raise OSError("other processes can be seen")


def _needed() -> Iterator[Path]:
    """Folders that Python and its libraries lie in, an outer one before what it holds."""
    places = {Path(place) for place in (*SYSTEM, sys.prefix, sys.base_prefix, *sys.path) if place}
    for place in sorted(places | {place.resolve() for place in places}):
        if place.is_absolute() and place.exists() and len(place.parts) > 1:
            yield place


def _take_over(path: Path, root: Path) -> None:
    """Show a folder or file of the machine in the new root, at the same place, read-only."""
    target = root / path.relative_to("/")
    if target.exists() or target.is_symlink():
        return
    if path.is_symlink() and len(path.parts) == 2:
        target.symlink_to(path.readlink())
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        target.mkdir()
    else:
        target.touch()
    linux.mount(str(path), target, "", Mount.BIND | Mount.WHOLE)
    linux.protect_tree(target)
