"""Uncaught: the exceptions that end a process or its training thread, seen before it ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any


class Uncaught:
    """Calls a function with each uncaught exception, and then whatever was called before."""

    def __init__(self, note: Callable[[BaseException], None], thread: Callable[[], int]) -> None:
        self._note = note
        self._thread = thread
        self._before, self._before_in_threads = sys.excepthook, threading.excepthook
        # Bound once: an attribute of a method is a new object at each look.
        self._hook, self._hook_in_threads = self._main, self._in_thread
        sys.excepthook, threading.excepthook = self._hook, self._hook_in_threads

    def remove(self) -> None:
        """Restore what was there before, unless somebody else came later."""
        if sys.excepthook is self._hook:
            sys.excepthook = self._before
        if threading.excepthook is self._hook_in_threads:
            threading.excepthook = self._before_in_threads

    def _main(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._note(error)
        self._before(kind, error, trace)

    def _in_thread(self, what: Any) -> None:
        if what.exc_value is not None and threading.get_ident() == self._thread():
            self._note(what.exc_value)
        self._before_in_threads(what)
