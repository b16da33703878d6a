"""System calls of Linux that Python's library has no function for."""

from __future__ import annotations

import ctypes
import os
import platform
from enum import IntFlag
from pathlib import Path
from typing import Final

NEW_MOUNTS: Final = 0x00020000
NEW_HOST_NAME: Final = 0x04000000
NEW_IPC: Final = 0x08000000
NEW_USERS: Final = 0x10000000
NEW_PROCESSES: Final = 0x20000000
NEW_NETWORK: Final = 0x40000000
"""Namespaces, as ``unshare(2)`` numbers them."""


class Mount(IntFlag):
    """Flags of ``mount(2)``."""

    READ_ONLY = 1
    NO_SUID = 2
    NO_DEVICES = 4
    AGAIN = 32
    BIND = 4096
    WHOLE = 16384
    PRIVATE = 1 << 18


DETACH: Final = 2
PATH_IS_EMPTY: Final = 0x1000
RECURSIVE: Final = 0x8000

MOUNT_SETATTR: Final = 442
"""The same number on every machine, as of all calls since Linux 5.0."""

PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
KEYCTL: Final = {"x86_64": 250, "aarch64": 219, "riscv64": 219}
"""Numbers of calls that the C library has no function for, by ``platform.machine()``."""

JOIN_NEW_SESSION: Final = 1
PARENT_DEATH: Final = 1
DUMPABLE: Final = 4
BOUNDING_DROP: Final = 24
NO_NEW_PRIVILEGES: Final = 38
GET_NO_NEW_PRIVILEGES: Final = 39
AMBIENT: Final = 47
CLEAR_ALL: Final = 4
CAPABILITIES: Final = 64
"""More than there are; to drop one that is not there is refused, which ends the list."""

CAPABILITY_VERSION: Final = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("users", ctypes.c_uint64),
    ]


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("process", ctypes.c_int)]


class _CapabilitySets(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint32 * 6)]


def unshare(namespaces: int) -> None:
    """Leave namespaces for new ones.

    Raises
    ------
    OSError
        If the system grants none; so of every function here.
    """
    _checked(_libc.unshare(ctypes.c_int(namespaces)), "unshare")


def mount(source: str, target: Path, kind: str, flags: Mount, data: str = "") -> None:
    """Mount a file system, or change a mount."""
    texts = [ctypes.c_char_p(os.fsencode(text)) for text in (source, target, kind)]
    number = ctypes.c_ulong(int(flags))
    status = _libc.mount(*texts, number, ctypes.c_char_p(data.encode()))
    _checked(status, f"mount {target}")


def unmount(target: Path) -> None:
    """Take a mount away."""
    status = _libc.umount2(ctypes.c_char_p(os.fsencode(target)), ctypes.c_int(DETACH))
    _checked(status, f"unmount {target}")


def protect_tree(target: Path) -> None:
    """Make a mount and all below it read-only, without devices and without set-uid programs."""
    flags = Mount.READ_ONLY | Mount.NO_SUID | Mount.NO_DEVICES
    attributes = _MountAttributes(set=int(flags))
    status = _libc.syscall(
        ctypes.c_long(MOUNT_SETATTR),
        ctypes.c_int(-100),
        ctypes.c_char_p(os.fsencode(target)),
        ctypes.c_uint(RECURSIVE),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _checked(status, f"mount_setattr {target}")


def enter_root(root: Path, old: Path) -> None:
    """Make a mount the root, and put the old root into a folder of it."""
    texts = [ctypes.c_char_p(os.fsencode(path)) for path in (root, old)]
    _checked(_libc.syscall(ctypes.c_long(_number(PIVOT_ROOT)), *texts), "pivot_root")


def leave_keys() -> None:
    """Leave the session's keys for an empty ring."""
    nothing = ctypes.c_char_p(None)
    call = ctypes.c_long(_number(KEYCTL))
    _checked(_libc.syscall(call, ctypes.c_int(JOIN_NEW_SESSION), nothing), "keyctl")


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    _process_control(PARENT_DEATH, 9)


def hide_memory() -> None:
    """Let no process without privileges look into this one."""
    _process_control(DUMPABLE, 0)


def show_memory() -> None:
    """Let the memory of this process be measured, which a change of user forbids."""
    _process_control(DUMPABLE, 1)


def renounce() -> None:
    """Give up every capability, and the means to get one again."""
    for capability in range(CAPABILITIES):
        try:
            _process_control(BOUNDING_DROP, capability)
        except OSError:
            break
    _process_control(AMBIENT, CLEAR_ALL)
    header = _CapabilityHeader(CAPABILITY_VERSION, 0)
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(_CapabilitySets())), "capset")
    _process_control(NO_NEW_PRIVILEGES, 1)


def has_privileges() -> bool:
    """Whether this process has a capability, or could get one by executing a program."""
    header, sets = _CapabilityHeader(CAPABILITY_VERSION, 0), _CapabilitySets()
    _checked(_libc.capget(ctypes.byref(header), ctypes.byref(sets)), "capget")
    return any(sets.words) or _libc.prctl(GET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) != 1


def _process_control(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    status = _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)
    _checked(status, f"prctl {option}")


def _number(numbers: dict[str, int]) -> int:
    machine = platform.machine()
    if machine not in numbers:
        raise OSError(f"no number of a system call is known for {machine}")
    return numbers[machine]


def _checked(status: int, what: str) -> None:
    if status < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
