"""The signal that an event or a lock is no longer ours."""

from __future__ import annotations

import threading
from typing import Callable

from ._effects import Stop


class Lost(threading.Event):
    """Also set once our own clock says so, even if no thread has come to fire it yet."""

    def __init__(self, stop: Stop, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self._is_over = is_over
        stop.on_fire(self.set)

    def is_set(self) -> bool:
        return super().is_set() or self._is_over()
