"""One call: its headers, its tries under one idempotency key, its answer."""

from __future__ import annotations

import json
import logging
import math
import os
import uuid
from typing import Any, Dict, Mapping, Optional

from ._connection import Connection, resolve_connection
from ._effects import Backoff, Clock, Send, Sleep, Steps, Stop, Stopped
from ._http import Request, Response
from ._operation import UNSET, CallOptions, Operation, Prepared, prepare
from ._generated.operations import OPERATIONS
from ._version import VERSION
from .errors import SvcError, answered_error, in_front

log = logging.getLogger("svc_agents")

TIMEOUT = 30.0
MAX_RETRIES = 3
#: A caller that isn't a worker doesn't sit out longer pauses.
LONGEST_PAUSE = 10.0
ASKED_MOST = 60.0
#: A proxy that ends silent calls cuts one only after a while.
HELD = 1.0
#: How long an answer may come after its time, if the server is just restarting.
GRACE = 10.0


class Core:
    """What both clients share: settings, and calls as steps."""

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
    ) -> None:
        self._given = {"api_key": api_key, "gateway": gateway, "profile": profile}
        self._env = os.environ if env is None else env
        self._agent = agent or self._env.get("SVC_AGENT") or None
        self._timeout = timeout
        self._max_retries = max_retries
        self._connection: Optional[Connection] = None
        self._said_stale = False
        self.clock = clock or Clock()

    @property
    def connection(self) -> Connection:
        """Found at the first call. The daemon's first start creates the key, so none is no lasting answer."""
        if self._connection is None or not self._connection.api_key:
            found = resolve_connection(self._env, **self._given)
            if found.warning and self._connection is None:
                log.warning(found.warning)
            self._connection = found
        return self._connection

    def operation(
        self,
        name: str,
        fields: Mapping[str, Any],
        options: Optional[CallOptions] = None,
        stop: Optional[Stop] = None,
    ) -> Steps[Any]:
        prepared = prepare(OPERATIONS[name], fields)
        given: CallOptions = options or {}
        if prepared.seconds <= 0 or given.get("max_retries", self._max_retries) <= 0:
            return self.call(prepared, options, stop)
        return self._held(OPERATIONS[name], fields, prepared.seconds, given, stop)

    def _held(
        self,
        operation: Operation,
        fields: Mapping[str, Any],
        seconds: float,
        given: CallOptions,
        stop: Optional[Stop],
    ) -> Steps[Any]:
        """The answer to a call that the server holds: over a line that cuts it, it's asked again for the rest of its time."""
        field = operation.seconds_field or ""
        least = 1 if field == "timeout_seconds" else 0
        options: CallOptions = {**given}
        options.setdefault("idempotency_key", str(uuid.uuid4()))
        ends = self.clock.now() + seconds
        asked, failures, is_first = fields, 0, True
        while True:
            began = self.clock.now()
            try:
                return (yield from self.call(prepare(operation, asked), options, stop, is_held=True))
            except SvcError as error:
                has_worked = not is_first or self.clock.now() - began >= HELD
                is_cut = error.retryable if has_worked else error.may_have_arrived
                if not is_cut or self.clock.now() > ends + GRACE:
                    raise
            is_first = False
            # A try that was held for a while shows a line that works, but for its cuts.
            failures = failures + 1 if self.clock.now() - began < HELD else 0
            if not (yield Sleep(min(2.0, 0.1 * 2 ** min(failures, 5)), stop)):
                raise Stopped()
            left = max(least, math.ceil(ends - self.clock.now()))
            asked = {**fields, field: int(min(seconds, left))}

    def call(
        self,
        prepared: Prepared,
        options: Optional[CallOptions] = None,
        stop: Optional[Stop] = None,
        is_held: bool = False,
    ) -> Steps[Any]:
        """
        The answer. Tries again what failed only for now, under the same idempotency key; with `is_held` only what surely
        did not arrive.
        """
        given: CallOptions = options or {}
        key = given.get("idempotency_key") or str(uuid.uuid4())
        left = given.get("max_retries", self._max_retries)
        backoff = Backoff(LONGEST_PAUSE)
        while True:
            try:
                return (yield from self.once(prepared, key, given, stop))
            except SvcError as error:
                if left <= 0 or not error.retryable or error.retry_after > ASKED_MOST:
                    raise
                if is_held and error.may_have_arrived:
                    raise
                failure = error
            left -= 1
            if not (yield Sleep(backoff.next(failure.retry_after), stop)):
                raise Stopped()

    def once(
        self,
        prepared: Prepared,
        key: str,
        options: Optional[CallOptions] = None,
        stop: Optional[Stop] = None,
        deadline: Optional[float] = None,
    ) -> Steps[Any]:
        """One try."""
        timeout = (options or {}).get("timeout", self._timeout) + prepared.seconds
        request = self._request(prepared, key, timeout, deadline)
        response: Response = yield Send(request, stop)
        self._note_stale(response)
        body, headers = parsed(response.body), response.headers
        server = headers.get("server", "")
        if 200 <= response.status < 300:
            if body is UNSET:
                text = f"{in_front(server)} answered HTTP {response.status} and no JSON."
                raise SvcError("ANSWER_INVALID", text)
            return body
        asked = headers.get("retry-after", "")
        request_id = headers.get("x-request-id")
        raise answered_error(response.status, body, request_id, asked, request.target, server)

    def _request(
        self, prepared: Prepared, key: str, timeout: float, deadline: Optional[float]
    ) -> Request:
        place = self.connection
        headers: Dict[str, str] = {
            "host": place.host,
            "accept": "application/json",
            "user-agent": f"svc-python/{VERSION}",
        }
        if place.api_key:
            headers["authorization"] = f"Bearer {place.api_key}"
        if self._agent:
            headers["x-service-agent"] = self._agent
        if prepared.method != "GET":
            headers["idempotency-key"] = key
        body: Optional[bytes] = None
        if prepared.body is not UNSET:
            kind = prepared.content_type or "application/json"
            headers["content-type"] = kind
            body = prepared.body if isinstance(prepared.body, bytes) else to_json(prepared.body)
        target = place.base_path + prepared.target
        return Request(prepared.method, target, headers, body, timeout, deadline)

    def _note_stale(self, response: Response) -> None:
        """Said once: the answer may be hours old."""
        if self._said_stale or response.headers.get("x-service-stale") != "true":
            return
        self._said_stale = True
        age = response.headers.get("x-service-replica-age", "?")
        log.warning("The gateway didn't answer: the daemon's copy is %s s old.", age)


def to_json(value: Any) -> bytes:
    """Raises ValueError or TypeError for what JSON can't say."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def parsed(body: bytes) -> Any:
    """UNSET if it isn't JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return UNSET
