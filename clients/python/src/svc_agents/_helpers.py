"""What takes more than one call: waits without a ceiling, locks, files."""

from __future__ import annotations

import base64
import hashlib
import logging
import uuid
from typing import Any, Callable, Dict, Mapping, Optional, Union
from urllib.parse import urljoin, urlsplit

from . import _keeping
from . import types as t
from ._connection import Connection
from ._core import GRACE, Core
from ._effects import Call, Send, Sleep, Steps, Stop
from ._http import Request, Response
from ._operation import UNSET, CallOptions, Prepared, prepare
from ._generated.operations import OPERATIONS
from ._working import STEP_NAME, sat_out
from .answers import Answered, Approved, granted
from .errors import LockBusyError, LostAnswerError, NotFoundError, PreconditionFailedError, SvcError, answered_error

log = logging.getLogger("svc_agents")

WAIT_SECONDS = 60
#: Nothing announces a decision to a caller that doesn't claim events. This takes 30 of the 600 calls a minute of a key.
LOOK_EVERY = 2.0
CONFIRM_SECONDS = 5.0
INLINE_MOST_BYTES = 1024 * 1024
TRANSFER_TIMEOUT = 60.0
UPDATE_TRIES = 50


def wait_event(
    core: Core, fields: Mapping[str, Any], seconds: Optional[float]
) -> Steps[Optional[t.Event]]:
    """The first pending event; None when time is up. Sits out network trouble."""
    left = _deadline(core, seconds)

    def call() -> Prepared:
        part = max(1, min(WAIT_SECONDS, int(left())))
        return prepare(OPERATIONS["inbox_wait"], {**fields, "timeout_seconds": part})

    while True:
        answer = yield from sat_out(core, call, Stop(), lambda: left() + GRACE)
        for warning in answer.get("warnings", []):
            log.warning(warning)
        if answer["event"] is not None or left() < 1:
            event: Optional[t.Event] = answer["event"]
            return event


def ask(
    core: Core,
    name: str,
    fields: Mapping[str, Any],
    seconds: Optional[float],
    options: CallOptions,
) -> Steps[Union[Approved, Answered]]:
    """Asks, and waits for the answer: `seconds`, or until it's there."""
    left = _deadline(core, seconds)
    keyed: CallOptions = {**options}
    keyed.setdefault("idempotency_key", str(uuid.uuid4()))
    is_patient = seconds is None and options.get("max_retries") != 0
    started = core.clock.now()
    while True:
        given = {**fields, "wait_seconds": int(max(0, min(WAIT_SECONDS, left())))}
        try:
            answer = yield from core.operation(name, given, keyed)
            break
        except SvcError as error:
            # It may have been asked, so somebody may be about to answer; surely if the server held the call for a while.
            was_held = error.retryable and core.clock.now() - started >= WAIT_SECONDS
            if not (is_patient and (error.may_have_arrived or was_held)):
                raise
            log.warning("%s Trying again.", error)
        yield Sleep(LOOK_EVERY)
    if answer["status"] == "pending" and not answer.get("parked") and left() >= 1:
        answer = yield from _decided(core, answer["request_id"], left)
    yield from _confirm(core, answer)
    return granted(answer, name == "ask_approval", fields.get("bind", UNSET))


def asking(core: Core, name: str, fields: Mapping[str, Any], options: CallOptions) -> Steps[Any]:
    """An operation that may ask people: once its answer is here, the event that tells of their decision is done."""
    answer = yield from core.operation(name, fields, options)
    if name in ("policy_set", "email_send") and answer["request_id"] is not None:
        yield from _confirm(core, answer)
    return answer


def _confirm(core: Core, answer: Mapping[str, Any]) -> Steps[None]:
    """Closes the event that tells of a person's decision. The caller has its answer, so nothing that goes wrong here matters."""
    # The event of a decision that the policy made at once is done from the start.
    if answer["status"] == "pending" or (answer.get("decided_by") or "").startswith("policy:"):
        return
    call = prepare(OPERATIONS["request_received"], {"request_id": answer["request_id"]})
    try:
        yield from core.call(call, {"timeout": CONFIRM_SECONDS, "max_retries": 0})
    except SvcError as error:
        log.debug("The event of %s stays open: %s", answer["request_id"], error)


def _confirm_own(core: Core, record: Mapping[str, Any]) -> Steps[None]:
    """The same for a request that another key may have asked: then the event is for that one."""
    try:
        own = yield from core.operation("whoami", {}, {"timeout": CONFIRM_SECONDS, "max_retries": 0})
    except SvcError as error:
        log.debug("The event of %s stays open: %s", record["request_id"], error)
        return
    asker = record.get("requested_by", {}).get("key_id")
    if asker is not None and own.get("key", {}).get("id") == asker:
        yield from _confirm(core, record)


def decided(
    core: Core, request_id: str, seconds: Optional[float]
) -> Steps[Union[Approved, Answered]]:
    """The answer to a request."""
    record = yield from _decided(core, request_id, _deadline(core, seconds))
    if record["status"] != "pending":
        yield from _confirm_own(core, record)
    bind = UNSET if record.get("bind") is None else record["bind"]
    return granted(record, record["kind"] != "question", bind)


def _decided(core: Core, request_id: str, left: Callable[[], float]) -> Steps[Any]:
    call = prepare(OPERATIONS["request_status"], {"request_id": request_id})
    while True:
        record = yield from sat_out(core, call, Stop(), left)
        if record["status"] != "pending" or left() <= 0:
            return record
        yield Sleep(max(0.0, min(LOOK_EVERY, left())))


def _deadline(core: Core, seconds: Optional[float]) -> Callable[[], float]:
    """How many seconds are left."""
    if seconds is None:
        return lambda: 1e9
    ends = core.clock.now() + seconds
    return lambda: ends - core.clock.now()


def once(core: Core, scope: str, name: str, step: Callable[[], Any]) -> Steps[Any]:
    """What a step returned, now or earlier under this scope."""
    if not STEP_NAME.fullmatch(name):
        raise ValueError(f'"{name}" can\'t be a step\'s name: use up to 100 letters, digits, . _ and -')
    key = f"once/{scope}/{name}"
    found = _keeping.read(key, (yield from core.operation("kv_get", {"key": key})))
    if found is not UNSET:
        return found
    value = _keeping.plain(name, (yield Call(step)))
    try:
        put = prepare(OPERATIONS["kv_set"], _keeping.kept(key, value))
        yield from sat_out(core, put, Stop())
    except PreconditionFailedError:
        faster = _keeping.read(key, (yield from core.operation("kv_get", {"key": key})))
        return value if faster is UNSET else faster
    return value


def update(
    core: Core, key: str, change: Callable[[Any], Any], ttl_seconds: Optional[int]
) -> Steps[Any]:
    """Reads, changes and writes a value, again if somebody else wrote meanwhile."""
    failure: Optional[SvcError] = None
    for _ in range(UPDATE_TRIES):
        found = yield from core.operation("kv_get", {"key": key})
        value = yield Call(lambda: change(None if found is None else found["value"]))
        version = 0 if found is None else found["version"]
        fields = {"key": key, "value": value, "ttl_seconds": ttl_seconds, "if_version": version}
        try:
            yield from core.operation("kv_set", fields)
            return value
        except PreconditionFailedError as error:
            failure = error
    raise failure or AssertionError("It's tried at least once.")


class LockCore:
    """A lock is a key that only its holder changes. It runs out by itself if the holder dies."""

    def __init__(self, core: Core, name: str, ttl_seconds: int, wait_seconds: Optional[float]) -> None:
        self.core = core
        self.key = f"lock/{name}"
        self.ttl = ttl_seconds
        self._wait = wait_seconds
        self._version = 0
        self._held_until = 0.0
        #: Fired when the lock is lost, before anybody else can have it.
        self.lost = Stop()
        self.released = Stop()

    @property
    def is_lost(self) -> bool:
        return self.lost.is_set or self.core.clock.now() >= self._held_until

    def _value(self, version: int) -> Dict[str, Any]:
        value = {"holder": self._holder}
        return {"key": self.key, "value": value, "ttl_seconds": self.ttl, "if_version": version}

    def take(self) -> Steps[None]:
        """Waits until nobody holds the lock. Raises `LockBusyError` when time is up."""
        self._holder = str(uuid.uuid4())
        left = _deadline(self.core, self._wait)
        while True:
            sent_at = self.core.clock.now()
            try:
                answer = yield from self.core.operation("kv_set", self._value(0))
                return self._held(answer, sent_at)
            except PreconditionFailedError:
                if left() <= 0:
                    break
            yield Sleep(max(0.0, min(0.5, left())))
        raise LockBusyError("LOCKED", f"Somebody else holds {self.key}.")

    def _held(self, answer: Mapping[str, Any], sent_at: float) -> None:
        self._version = answer["version"]
        self._held_until = sent_at + self.ttl * 0.98

    def keep(self) -> Steps[None]:
        """Renews the lock until it's released or lost."""
        clock, beat = self.core.clock, self.ttl / 3
        while (yield Sleep(beat, self.released, is_background=True)):
            sent_at = clock.now()
            call = prepare(OPERATIONS["kv_set"], self._value(self._version))
            try:
                within = lambda: self._held_until - clock.now()  # noqa: E731
                answer = yield from sat_out(self.core, call, self.released, within)
                self._held(answer, sent_at)
            except Exception as error:  # The holder must learn about any of them.
                if not self.released.is_set:
                    log.warning("%s: the lock is lost: %s", self.key, error)
                    self.lost.fire()
                return

    def give_back(self) -> Steps[None]:
        self.released.fire()
        try:
            fields = {"key": self.key, "if_version": self._version}
            yield from self.core.operation("kv_delete", fields)
        except SvcError as error:
            log.warning("%s: can't release the lock, so it runs out: %s", self.key, error)


def file_or_none(
    core: Core, path: str, options: Optional[CallOptions] = None
) -> Steps[Optional[t.FileGetAnswer]]:
    """The record of a file, with its bytes or a link to them; None if there's none."""
    try:
        answer: t.FileGetAnswer = yield from core.operation("file_get", {"path": path}, options)
        return answer
    except NotFoundError:
        return None


def read_file(core: Core, path: str) -> Steps[Optional[bytes]]:
    """The bytes of a file of any size; None if there's none."""
    answer: Any = yield from file_or_none(core, path)
    if answer is None:
        return None
    if isinstance(answer.get("content_base64"), str):
        return base64.b64decode(answer["content_base64"])
    response = yield from _transfer(core, Request("GET", ""), answer["download_url"])
    if response.status in (301, 302, 303, 307, 308):
        there = urljoin(answer["download_url"], response.headers.get("location", ""))
        response = yield from _transfer(core, Request("GET", ""), there)
    _refuse_failed(response)
    if hashlib.sha256(response.body).hexdigest() != answer.get("sha256"):
        raise LostAnswerError("TRANSFER_BROKEN", f"The download of {path} isn't what was saved.")
    return response.body


def write_file(
    core: Core, path: str, data: bytes, content_type: str, if_version: Optional[int]
) -> Steps[t.FilePutAnswer]:
    """Saves up to 100 MB."""
    fields: Dict[str, Any] = {"path": path, "if_version": if_version}
    if len(data) <= INLINE_MOST_BYTES:
        fields = {**fields, "content_base64": data, "content_type": content_type}
        answer: t.FilePutAnswer = yield from core.operation("file_put", fields)
        return answer
    upload = {"size": len(data), "content_type": content_type}
    opened = yield from core.operation("file_put", {"path": path, "upload": upload})
    headers = {str(name).lower(): str(value) for name, value in opened["upload_headers"].items()}
    request = Request("PUT", "", headers, data)
    _refuse_failed((yield from _transfer(core, request, opened["upload_url"])))
    complete = {**fields, "complete": opened["upload_id"]}
    answer = yield from core.operation("file_put", complete, {"timeout": 120.0})
    return answer


def _transfer(core: Core, request: Request, url: str) -> Steps[Response]:
    """Upload and download links need no key and may lead to any object store."""
    there = urlsplit(url)
    ours = core.connection
    place = Connection("", there, "", "Try again.", ours.ca_file)
    headers = {"host": there.netloc, "user-agent": "svc-python", **request.headers}
    target = (there.path or "/") + (f"?{there.query}" if there.query else "")
    sent = Request(request.method, target, headers, request.body, TRANSFER_TIMEOUT)
    response: Response = yield Send(sent, None, place)
    return response


def _refuse_failed(response: Response) -> None:
    if not 200 <= response.status < 300:
        from ._core import parsed

        raise answered_error(response.status, parsed(response.body), None, "")
