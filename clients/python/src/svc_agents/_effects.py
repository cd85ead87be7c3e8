"""The core asks for effects and never causes one: it's written once, as generators, and both clients run it."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Generator, List, Optional, TypeVar, Union

from ._connection import Connection
from ._http import Request

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """Send a request; the result is its `Response`."""

    request: Request
    #: Ends the call early.
    stop: "Optional[Stop]" = None
    #: Another server than the client's own.
    place: Optional[Connection] = None


@dataclass(frozen=True)
class Sleep:
    """Wait; the result is False if `stop` ended it."""

    seconds: float
    stop: "Optional[Stop]" = None
    #: Others go on meanwhile: a test's clock doesn't skip it.
    is_background: bool = False


@dataclass(frozen=True)
class Call:
    """Call a function of the user: plain, or a coroutine function with the asynchronous client."""

    function: Callable[[], Any]
    #: Cancels a coroutine. A plain function can't be ended from outside.
    stop: "Optional[Stop]" = None


Effect = Union[Send, Sleep, Call]
#: A piece of the core that yields effects, is sent their results and returns a T.
Steps = Generator[Effect, Any, T]


class Stopped(Exception):
    """`stop` ended a call."""


class Stop:
    """Ends calls and waits of the core from outside. May be fired from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: List[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def fire(self) -> None:
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def wait(self, seconds: Optional[float]) -> bool:
        """True once it's fired."""
        return self._event.wait(seconds)

    def on_fire(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls back when fired, at once if it was. The result takes that back."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


class Clock:
    """Time, as the core needs it. A test can pass its own."""

    def now(self) -> float:
        """Seconds that never go back, and that include the time the machine slept."""
        boot = getattr(time, "CLOCK_BOOTTIME", None)
        return time.monotonic() if boot is None else time.clock_gettime(boot)

    def wait(self, sleep: Sleep) -> bool:
        """Waits; False if `stop` ended it."""
        if sleep.stop is not None:
            return not sleep.stop.wait(sleep.seconds)
        time.sleep(sleep.seconds)
        return True

    async def wait_async(self, sleep: Sleep) -> bool:
        """Waits; False if `stop` ended it."""
        import asyncio

        stop, seconds = sleep.stop, sleep.seconds
        if stop is None:
            await asyncio.sleep(seconds)
            return True
        loop, fired = asyncio.get_running_loop(), asyncio.Event()
        forget = stop.on_fire(lambda: _from_outside(loop, fired))
        try:
            await asyncio.wait_for(fired.wait(), seconds)
        except asyncio.TimeoutError:
            return True
        finally:
            forget()
        return False


def _from_outside(loop: Any, event: Any) -> None:
    try:
        loop.call_soon_threadsafe(event.set)
    except RuntimeError:
        pass  # The loop is closed, so nobody waits.


class Backoff:
    """Growing pauses between tries, with jitter so that many workers don't come back at once."""

    FIRST = 0.25
    ASKED_MOST = 300.0

    def __init__(self, longest: float = 30.0) -> None:
        self.failures = 0
        self._longest = longest

    def next(self, asked: float = 0.0, most: float = ASKED_MOST) -> float:
        """How long to wait: as long as the server asked, otherwise longer each time."""
        grown: float = min(self._longest, self.FIRST * 2 ** min(self.failures, 10))
        self.failures += 1
        return min(most, max(grown / 2 + random.random() * grown / 2, asked))
