"""What threads do for the blocking client: effects of the core, and a worker with one for each handler and each lease."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional

from ._effects import Clock, Effect, Send, Sleep, Steps, Stop
from ._generated.context import Context
from ._lease import Lease
from ._lost import Lost
from ._progress import Progress
from ._working import Finished, LostClaims, Settings, Work, next_lease, parsed
from .errors import SvcError

if TYPE_CHECKING:
    from ._generated.client import Svc

log = logging.getLogger("svc_agents")

OnFinished = Callable[[Finished], None]


def perform(effect: Effect, transport: Any, clock: Clock) -> Any:
    """What the core gets for an effect."""
    if isinstance(effect, Send):
        return transport.send(effect.request, effect.stop, effect.place)
    if isinstance(effect, Sleep):
        return clock.wait(effect)
    return effect.function()


class Background:
    """Steps of the core that run meanwhile."""

    def __init__(self, run: Callable[[Steps[Any]], Any], steps: Steps[Any], name: str) -> None:
        self._thread = threading.Thread(target=run, args=(steps,), name=name, daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join()


class Worker:
    """Claims one event after another, and hands each to the handler."""

    def __init__(
        self,
        svc: "Svc",
        settings: Settings,
        handler: Callable[[Any, Context], Any],
        on_finished: Optional[OnFinished],
        progress: Progress,
    ) -> None:
        self._svc = svc
        self._settings = settings
        self._handler = handler
        self._on_finished = on_finished or (lambda finished: None)
        self._progress = progress
        self._free = threading.Semaphore(settings.concurrency)
        self._leases: Dict[str, Lease] = {}
        self._threads: List[threading.Thread] = []
        self._failures: List[BaseException] = []

    def run(self, stop: Stop) -> None:
        """Until it's stopped, or `most` events are done, or nothing is pending. Sits out outages; raises refusals."""
        try:
            try:
                self._claim(stop)
            except Exception:
                self._join()
                raise
            self._join()
        except KeyboardInterrupt:
            self._give_back()
            raise
        if self._failures:
            raise self._failures[0]

    def _claim(self, stop: Stop) -> None:
        settings, lost_claims, taken = self._settings, LostClaims(), 0
        self._progress.waiting(settings.filter)
        while settings.most is None or taken < settings.most:
            self._free.acquire()
            lease = None if self._failures else self._next(lost_claims, stop)
            if lease is None:
                break
            taken += 1
            self._start(lease)

    def _join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _give_back(self) -> None:
        """The threads end with the program, and what they'd still do through their contexts is refused."""
        for lease in list(self._leases.values()):
            lease.lost.fire()
            lease.released.fire()
            event = lease.event
            try:
                self._svc.inbox.nack(event["id"], lease_id=event["lease_id"], until=["now"])
                self._progress.given_back(event)
            except SvcError as error:
                log.warning("%s: can't give it back: %s", event["id"], error)

    def _next(self, lost_claims: LostClaims, stop: Stop) -> Optional[Lease]:
        return self._svc._run(next_lease(self._svc._core, self._settings, lost_claims, stop))

    def _start(self, lease: Lease) -> None:
        # In the caller's own thread if there's only one, for debuggers and for libraries that ask for it.
        if self._settings.concurrency == 1:
            self._handle(lease)
            return
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=self._handle, args=(lease,), name=lease.event["id"], daemon=True)
        self._threads.append(thread)
        thread.start()

    def _handle(self, lease: Lease) -> None:
        run = self._svc._run
        Background(run, lease.keep(), "svc lease")
        self._leases[lease.event["id"]] = lease
        self._progress.claimed(lease.event)
        work = Work(self._svc._core, lease)
        context = Context(work, run, Lost(lease.lost, lambda: lease.is_over))
        try:
            finished = run(work.run(lambda: self._handler(parsed(context.event, self._settings.payload), context)))
            self._progress.finished(finished)
            self._on_finished(finished)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self._progress.given_back(lease.event)
            self._failures.append(error)
            if self._settings.concurrency == 1:
                raise
        finally:
            lease.released.fire()
            self._progress.ended()
            self._leases.pop(lease.event["id"], None)
            self._free.release()


@contextlib.contextmanager
def stopping(
    stop: Stop, outside: Optional[threading.Event], progress: Progress
) -> Iterator[None]:
    """Ctrl-C or SIGTERM stops the worker after the running handlers; the second one interrupts them."""
    over = threading.Event()
    if outside is not None:
        threading.Thread(target=_watch, args=(stop, outside, over), daemon=True).start()
    kept: List[Any] = []
    if threading.current_thread() is threading.main_thread():

        def stopped(number: int, frame: Any) -> None:
            for one in (signal.SIGINT, signal.SIGTERM):
                signal.signal(one, _interrupt)
            # The main thread may hold the locks that these need, so another one takes them.
            threading.Thread(target=_stop, args=(stop, progress)).start()

        for one in (signal.SIGINT, signal.SIGTERM):
            kept.append((one, signal.signal(one, stopped)))
    try:
        yield
    finally:
        over.set()
        for one, before in kept:
            signal.signal(one, before)


def _stop(stop: Stop, progress: Progress) -> None:
    stop.fire()
    progress.stopping()


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt()


def _watch(stop: Stop, outside: threading.Event, over: threading.Event) -> None:
    while not over.is_set():
        if outside.wait(0.2):
            stop.fire()
            return
