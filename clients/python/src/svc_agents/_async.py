"""The asynchronous client."""

from __future__ import annotations

import asyncio
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Mapping,
    Optional,
    TypedDict,
    TypeVar,
    Union,
    overload,
)

from . import _helpers
from . import types as t
from ._async_context import AsyncContext
from ._async_work import AsyncBackground, AsyncWorker, OnFinished, async_perform, stopping
from ._core import MAX_RETRIES, TIMEOUT, Core
from ._effects import Clock, Steps, Stop
from ._generated import async_api as api
from ._generated.types import WorkEvent
from ._lost import Lost
from ._operation import CallOptions
from ._progress import Progress
from ._transport import AsyncTransport
from ._working import settings_of
from .answers import Answered, Approved

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = TypeVar("P")
T = TypeVar("T")


class WorkOptions(TypedDict, total=False):
    """How a worker works; see `work`."""

    concurrency: int
    lease_seconds: int
    beat_seconds: Optional[float]
    max: Optional[int]
    drain: bool
    stop: Optional[asyncio.Event]
    on_finished: Optional[OnFinished]
    log: Optional[Callable[[str], None]]


class Inbox(api.Inbox):
    async def wait(  # type: ignore[override]
        self,
        *,
        source: Optional[str] = None,
        type: Optional[str] = None,
        since: Optional[str] = None,
        mine: Optional[bool] = None,
        after: Optional[str] = None,
        timeout_seconds: Optional[float] = None,
    ) -> Optional[t.Event]:
        """The first pending event, however long that takes; with `timeout_seconds`, None when time is up."""
        fields = {"source": source, "type": type, "since": since, "mine": mine, "after": after}
        return await self._svc._run(_helpers.wait_event(self._svc._core, fields, timeout_seconds))


class Ask(api.Ask):
    async def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        """Asks, and waits for the answer: until it's there, or for `wait_seconds`."""
        seconds = fields.get("wait_seconds")
        return await self._svc._run(_helpers.ask(self._svc._core, name, fields, seconds, options))


class Request(api.Request):
    async def wait(self, request_id: str, *, timeout_seconds: Optional[float] = None) -> Union[Approved, Answered]:
        """
        A yes or an answer, however long that takes. Raises `NotApproved` or `NotAnswered` otherwise; with
        `timeout_seconds` their `answer` is `Pending` when time is up.
        """
        return await self._svc._run(_helpers.decided(self._svc._core, request_id, timeout_seconds))


class Policy(api.Policy):
    async def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        return await self._svc._run(_helpers.asking(self._svc._core, name, fields, options))


class Email(api.Email):
    async def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        return await self._svc._run(_helpers.asking(self._svc._core, name, fields, options))


class Kv(api.Kv):
    async def update(
        self, key: str, change: Callable[[Any], Union[Any, Awaitable[Any]]], *, ttl_seconds: Optional[int] = None
    ) -> Any:
        """Stores what `change` makes of the value (None if there's none), again if somebody else wrote meanwhile."""
        return await self._svc._run(_helpers.update(self._svc._core, key, change, ttl_seconds))


class File(api.File):
    async def get(  # type: ignore[override]
        self, path: str, **call: Any
    ) -> Optional[t.FileGetAnswer]:
        """The record of a file, with its bytes or a link to them; None if there's none."""
        options: Any = call
        return await self._svc._run(_helpers.file_or_none(self._svc._core, path, options))

    async def read(self, path: str) -> Optional[bytes]:
        """The bytes of a file of any size; None if there's none."""
        return await self._svc._run(_helpers.read_file(self._svc._core, path))

    async def write(
        self,
        path: str,
        data: bytes,
        *,
        content_type: str = "application/octet-stream",
        if_version: Optional[int] = None,
    ) -> t.FilePutAnswer:
        """Saves up to 100 MB."""
        steps = _helpers.write_file(self._svc._core, path, bytes(data), content_type, if_version)
        return await self._svc._run(steps)


class AsyncLock:
    """Use it with `async with`. It's renewed meanwhile."""

    def __init__(self, svc: "AsyncSvc", core: _helpers.LockCore) -> None:
        self._svc = svc
        self._core = core
        #: Set when the lock is no longer ours, before anybody else can have it.
        self.lost = Lost(core.lost, lambda: core.is_lost)

    async def __aenter__(self) -> "AsyncLock":
        await self._svc._run(self._core.take())
        self._keeper = AsyncBackground(self._svc._run, self._core.keep(), "svc lock")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._core.released.fire()
        await self._keeper.join()
        await self._svc._run(self._core.give_back())


class AsyncSvc(api.Methods):
    """
    A client. Without arguments it finds the key and the server as the `svc` command does: `SVC_API_KEY` and
    `SVC_GATEWAY`, or else the stored profile and this machine's daemon. Use it in one event loop.
    """

    inbox: Inbox
    ask: Ask
    request: Request
    kv: Kv
    file: File

    def __init__(
        self,
        *,
        api_key: Optional[str] = None,
        gateway: Optional[str] = None,
        profile: Optional[str] = None,
        agent: Optional[str] = None,
        timeout: float = TIMEOUT,
        max_retries: int = MAX_RETRIES,
        env: Optional[Mapping[str, str]] = None,
        clock: Optional[Clock] = None,
        transport: Optional[Any] = None,
    ) -> None:
        super().__init__(self)
        self._core = Core(
            api_key=api_key,
            gateway=gateway,
            profile=profile,
            agent=agent,
            timeout=timeout,
            max_retries=max_retries,
            env=env,
            clock=clock,
        )
        self._transport = transport or AsyncTransport(lambda: self._core.connection)
        self.session = api.Session(self)
        self.key = api.Key(self)
        self.source = api.Source(self)
        self.inbox = Inbox(self)
        self.route = api.Route(self)
        self.ask = Ask(self)
        self.request = Request(self)
        self.channel = api.Channel(self)
        self.policy = Policy(self)
        self.kv = Kv(self)
        self.state = api.State(self)
        self.file = File(self)
        self.email = Email(self)
        self.ledger = api.Ledger(self)

    @overload
    async def work(
        self,
        filter: Optional[Mapping[str, Any]],
        handler: Callable[[WorkEvent[object], AsyncContext], Awaitable[Any]],
        **options: Unpack[WorkOptions],
    ) -> None: ...

    @overload
    async def work(
        self,
        filter: Optional[Mapping[str, Any]],
        handler: Callable[[WorkEvent[P], AsyncContext], Awaitable[Any]],
        *,
        payload: Callable[[Any], P],
        **options: Unpack[WorkOptions],
    ) -> None: ...

    async def work(
        self,
        filter: Optional[Mapping[str, Any]],
        handler: Callable[[Any, AsyncContext], Awaitable[Any]],
        *,
        payload: Optional[Callable[[Any], Any]] = None,
        concurrency: int = 1,
        lease_seconds: int = 300,
        beat_seconds: Optional[float] = None,
        max: Optional[int] = None,
        drain: bool = False,
        stop: Optional[asyncio.Event] = None,
        on_finished: Optional[OnFinished] = None,
        log: Optional[Callable[[str], None]] = None,
    ) -> None:
        """
        Hands each event that fits the filter (`source`, `type`, `mine`) to the handler, until it's stopped: by `stop`,
        Ctrl-C or SIGTERM. Cancelled, it gives its events back. What the handler returns is the ack's result, up to 4 KB of
        JSON. If it raises, the event is tried again later, and is dead after the fifth time; `Permanent` makes it dead at
        once. `payload` parses the payload, such as pydantic's `Model.model_validate`; if it raises, the event is dead at
        once. With `drain` it stops when nothing is pending, with `max` after so many events. `log` gets a line when it
        waits, claims and finishes (default: standard error, if that's a terminal).
        """
        settings = settings_of(filter, payload, concurrency, lease_seconds, beat_seconds, max, drain)
        ending, progress = Stop(), Progress(log)
        async with stopping(ending, stop, progress):
            await AsyncWorker(self, settings, handler, on_finished, progress).run(ending)

    @overload  # async only
    async def once(self, scope: str, name: str, step: Callable[[], Awaitable[T]]) -> T: ...

    @overload  # async only
    async def once(self, scope: str, name: str, step: Callable[[], T]) -> T: ...

    async def once(self, scope: str, name: str, step: Callable[[], Union[T, Awaitable[T]]]) -> T:
        """Runs a step once per scope, such as a date, and returns its result as JSON."""
        result: T = await self._run(_helpers.once(self._core, scope, name, step))
        return result

    def lock(
        self, name: str, *, ttl_seconds: int = 60, wait_seconds: Optional[float] = None
    ) -> AsyncLock:
        """A lock that one holder has at a time. Raises `LockBusyError` if it isn't free in time."""
        return AsyncLock(self, _helpers.LockCore(self._core, name, ttl_seconds, wait_seconds))

    async def close(self) -> None:
        """Closes the connections that were kept for the next call."""
        self._transport.close()

    async def __aenter__(self) -> "AsyncSvc":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = await async_perform(effect, self._transport, self._core.clock)
                except BaseException as error:  # The core decides.
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
