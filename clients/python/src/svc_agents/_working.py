"""What a worker does with each event. The clients add threads or tasks."""

from __future__ import annotations

import difflib
import logging
import random
import re
import traceback
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _keeping
from ._core import HELD, Core, to_json
from ._effects import Backoff, Call, Sleep, Steps, Stop, Stopped
from ._lease import DRIFT, Closed, Lease, Verdict, take
from ._operation import UNSET, Prepared, prepare
from ._generated.operations import OPERATIONS
from ._generated.types import ClaimedEvent
from .answers import Answered, Approved, granted, no_in
from .errors import Parked, PayloadInvalid, Permanent, SvcError

log = logging.getLogger("svc_agents")

WAIT_SECONDS = 60
DRAIN_WAIT_SECONDS = 1
FILTER_KEYS = ("source", "type", "mine")
LEASE_LEAST, LEASE_MOST = 30, 3600
CONCURRENCY_MOST = 64
RESULT_MOST_BYTES = 4096
PLACES_MOST = 5
BEHIND_LINK = (
    "The payload doesn't fit.\npayload: It's over 256 KB, so it's behind `payload_url`, and not parsed. Use a worker without"
    " `payload`."
)
REASON_MOST_BYTES = 1024
STEP_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
SWALLOWED = (
    "%s: the handler went on after its event was parked, so somebody caught svc_agents.Parked. Nothing was acked, and the "
    "handler runs again from the top. Let Parked pass: catch Exception, not BaseException, and no bare except."
)


@dataclass(frozen=True)
class Finished:
    """The result of working on an event."""

    event: Dict[str, Any]
    #: `acked`, `retry`, `dead`, `lost`, `parked` or `returned`.
    outcome: str
    #: What the handler returned.
    result: Any
    #: Why it failed.
    reason: Optional[str]
    #: What the handler raised, unless it was that nobody approved or answered.
    error: Optional[BaseException]
    attempts: Optional[int]
    retry_at: Optional[str]


@dataclass(frozen=True)
class Settings:
    """How a worker works."""

    filter: Mapping[str, Any]
    #: Parses payloads.
    payload: Optional[Callable[[Any], Any]]
    concurrency: int
    lease_seconds: int
    beat: float
    most: Optional[int]
    drain: bool


def settings_of(
    filter: Optional[Mapping[str, Any]],
    payload: Optional[Callable[[Any], Any]],
    concurrency: int,
    lease_seconds: int,
    beat_seconds: Optional[float],
    most: Optional[int],
    drain: bool,
) -> Settings:
    beat = lease_seconds / 2 if beat_seconds is None else beat_seconds
    for key in filter or {}:
        _refuse_unknown(key)
    if not 1 <= concurrency <= CONCURRENCY_MOST:
        raise ValueError(f"concurrency must be 1 to {CONCURRENCY_MOST}.")
    if not LEASE_LEAST <= lease_seconds <= LEASE_MOST:
        raise ValueError(f"lease_seconds must be {LEASE_LEAST} to {LEASE_MOST}.")
    if not 0 < beat < lease_seconds * (1 - DRIFT):
        raise ValueError("beat_seconds must be shorter than the lease, or every lease would be lost.")
    return Settings(dict(filter or {}), payload, concurrency, lease_seconds, beat, most, drain)


def _refuse_unknown(key: str) -> None:
    """A misspelt key would let every event through."""
    if key in FILTER_KEYS:
        return
    meant = difflib.get_close_matches(key, FILTER_KEYS, 1)
    hint = f" Did you mean {meant[0]!r}?" if meant else ""
    raise ValueError(f"A filter has no {key!r}.{hint} It has {', '.join(FILTER_KEYS)}.")


def next_event(core: Core, settings: Settings, stop: Stop) -> Steps[Any]:
    """The oldest event that fits; None once stopped, or if nothing is pending and the worker drains."""
    seconds = DRAIN_WAIT_SECONDS if settings.drain else WAIT_SECONDS
    fields = {**settings.filter, "timeout_seconds": seconds}
    call = prepare(OPERATIONS["inbox_wait"], fields)
    try:
        while not stop.is_set:
            answer = yield from sat_out(core, call, stop)
            for warning in answer.get("warnings", []):
                log.warning(warning)
            if answer["event"] is not None or settings.drain:
                return answer["event"]
    except Stopped:
        pass
    return None


def sat_out(
    core: Core,
    call: Union[Prepared, Callable[[], Prepared]],
    stop: Stop,
    within: Callable[[], float] = lambda: 1e9,
    longest: float = 30.0,
) -> Steps[Any]:
    """The answer, through network trouble, while `within` says that seconds are left. Raises refusals."""
    key, backoff, is_troubled = str(uuid.uuid4()), Backoff(longest), False
    while True:
        began = core.clock.now()
        try:
            prepared = call() if callable(call) else call
            answer = yield from core.once(prepared, key, None, stop)
            if is_troubled:
                log.warning("Connected again.")
            return answer
        except SvcError as error:
            if not error.can_be_sat_out or within() <= 0:
                raise
            if not is_troubled:
                log.warning("%s Trying again.", error)
            is_troubled = True
            # The line works between its cuts, so the next call needn't wait longer than the last.
            if core.clock.now() - began >= HELD:
                backoff = Backoff(longest)
            pause = backoff.next(error.retry_after, max(0.0, within()))
        if not (yield Sleep(pause, stop)):
            raise Stopped()


class LostClaims:
    """Slows down repeated claims: a wait that a lagging replica answers may show an event that another worker has."""

    def __init__(self) -> None:
        self._id, self._repeats = "", 0

    def pause(self, event_id: str, stop: Stop) -> Steps[None]:
        self._repeats = self._repeats + 1 if event_id == self._id else 0
        self._id = event_id
        if self._repeats:
            yield Sleep(min(2.0, 0.02 * 2 ** min(self._repeats, 7)) * (0.5 + random.random()), stop)


def next_lease(
    core: Core, settings: Settings, lost_claims: LostClaims, stop: Stop
) -> Steps[Optional[Lease]]:
    """The lease on the oldest event that fits and that no other worker has; None as `next_event` says it."""
    while not stop.is_set:
        event = yield from next_event(core, settings, stop)
        if event is None:
            return None
        lease: Optional[Lease] = yield from take(
            core, event["id"], settings.lease_seconds, settings.beat, stop
        )
        if lease is not None:
            return lease
        yield from lost_claims.pause(event["id"], stop)
    return None


def parsed(event: ClaimedEvent, parse: Optional[Callable[[Any], Any]]) -> Any:
    """The event with what `parse` makes of its payload. Raises `PayloadInvalid`: the same bytes won't fit another time either."""
    if parse is None:
        return event
    if event["payload"] is None and event.get("payload_url"):
        raise PayloadInvalid(BEHIND_LINK)
    try:
        payload = parse(event["payload"])
    except Exception as error:
        places = _places_of(error)
        text = "\n".join(places) if places else f"{type(error).__name__}: {error}"
        # What a validator prints may quote the payload, and places say enough.
        raise PayloadInvalid(f"The payload doesn't fit.\n{text}") from (None if places else error)
    return {**event, "payload": payload}


def _places_of(error: Exception) -> List[str]:
    """Where a payload doesn't fit, if its parser says so as pydantic does: `payload.pull.sha: Field required`."""
    told: Any = getattr(error, "errors", None)
    found: Any = told() if callable(told) else ()
    return [
        f"{'.'.join(['payload', *map(str, one['loc'])])}: {one['msg']}"
        for one in found
        if isinstance(one, dict) and "loc" in one and "msg" in one
    ][:PLACES_MOST]


class Work:
    """One event and its handler. The contexts of both clients are made of its steps."""

    def __init__(self, core: Core, lease: Lease) -> None:
        self.core = core
        self.lease = lease
        self.event = lease.event
        self._spends: Dict[str, Any] = {}

    def run(self, handler: Callable[[], Any]) -> Steps[Finished]:
        """Runs the handler and closes the event by how it ended."""
        result: Any = None
        error: Optional[BaseException] = None
        try:
            result = yield Call(handler, self.lease.lost)
        except BaseException as raised:  # Decides below what passes.
            error = raised
        no = None if self.lease.is_parked else no_in(error)
        if no is not None:
            result, error = {"status": no.status, "comment": no.comment}, None
        try:
            closed, reason = yield from self._close(result, error)
        finally:
            self.lease.released.fire()
        is_ours = error is None or isinstance(error, (Exception, Parked)) or _is_parked(error)
        if error is not None and not is_ours and not (closed.outcome == "lost" and _is_cancel(error)):
            raise error
        return Finished(
            self.event, closed.outcome, result, reason, error, closed.attempts, closed.retry_at
        )

    def _close(self, result: Any, error: Optional[BaseException]) -> Steps[Any]:
        if self.lease.is_parked:
            if not _is_parked(error):
                log.error(SWALLOWED, self.event["id"])
            return Closed("parked"), None
        if self.lease.is_over:
            log.warning("%s: the lease was lost, so nothing is acked.", self.event["id"])
            return Closed("lost"), None
        if error is None:
            return (yield from self._acked(self._ack(result)))
        reason = _reason_of(error)
        if isinstance(error, (Exception, Parked)):
            log.warning("%s: the handler failed", self.event["id"], exc_info=error)
            fields = {"reason": reason, "retry": not isinstance(error, Permanent)}
        else:
            fields = {"reason": "The worker was stopped.", "until": ["now"]}
        return (yield from self.lease.close(Verdict(False, fields))), reason

    def _acked(self, verdict: Verdict) -> Steps[Any]:
        """A refused ack leaves a trace: the event is dead, with the refusal as its reason."""
        try:
            return (yield from self.lease.close(verdict)), None
        except SvcError as error:
            if error.status in (0, 401, 403):
                raise
            log.error("%s: the ack was refused: %s", self.event["id"], error)
            reason = f"The ack was refused: {error}"
        return (yield from self.lease.close(Verdict(False, {"reason": reason, "retry": False}))), reason

    def _ack(self, result: Any) -> Verdict:
        if result is None:
            return Verdict(True, self._spends)
        try:
            size = len(to_json(result))
        except (TypeError, ValueError) as error:
            log.warning("%s: the result isn't JSON, so it's left out: %s", self.event["id"], error)
            return Verdict(True, self._spends)
        if size > RESULT_MOST_BYTES:
            log.warning("%s: the result is over 4 KB, so it's left out.", self.event["id"])
            return Verdict(True, self._spends)
        return Verdict(True, {**self._spends, "result": result})

    def ask(self, name: str, fields: Mapping[str, Any]) -> Steps[Union[Approved, Answered]]:
        """A yes or an answer. Raises `Parked` if nobody has decided yet."""
        self.lease.check()
        about = {"event_id": self.event["id"], "lease_id": self.event.get("lease_id")}
        call = prepare(OPERATIONS[name], {**fields, **about, "park": True, "wait_seconds": 0})
        answer = yield from self._held(call)
        if answer.get("parked"):
            self.lease.park()
            raise Parked(answer["request_id"])
        if answer.get("status") == "pending":
            yield from self.park([answer["request_id"]], False, fields.get("state", UNSET))
        return granted(answer, name == "ask_approval", fields.get("bind", UNSET))

    def park(self, until: Sequence[str], any: bool, state: Any) -> Steps[None]:
        """Always ends in `Parked`."""
        self.lease.check()
        fields = {
            "event_id": self.event["id"],
            "lease_id": self.event.get("lease_id"),
            "until": list(until),
            "any": any,
            "state": state,
        }
        yield from self._held(prepare(OPERATIONS["inbox_nack"], fields))
        self.lease.park()
        raise Parked(", ".join(until))

    def _held(self, call: Prepared) -> Steps[Any]:
        """A call that only counts while the event is ours."""
        try:
            within = lambda: self.lease.left  # noqa: E731
            return (yield from sat_out(self.core, call, self.lease.lost, within, self.lease.pause_most))
        except Stopped:
            self.lease.check()
            raise

    def once(self, name: str, step: Callable[[], Any]) -> Steps[Any]:
        """What the step returned, now or in an earlier run of the handler."""
        if not STEP_NAME.fullmatch(name):
            raise ValueError(f'"{name}" can\'t be a step\'s name: use up to 100 letters, digits, . _ and -')
        self.lease.check()
        key = f"once/{self.event['id']}/{name}"
        get = prepare(OPERATIONS["kv_get"], {"key": key})
        kept = _keeping.read(key, (yield from self._held(get)))
        if kept is not UNSET:
            return kept
        self.lease.check()
        value = _keeping.plain(name, (yield Call(step, self.lease.lost)))
        ends = self.core.clock.now() + self.lease.seconds
        put = prepare(OPERATIONS["kv_set"], _keeping.kept(key, value))
        # The step is done, so this goes on while the event is ours, and for a while longer.
        within = lambda: max(self.lease.left, ends - self.core.clock.now())  # noqa: E731
        try:
            yield from sat_out(self.core, put, Stop(), within, self.lease.pause_most)
        except SvcError as error:
            if error.code != "PRECONDITION_FAILED":
                log.error("%s: the step %s ran, but its result isn't kept: %s", self.event["id"], name, error)
                raise
            faster = _keeping.read(key, (yield from sat_out(self.core, get, Stop(), within)))
            return value if faster is UNSET else faster
        return value

    def load(self) -> Steps[Any]:
        """What earlier runs for this event saved."""
        call = prepare(OPERATIONS["state_load"], {"task_id": self.event["id"]})
        found = yield from self._held(call)
        return None if found is None else found["state"]

    def save(self, state: Any, note: Optional[str]) -> Steps[None]:
        self.lease.check()
        fields = {"task_id": self.event["id"], "state": state, "note": note}
        yield from self._held(prepare(OPERATIONS["state_save"], fields))

    def spend(self, answer: Approved) -> None:
        """The ack uses up this approval."""
        bound = {} if answer.bind is UNSET else {"bind": answer.bind}
        self._spends = {"spends": answer.request_id, **bound}


def _is_parked(error: Optional[BaseException]) -> bool:
    """Also inside the group that a TaskGroup raises."""
    inner: List[BaseException] = list(getattr(error, "exceptions", ()))
    return isinstance(error, Parked) or any(_is_parked(one) for one in inner)


def _is_cancel(error: BaseException) -> bool:
    import asyncio

    return isinstance(error, asyncio.CancelledError)


def _reason_of(error: BaseException) -> str:
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, PayloadInvalid):
        text = str(error)
    return text.encode("utf-8", "replace")[:REASON_MOST_BYTES].decode("utf-8", "ignore") or "failed"
