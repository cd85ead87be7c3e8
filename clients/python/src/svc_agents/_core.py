"""One call: its headers, its tries under one idempotency key, its answer."""

from __future__ import annotations

import json
import logging
import os
import uuid
from typing import Any, Dict, Mapping, Optional

from ._connection import Connection, resolve_connection
from ._effects import Backoff, Clock, Send, Sleep, Steps, Stop, Stopped
from ._http import Request, Response
from ._operation import UNSET, CallOptions, Prepared, prepare
from ._operations import OPERATIONS
from ._version import VERSION
from .errors import SvcError, answered_error

log = logging.getLogger("svc_agents")

TIMEOUT = 30.0
MAX_RETRIES = 3
#: A caller that isn't a worker doesn't sit out longer pauses.
LONGEST_PAUSE = 10.0
ASKED_MOST = 60.0


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
        return self.call(prepare(OPERATIONS[name], fields), options, stop)

    def call(
        self, prepared: Prepared, options: Optional[CallOptions] = None, stop: Optional[Stop] = None
    ) -> Steps[Any]:
        """The answer. Tries again what failed only for now, under the same idempotency key."""
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
        body = parsed(response.body)
        if 200 <= response.status < 300:
            if body is UNSET:
                raise SvcError("ANSWER_INVALID", "The answer isn't JSON.", status=response.status)
            return body
        headers = response.headers
        raise answered_error(
            response.status, body, headers.get("x-request-id"), headers.get("retry-after", "")
        )

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
