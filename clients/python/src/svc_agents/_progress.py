"""What a worker says of its work: a line each, on standard error if that's a terminal."""

from __future__ import annotations

import re
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional

from .errors import Parked

if TYPE_CHECKING:
    from ._working import Finished

Log = Callable[[str], None]
GIVEN_BACK = "given back, not counted as a failure"


class Progress:
    """Says it to `log`. Threads may share it."""

    def __init__(self, log: Optional[Log]) -> None:
        self._log = log or _terminal_log()
        self._lock = threading.Lock()
        self._running = 0

    def waiting(self, filter: Mapping[str, Any]) -> None:
        kind = f"{filter['type']} " if filter.get("type") else ""
        source = f" from {filter['source']}" if filter.get("source") else ""
        self._say(f"Waiting for {kind}events{source} …")

    def claimed(self, event: Dict[str, Any]) -> None:
        with self._lock:
            self._running += 1
        self._say(f"{event['id']} claimed: {event['type']} from {event['source']}")

    def finished(self, finished: "Finished") -> None:
        self._say(f"{finished.event['id']} {_outcome(finished)}")

    def given_back(self, event: Dict[str, Any]) -> None:
        self._say(f"{event['id']} {GIVEN_BACK}")

    def ended(self) -> None:
        """A handler has ended, whatever became of its event."""
        with self._lock:
            self._running -= 1

    def stopping(self) -> None:
        """The first Ctrl-C."""
        running = self._running
        handlers = "1 running handler" if running == 1 else f"{running} running handlers"
        events = "its event" if running == 1 else "their events"
        if running:
            self._say(f"Waiting for {handlers}. Press Ctrl-C again to give {events} back.")

    def _say(self, line: str) -> None:
        if self._log is not None:
            self._log(_safe(line))


def _terminal_log() -> Optional[Log]:
    stderr = sys.stderr
    if stderr is None or not stderr.isatty():
        return None
    return lambda line: print(f"svc: {line}", file=stderr, flush=True)


def _outcome(finished: "Finished") -> str:
    because = f": {finished.reason}" if finished.reason else ""
    if finished.outcome == "acked":
        return "done"
    if finished.outcome == "parked":
        return f"parked until {finished.error}" if isinstance(finished.error, Parked) else "parked"
    if finished.outcome == "retry":
        again = f" at {finished.retry_at}" if finished.retry_at else ""
        return f"failed, and is tried again{again}{because}"
    if finished.outcome == "dead":
        return f"dead{because}"
    return GIVEN_BACK if finished.outcome == "returned" else "lost: its lease ended first"


def _safe(text: str) -> str:
    """On one line, and without what a terminal would obey: outsiders write types and reasons."""
    line = re.sub(r"\s*[\r\n]+\s*", " ", text)
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "\ufffd", line)
