"""What asyncio does for its client: effects of the core, and a worker with a task for each handler and each lease."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import signal
import threading
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, List, Optional, Set

from ._async_context import AsyncContext
from ._effects import Call, Clock, Effect, Send, Sleep, Steps, Stop
from ._lease import Lease
from ._lost import Lost
from ._progress import Progress
from ._working import Finished, LostClaims, Settings, Work, next_lease, parsed

if TYPE_CHECKING:
    from ._async import AsyncSvc

OnFinished = Callable[[Finished], None]


async def async_perform(effect: Effect, transport: Any, clock: Clock) -> Any:
    """What the core gets for an effect."""
    if isinstance(effect, Send):
        return await transport.send(effect.request, effect.stop, effect.place)
    if isinstance(effect, Sleep):
        return await clock.wait_async(effect)
    return await _called(effect)


async def _called(call: Call) -> Any:
    """What a function of the user returns. A coroutine is cancelled when the call's `stop` fires."""
    result = call.function()
    if not inspect.isawaitable(result):
        return result
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(result)
    cancel: Any = lambda: loop.call_soon_threadsafe(task.cancel)
    forget = call.stop.on_fire(cancel) if call.stop else (lambda: None)
    try:
        return await task
    finally:
        forget()


class AsyncBackground:
    """Steps of the core that run meanwhile."""

    def __init__(self, run: Callable[[Steps[Any]], Any], steps: Steps[Any], name: str) -> None:
        self._task = asyncio.ensure_future(run(steps))
        self._task.set_name(name)

    async def join(self) -> None:
        await asyncio.wait([self._task])


class AsyncWorker:
    """Claims one event after another, and hands each to the handler."""

    def __init__(
        self,
        svc: "AsyncSvc",
        settings: Settings,
        handler: Callable[[Any, AsyncContext], Awaitable[Any]],
        on_finished: Optional[OnFinished],
        progress: Progress,
    ) -> None:
        self._svc = svc
        self._settings = settings
        self._handler = handler
        self._on_finished = on_finished or (lambda finished: None)
        self._progress = progress
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._failures: List[BaseException] = []

    async def run(self, stop: Stop) -> None:
        """Until it's stopped, or `most` events are done, or nothing is pending. Cancelled, it gives its events back."""
        settings, lost_claims, taken = self._settings, LostClaims(), 0
        self._progress.waiting(settings.filter)
        try:
            while settings.most is None or taken < settings.most:
                if len(self._tasks) >= settings.concurrency:
                    await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                    continue
                lease = None if self._failures else await self._next(lost_claims, stop)
                if lease is None:
                    break
                taken += 1
                task = asyncio.ensure_future(self._handle(lease))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            await self._finish()
        except asyncio.CancelledError:
            stop.fire()
            for task in list(self._tasks):
                task.cancel()
            await self._finish()
            raise
        if self._failures:
            raise self._failures[0]

    async def _finish(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _next(self, lost_claims: LostClaims, stop: Stop) -> Optional[Lease]:
        # A cancelled claim must not leave an event behind that nobody works on.
        claim = asyncio.ensure_future(
            self._svc._run(next_lease(self._svc._core, self._settings, lost_claims, stop))
        )
        try:
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            stop.fire()
            lease = await claim
            if lease is not None:
                await self._return(lease)
            raise

    async def _return(self, lease: Lease) -> None:
        event = lease.event
        await self._svc.inbox.nack(event["id"], lease_id=event["lease_id"], until=["now"])

    async def _handle(self, lease: Lease) -> None:
        run = self._svc._run
        keeper = asyncio.ensure_future(run(lease.keep()))
        self._progress.claimed(lease.event)
        work = Work(self._svc._core, lease)
        context = AsyncContext(work, run, Lost(lease.lost, lambda: lease.is_over))
        try:
            finished = await run(work.run(lambda: self._handler(parsed(context.event, self._settings.payload), context)))
            self._progress.finished(finished)
            self._on_finished(finished)
        except asyncio.CancelledError:
            self._progress.given_back(lease.event)
        except BaseException as error:
            self._failures.append(error)
        finally:
            lease.released.fire()
            self._progress.ended()
            keeper.cancel()
            await asyncio.wait([keeper])


@contextlib.asynccontextmanager
async def stopping(
    stop: Stop, outside: Optional[asyncio.Event], progress: Progress
) -> AsyncIterator[None]:
    """SIGINT or SIGTERM stops the worker after the running handlers; the second one cancels them."""
    loop, me = asyncio.get_running_loop(), asyncio.current_task()
    watching = asyncio.ensure_future(_watch(stop, outside)) if outside else None
    is_main = threading.current_thread() is threading.main_thread()
    signals = [signal.SIGINT, signal.SIGTERM] if is_main else []
    before = {one: signal.getsignal(one) for one in signals}

    def stopped() -> None:
        if stop.is_set and me is not None:
            me.cancel()
        else:
            progress.stopping()
        stop.fire()

    for one in signals:
        loop.add_signal_handler(one, stopped)
    try:
        yield
    finally:
        if watching:
            watching.cancel()
        for one in signals:
            loop.remove_signal_handler(one)
            signal.signal(one, before[one])


async def _watch(stop: Stop, outside: asyncio.Event) -> None:
    await outside.wait()
    stop.fire()
