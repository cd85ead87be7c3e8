# Written by `npm run surface` from the asynchronous client: edit _async.py. Do not edit this.
"""The blocking client."""

from __future__ import annotations

import threading
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Mapping,
    Optional,
    TypedDict,
    TypeVar,
    Union,
    overload,
)

from .. import _helpers
from .. import types as t
from .context import Context
from .._sync_work import Background, Worker, OnFinished, perform, stopping
from .._core import MAX_RETRIES, TIMEOUT, Core
from .._effects import Clock, Steps, Stop
from . import api
from .types import WorkEvent
from .._lost import Lost
from .._operation import CallOptions
from .._progress import Progress
from .._transport import Transport
from .._working import settings_of
from ..answers import Answered, Approved

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
    stop: Optional[threading.Event]
    on_finished: Optional[OnFinished]
    log: Optional[Callable[[str], None]]


class Inbox(api.Inbox):
    def wait(  # type: ignore[override]
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
        return self._svc._run(_helpers.wait_event(self._svc._core, fields, timeout_seconds))


class Ask(api.Ask):
    def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        """Asks, and waits for the answer: until it's there, or for `wait_seconds`."""
        seconds = fields.get("wait_seconds")
        return self._svc._run(_helpers.ask(self._svc._core, name, fields, seconds, options))


class Request(api.Request):
    def wait(self, request_id: str, *, timeout_seconds: Optional[float] = None) -> Union[Approved, Answered]:
        """
        A yes or an answer, however long that takes. Raises `NotApproved` or `NotAnswered` otherwise; with
        `timeout_seconds` their `answer` is `Pending` when time is up.
        """
        return self._svc._run(_helpers.decided(self._svc._core, request_id, timeout_seconds))


class Policy(api.Policy):
    def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        return self._svc._run(_helpers.asking(self._svc._core, name, fields, options))


class Email(api.Email):
    def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        return self._svc._run(_helpers.asking(self._svc._core, name, fields, options))


class Kv(api.Kv):
    def update(
        self, key: str, change: Callable[[Any], Any], *, ttl_seconds: Optional[int] = None
    ) -> Any:
        """Stores what `change` makes of the value (None if there's none), again if somebody else wrote meanwhile."""
        return self._svc._run(_helpers.update(self._svc._core, key, change, ttl_seconds))


class File(api.File):
    def get(  # type: ignore[override]
        self, path: str, **call: Any
    ) -> Optional[t.FileGetAnswer]:
        """The record of a file, with its bytes or a link to them; None if there's none."""
        options: Any = call
        return self._svc._run(_helpers.file_or_none(self._svc._core, path, options))

    def read(self, path: str) -> Optional[bytes]:
        """The bytes of a file of any size; None if there's none."""
        return self._svc._run(_helpers.read_file(self._svc._core, path))

    def write(
        self,
        path: str,
        data: bytes,
        *,
        content_type: str = "application/octet-stream",
        if_version: Optional[int] = None,
    ) -> t.FilePutAnswer:
        """Saves up to 100 MB."""
        steps = _helpers.write_file(self._svc._core, path, bytes(data), content_type, if_version)
        return self._svc._run(steps)


class Lock:
    """Use it with `with`. It's renewed meanwhile."""

    def __init__(self, svc: "Svc", core: _helpers.LockCore) -> None:
        self._svc = svc
        self._core = core
        #: Set when the lock is no longer ours, before anybody else can have it.
        self.lost = Lost(core.lost, lambda: core.is_lost)

    def __enter__(self) -> "Lock":
        self._svc._run(self._core.take())
        self._keeper = Background(self._svc._run, self._core.keep(), "svc lock")
        return self

    def __exit__(self, *_: object) -> None:
        self._core.released.fire()
        self._keeper.join()
        self._svc._run(self._core.give_back())


class Svc(api.Methods):
    """
    A client. Without arguments it finds the key and the server as the `svc` command does: `SVC_API_KEY` and
    `SVC_GATEWAY`, or else the stored profile and this machine's daemon. Threads may share it.
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
        self._transport = transport or Transport(lambda: self._core.connection)
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
    def work(
        self,
        filter: Optional[Mapping[str, Any]],
        handler: Callable[[WorkEvent[object], Context], Any],
        **options: Unpack[WorkOptions],
    ) -> None: ...

    @overload
    def work(
        self,
        filter: Optional[Mapping[str, Any]],
        handler: Callable[[WorkEvent[P], Context], Any],
        *,
        payload: Callable[[Any], P],
        **options: Unpack[WorkOptions],
    ) -> None: ...

    def work(
        self,
        filter: Optional[Mapping[str, Any]],
        handler: Callable[[Any, Context], Any],
        *,
        payload: Optional[Callable[[Any], Any]] = None,
        concurrency: int = 1,
        lease_seconds: int = 300,
        beat_seconds: Optional[float] = None,
        max: Optional[int] = None,
        drain: bool = False,
        stop: Optional[threading.Event] = None,
        on_finished: Optional[OnFinished] = None,
        log: Optional[Callable[[str], None]] = None,
    ) -> None:
        """
        Hands each event that fits the filter (`source`, `type`, `mine`) to the handler, until it's stopped: by `stop`,
        Ctrl-C or SIGTERM. What the handler returns is the ack's result, up to 4 KB of
        JSON. If it raises, the event is tried again later, and is dead after the fifth time; `Permanent` makes it dead at
        once. `payload` parses the payload, such as pydantic's `Model.model_validate`; if it raises, the event is dead at
        once. With `drain` it stops when nothing is pending, with `max` after so many events. `log` gets a line when it
        waits, claims and finishes (default: standard error, if that's a terminal).
        """
        settings = settings_of(filter, payload, concurrency, lease_seconds, beat_seconds, max, drain)
        ending, progress = Stop(), Progress(log)
        with stopping(ending, stop, progress):
            Worker(self, settings, handler, on_finished, progress).run(ending)

    def once(self, scope: str, name: str, step: Callable[[], T]) -> T:
        """Runs a step once per scope, such as a date, and returns its result as JSON."""
        result: T = self._run(_helpers.once(self._core, scope, name, step))
        return result

    def lock(
        self, name: str, *, ttl_seconds: int = 60, wait_seconds: Optional[float] = None
    ) -> Lock:
        """A lock that one holder has at a time. Raises `LockBusyError` if it isn't free in time."""
        return Lock(self, _helpers.LockCore(self._core, name, ttl_seconds, wait_seconds))

    def close(self) -> None:
        """Closes the connections that were kept for the next call."""
        self._transport.close()

    def __enter__(self) -> "Svc":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        try:
            effect = next(steps)
            while True:
                try:
                    result = perform(effect, self._transport, self._core.clock)
                except BaseException as error:  # The core decides.
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
