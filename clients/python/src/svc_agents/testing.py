"""
A server in memory, to test handlers without one. Its clock stands still until the test moves it, and the test decides
in place of people.

    fake = FakeSvc()
    event_id = fake.deliver("github", "pull_request.opened", {"number": 7})
    fake.run(bot)
    fake.decide("approved")
    fake.run(bot)
    assert fake.event(event_id)["status"] == "done"
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import threading
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional
from urllib.parse import parse_qsl, unquote, urlsplit

from ._async import AsyncSvc
from ._effects import Clock, Sleep, Stop
from ._http import Request, Response
from ._generated.client import Svc
from ._working import Finished

RETRY_AFTER = [30, 60, 120, 240]
PARKS_MOST = 25
REQUEST_SECONDS = 24 * 3600
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class FakeClock(Clock):
    """Stands still until it's moved. A wait that nobody else could end moves it."""

    def __init__(self) -> None:
        self._now = 0.0
        self._moved = threading.Condition()

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        with self._moved:
            self._now += seconds
            self._moved.notify_all()

    def wait(self, sleep: Sleep) -> bool:
        if not sleep.is_background:
            self.advance(sleep.seconds)
            return not (sleep.stop and sleep.stop.is_set)
        due, stop = self._now + sleep.seconds, sleep.stop or Stop()
        forget = stop.on_fire(self._wake)
        with self._moved:
            self._moved.wait_for(lambda: stop.is_set or self._now >= due)
        forget()
        return not stop.is_set

    async def wait_async(self, sleep: Sleep) -> bool:
        if not sleep.is_background:
            return self.wait(sleep)
        due, stop = self._now + sleep.seconds, sleep.stop or Stop()
        while not stop.is_set and self._now < due:
            await asyncio.sleep(0.005)
        return not stop.is_set

    def _wake(self) -> None:
        # `fire` may run in the thread that moves the clock, so it can't wait for it.
        threading.Thread(target=lambda: self.advance(0), daemon=True).start()


class Refusal(Exception):
    """An error answer."""

    def __init__(self, status: int, code: str, hint: str = "", **details: Any) -> None:
        super().__init__(code)
        body = {"code": code, "message": code, "hint": hint or None, "details": details}
        self.status, self.body = status, {"error": body}


class FakeSvc:
    """
    Plays the inbox, questions to people, keys, states and files. `svc` and `async_svc` are clients of it. `policy` may
    decide a request at once: it gets the request and returns a status such as `approved`, or None to ask a person.
    """

    def __init__(self, policy: Optional[Callable[[Mapping[str, Any]], Optional[str]]] = None) -> None:
        self.clock = FakeClock()
        self._policy = policy
        self._lock = threading.RLock()
        self._events: Dict[str, Dict[str, Any]] = {}
        self._requests: Dict[str, Dict[str, Any]] = {}
        self._keys: Dict[str, Dict[str, Any]] = {}
        self._files: Dict[str, Dict[str, Any]] = {}
        self._answers: Dict[str, Response] = {}
        self._version = 0
        self._away = 0
        given: Dict[str, Any] = {"api_key": "svc_test", "gateway": "http://127.0.0.1:1", "env": {}}
        self.svc = Svc(**given, clock=self.clock, transport=_Transport(self))
        self.async_svc = AsyncSvc(**given, clock=self.clock, transport=_AsyncTransport(self))

    def deliver(self, source: str, type: str, payload: Any = None) -> str:
        """An event arrives; returns its id."""
        event = {
            "id": _id("evt"),
            "source": source,
            "type": type,
            "payload": payload,
            "received_at": self._iso(),
            "verified": True,
            "trust": "external_untrusted",
            "status": "pending",
            "attempts": 0,
            "retry_at": None,
            "result": None,
            "_due": 0.0,
            "_parks": 0,
        }
        with self._lock:
            self._events[event["id"]] = event
        return str(event["id"])

    def run(self, handler: Any, **options: Any) -> List[Finished]:
        """A worker handles what is pending now; returns what became of each event."""
        finished: List[Finished] = []
        options = {"log": _silent, **options}
        self.svc.work(None, handler, drain=True, on_finished=finished.append, **options)
        return finished

    async def run_async(self, handler: Any, **options: Any) -> List[Finished]:
        """A worker handles what is pending now; returns what became of each event."""
        finished: List[Finished] = []
        options = {"log": _silent, **options}
        await self.async_svc.work(None, handler, drain=True, on_finished=finished.append, **options)
        return finished

    def decide(
        self,
        status: str = "approved",
        *,
        decision: Optional[str] = None,
        comment: Optional[str] = None,
        request_id: Optional[str] = None,
    ) -> str:
        """
        A person decides the oldest open request, or the named one: `approved`, `denied`, `modified` (with the option as
        `decision`), `answered` (with the answer as `decision`) or `needs_context` (with a comment). Returns its id.
        """
        with self._lock:
            self._pass_time()
            pending = [one for one in self._requests.values() if one["status"] == "pending"]
            for one in pending:
                if request_id in (None, one["request_id"]):
                    self._end(one, status, decision, comment, "channel:chn_test")
                    self._pass_time()
                    return str(one["request_id"])
        raise AssertionError("No such request is open." if request_id else "No request is open.")

    def advance(self, seconds: float) -> None:
        """The clock jumps, as if the machine had slept: a handler that's at work may lose its lease."""
        self.clock.advance(seconds)

    def go_away(self, calls: int) -> None:
        """The server doesn't answer the next calls."""
        self._away = calls

    def event(self, event_id: str) -> Dict[str, Any]:
        """An event as it stands."""
        with self._lock:
            self._pass_time()
            return self._shown(self._events[event_id])

    @property
    def requests(self) -> List[Dict[str, Any]]:
        """All requests to people, oldest first."""
        with self._lock:
            self._pass_time()
            return [self._record(one) for one in self._requests.values()]

    # What the server does with a call.

    def answer(self, request: Request) -> Response:
        with self._lock:
            if self._away > 0:
                self._away -= 1
                raise ConnectionRefusedError("away")
            key = request.headers.get("idempotency-key", "")
            if key in self._answers:
                return self._answers[key]
            self._pass_time()
            try:
                status, body = 200, self._route(request)
            except Refusal as refusal:
                status, body = refusal.status, refusal.body
            response = Response(status, {"x-request-id": _id("r")}, json.dumps(body).encode(), True)
            if key and request.method != "GET" and status < 300:
                self._answers[key] = response
            return response

    def _route(self, request: Request) -> Any:
        url = urlsplit(request.target)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        parts = url.path.split("/")[2:]
        noun, rest = parts[0].replace("-", "_"), [unquote(part) for part in parts[1:]]
        play = getattr(self, f"_{request.method.lower()}_{noun}", None)
        found = None if play is None else play(rest, query, request)
        if found is _UNPLAYED or play is None:
            raise Refusal(501, "NOT_PLAYED", f"FakeSvc doesn't play {request.method} {url.path}.")
        return found

    def _get_whoami(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        return {"project": {"id": "prj_test", "slug": "test", "name": "test"}, "scopes": []}

    def _get_inbox(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        events = [one for one in self._events.values() if _fits(one, query)]
        if not rest:
            wanted = query.get("status")
            items = [self._shown(one) for one in events if wanted in (None, one["status"])]
            return {"items": items, "next_cursor": None}
        if rest == ["wait"]:
            pending = [one for one in events if one["status"] == "pending"]
            return {"event": self._shown(pending[0]) if pending else None}
        if rest[0] == "events" and len(rest) == 2:
            return self._shown(self._event(rest[1]))
        return _UNPLAYED

    def _post_inbox(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        fields = json.loads(request.body or b"{}")
        if rest == ["claim"]:
            return self._claim(self._event(fields["event_id"]), fields.get("lease_seconds", 300))
        if rest == ["requeue"]:
            event = self._event(fields["event_id"])
            event.update(status="pending", attempts=0)
            return {"event_id": event["id"], "status": "pending"}
        if rest[0] not in ("ack", "nack", "extend"):
            return _UNPLAYED
        event = self._held(fields)
        if rest == ["extend"]:
            event["_until"] = self.clock.now() + fields.get("lease_seconds", 300)
            return {"event_id": event["id"], "lease_id": event["lease_id"]}
        return self._ack(event, fields) if rest == ["ack"] else self._nack(event, fields)

    def _claim(self, event: Dict[str, Any], seconds: int) -> Any:
        if event["status"] != "pending":
            raise Refusal(409, "EVENT_NOT_CLAIMABLE")
        event.update(status="claimed", lease_id=_id("lse"), _until=self.clock.now() + seconds)
        resumed = event.get("_resumed")
        return {**self._shown(event), **({"resumed": resumed} if resumed else {})}

    def _ack(self, event: Dict[str, Any], fields: Mapping[str, Any]) -> Any:
        if "spends" in fields:
            self._spend(fields["spends"], fields.get("bind"), event["id"])
        event.update(status="done", result=fields.get("result"), acked_at=self._iso())
        self._withdraw_questions(event["id"])
        return {"event_id": event["id"], "status": "done", "acked_at": self._iso()}

    def _nack(self, event: Dict[str, Any], fields: Mapping[str, Any]) -> Any:
        until = fields.get("until")
        if until == ["now"]:
            event["status"] = "pending"
            if "state" in fields:
                none = {"parks": event["_parks"], "because": "now", "waited_for": [], "answers": []}
                event["_resumed"] = {**event.get("_resumed", none), "state": fields["state"]}
        elif until is not None:
            self._park(event, until, fields.get("any", False), fields)
        else:
            event["attempts"] += 1
            event["reason"] = fields.get("reason")
            is_dead = event["attempts"] > len(RETRY_AFTER) or fields.get("retry") is False
            event["status"] = "dead" if is_dead else "failed"
            if is_dead:
                self._withdraw_questions(event["id"])
            else:
                event["_due"] = self.clock.now() + RETRY_AFTER[event["attempts"] - 1]
                event["retry_at"] = self._iso(event["_due"])
        return {name: event[name] for name in ("status", "attempts", "retry_at")}

    def _park(self, event: Dict[str, Any], until: List[str], any: bool, fields: Mapping[str, Any]) -> None:
        state = fields.get("state", event.get("_resumed", {}).get("state"))
        event["_parks"] += 1
        event["attempts"] = 0
        event["status"] = "dead" if event["_parks"] > PARKS_MOST else "waiting"
        due = {one: self.clock.now() + _seconds(one[1:]) for one in until if one.startswith("+")}
        event["_waits"] = {"until": until, "any": any, "state": state, "due": due}
        self._pass_time()

    def _post_requests(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        fields = json.loads(request.body or b"{}")
        if not rest:
            return self._asked(fields)
        one = self._request(rest[0])
        if rest[1:] == ["withdraw"]:
            self._end(one, "expired", None, None, None, f"withdrawn: {fields.get('reason', '')}")
        elif rest[1:] == ["received"]:
            return {"request_id": one["request_id"], "closed": False, "event_id": None}
        elif rest[1:] == ["use"]:
            self._spend(one["request_id"], fields.get("bind"), "key_test")
        else:
            return _UNPLAYED
        return self._record(one)

    def _asked(self, fields: Mapping[str, Any]) -> Any:
        event = self._event(fields["event_id"]) if fields.get("event_id") else None
        same = ("question",) if "question" in fields else ("action", "bind")
        identity = json.dumps([fields.get(name) for name in ("event_id", *same)], sort_keys=True)
        found = [one for one in self._requests.values() if event and one["_identity"] == identity]
        fault = self._fault(event, fields) if event else None
        if event and fault:
            if not found:
                raise Refusal(409, fault)
            return self._asked_before(event, found[-1], fields)
        live = [one for one in found if one["status"] != "needs_context" and not one["hint"]]
        one = live[0] if live else self._open(fields, identity)
        answer = self._record(one)
        if event is None or not fields.get("park") or one["status"] != "pending":
            return answer
        self._park(event, [one["request_id"]], False, fields)
        return {**answer, "parked": True}

    def _asked_before(self, event: Dict[str, Any], one: Dict[str, Any], fields: Mapping[str, Any]) -> Any:
        """Asking again finds the question, whoever has the event now."""
        waits = event["status"] == "waiting" and one["request_id"] in event["_waits"]["until"]
        is_parked = fields.get("park") and waits and one["status"] == "pending"
        return {**self._record(one), **({"parked": True} if is_parked else {})}

    def _open(self, fields: Mapping[str, Any], identity: str) -> Dict[str, Any]:
        for other in self._requests.values():
            is_same = fields.get("event_id") and other["event_id"] == fields["event_id"]
            if is_same and other["status"] == "pending" and other["action"] == fields.get("action"):
                self._end(other, "expired", None, None, None, "withdrawn: replaced")
        expires = self.clock.now() + _seconds(fields.get("expires_in", "24h"))
        names = ("action", "summary", "details", "risk", "amount", "question", "bind", "event_id")
        one = {
            **{name: fields.get(name) for name in names},
            "request_id": _id("req"),
            "kind": "question" if "question" in fields else "approval",
            "options": list(fields.get("options") or []),
            "status": "pending",
            "decision": None,
            "comment": None,
            "hint": None,
            "decided_by": None,
            "decided_at": None,
            "spent_at": None,
            "spent_by": None,
            "expires_at": self._iso(expires),
            "_expires": expires,
            "_identity": identity,
        }
        self._requests[str(one["request_id"])] = one
        status = self._policy(self._record(one)) if self._policy else None
        if status:
            self._end(one, status, None, None, "policy")
        return one

    def _get_requests(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        if rest:
            return self._record(self._request(rest[0]))
        return {"items": [self._record(one) for one in self._requests.values()], "next_cursor": None}

    def _spend(self, request_id: str, bind: Any, by: str) -> None:
        one = self._request(request_id)
        reason = "not_approved" if one["status"] not in ("approved", "modified") else None
        reason = reason or ("spent" if one["spent_at"] else None)
        reason = reason or ("other_values" if one["bind"] != bind else None)
        if reason:
            raise Refusal(409, "APPROVAL_NOT_APPLICABLE", reason=reason)
        one.update(spent_at=self._iso(), spent_by=by)

    def _get_kv(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        if rest:
            return self._keys.get(rest[0])
        prefix = query.get("prefix", "")
        keys = sorted(key for key in self._keys if key.startswith(prefix))
        return {"items": [{"key": key} for key in keys], "next_cursor": None}

    def _put_kv(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        if not request.body:
            raise Refusal(400, "VALIDATION_FAILED", fields=[{"path": "value"}])
        return self._set(rest[0], json.loads(request.body), query)

    def _set(self, key: str, value: Any, query: Mapping[str, Any]) -> Any:
        self._check_key(key, query)
        self._version += 1
        ttl = query.get("ttl_seconds")
        entry = {"key": key, "value": value, "version": self._version, "updated_at": self._iso()}
        entry["expires_at"] = self._iso(self.clock.now() + int(ttl)) if ttl else None
        self._keys[key] = entry
        return entry

    def _check_key(self, key: str, query: Mapping[str, Any]) -> None:
        now = self._keys.get(key, {"version": 0})["version"]
        is_wanted = query.get("if_version") is None or int(query["if_version"]) == now
        if not is_wanted or (str(query.get("if_exists")).lower() == "true" and now == 0):
            raise Refusal(412, "PRECONDITION_FAILED", version=now)

    def _post_kv_incr(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        fields = json.loads(request.body or b"{}")
        before = self._keys.get(fields["key"], {"value": 0})["value"]
        return self._set(fields["key"], before + fields.get("by", 1), fields)

    def _delete_kv(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        self._check_key(rest[0], query)
        return {"deleted": self._keys.pop(rest[0], None) is not None}

    def _get_state(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        found = self._keys.get(f"state/{rest[0]}")
        if found is None:
            return None
        return {"task_id": rest[0], "state": found["value"], "version": found["version"]}

    def _put_state(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        fields = json.loads(request.body or b"{}")
        return self._set(f"state/{rest[0]}", fields.get("state"), fields)

    def _get_files(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        if not rest:
            return {"items": list(self._files.values()), "next_cursor": None}
        if rest[0] not in self._files:
            raise Refusal(404, "NOT_FOUND")
        return self._files[rest[0]]

    def _put_files(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        data = request.body or b""
        if request.headers.get("content-type", "").startswith("application/vnd.service.upload"):
            return _UNPLAYED
        self._version += 1
        self._files[rest[0]] = {
            "path": rest[0],
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "content_type": request.headers.get("content-type"),
            "version": self._version,
            "content_base64": base64.b64encode(data).decode(),
        }
        return self._files[rest[0]]

    def _delete_files(self, rest: List[str], query: Mapping[str, str], request: Request) -> Any:
        return {"deleted": self._files.pop(rest[0], None) is not None}

    # What time does.

    def _pass_time(self) -> None:
        now = self.clock.now()
        for event in self._events.values():
            if event["status"] == "claimed" and event["_until"] <= now:
                event.update(status="pending", attempts=event["attempts"] + 1)
            if event["status"] == "failed" and event["_due"] <= now:
                event.update(status="pending", retry_at=None)
        for request in self._requests.values():
            if request["status"] == "pending" and request["_expires"] <= now:
                self._end(request, "expired", None, None, None)
        self._keys = {
            key: entry
            for key, entry in self._keys.items()
            if entry["expires_at"] is None or entry["expires_at"] > self._iso()
        }
        for event in self._events.values():
            if event["status"] == "waiting":
                self._wake(event)

    def _wake(self, event: Dict[str, Any]) -> None:
        waits = event["_waits"]
        stands = {one: self._status_of(one, waits["due"]) for one in waits["until"]}
        ended = [one for one, status in stands.items() if status != "pending"]
        noes = [one for one in ended if stands[one] in ("denied", "expired", "needs_context", "dead")]
        if not ended or not (waits["any"] or noes or len(ended) == len(stands)):
            return
        answers = [self._record(self._requests[one]) for one in stands if one in self._requests]
        event["_resumed"] = {
            "parks": event["_parks"],
            "because": (noes or ended)[-1],
            "waited_for": [{"id": one, "status": status} for one, status in stands.items()],
            "answers": answers,
            "state": waits["state"],
        }
        event["status"] = "pending"

    def _status_of(self, one: str, due: Mapping[str, float]) -> str:
        if one in self._requests:
            return str(self._requests[one]["status"])
        if one in self._events:
            status = self._events[one]["status"]
            return str(status) if status in ("done", "dead") else "pending"
        return "reached" if due.get(one, 0.0) <= self.clock.now() else "pending"

    def _end(
        self,
        request: Dict[str, Any],
        status: str,
        decision: Optional[str],
        comment: Optional[str],
        by: Optional[str],
        hint: Optional[str] = None,
    ) -> None:
        if request["status"] == "pending":
            at = self._iso()
            request.update(status=status, decision=decision, comment=comment)
            request.update(decided_by=by, decided_at=at, hint=hint)

    def _withdraw_questions(self, event_id: str) -> None:
        for one in self._requests.values():
            if one["event_id"] == event_id:
                self._end(one, "expired", None, None, None, "withdrawn: the event is over")

    def _event(self, event_id: str) -> Dict[str, Any]:
        if event_id not in self._events:
            raise Refusal(404, "NOT_FOUND")
        return self._events[event_id]

    def _held(self, fields: Mapping[str, Any]) -> Dict[str, Any]:
        event = self._event(fields["event_id"])
        fault = self._fault(event, fields)
        if fault:
            raise Refusal(409, fault)
        return event

    def _fault(self, event: Mapping[str, Any], fields: Mapping[str, Any]) -> Optional[str]:
        """Why a caller with this lease doesn't hold the event."""
        if event["status"] != "claimed":
            return "EVENT_NOT_CLAIMABLE"
        return "LEASE_NOT_HELD" if fields.get("lease_id") not in (None, event["lease_id"]) else None

    def _request(self, request_id: str) -> Dict[str, Any]:
        if request_id not in self._requests:
            raise Refusal(404, "NOT_FOUND")
        return self._requests[request_id]

    def _shown(self, event: Mapping[str, Any]) -> Dict[str, Any]:
        return {name: value for name, value in event.items() if not name.startswith("_")}

    _record = _shown

    def _iso(self, at: Optional[float] = None) -> str:
        moment = START + timedelta(seconds=self.clock.now() if at is None else at)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Transport:
    def __init__(self, fake: FakeSvc) -> None:
        self._fake = fake

    def send(self, request: Request, stop: Optional[Stop] = None, place: Any = None) -> Response:
        try:
            return self._fake.answer(request)
        except ConnectionRefusedError as error:
            raise self._fake.svc._core.connection.nobody_there(str(error)) from error

    def close(self) -> None:
        pass


class _AsyncTransport:
    def __init__(self, fake: FakeSvc) -> None:
        self._transport = _Transport(fake)

    async def send(self, request: Request, stop: Optional[Stop] = None, place: Any = None) -> Response:
        await asyncio.sleep(0)
        return self._transport.send(request, stop, place)

    def close(self) -> None:
        pass


_UNPLAYED = object()


def _silent(line: str) -> None:
    """Tests read what became of the events."""


def _fits(event: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    wanted = query.get("type", "*")
    is_type = event["type"].startswith(wanted[:-1]) if wanted.endswith("*") else event["type"] == wanted
    return is_type and query.get("source") in (None, event["source"])


def _seconds(span: str) -> float:
    return float(span[:-1]) * UNITS[span[-1]]


def _id(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:26]}"
