"""One event's claim: taken, kept while its handler runs, and closed."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Mapping, Optional

from ._core import Core
from ._effects import Backoff, Sleep, Steps, Stop, Stopped
from ._operation import prepare
from ._generated.operations import OPERATIONS
from .errors import LeaseLostError, SvcError

log = logging.getLogger("svc_agents")

CLAIM_TRIES = 5
SILENCE = 30.0
#: The part of a lease that isn't used, because two clocks don't run equally fast.
DRIFT = 0.02
#: The errors of a claim when another worker was faster.
TAKEN = frozenset({"EVENT_NOT_CLAIMABLE", "EVENT_ROUTED", "NOT_FOUND"})
#: The errors of an ack or nack after the lease was lost.
LOST = TAKEN | {"LEASE_NOT_HELD", "LEASE_EXPIRED"}


@dataclass(frozen=True)
class Verdict:
    """How to close an event: `fields` go to ack or nack."""

    ack: bool
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Closed:
    """
    How an event was closed. `returned`: given back without counting a failure; `parked`: its handler parked it; `lost`:
    its lease ran out or went to another worker first, so nothing was closed.
    """

    #: `acked`, `retry`, `dead`, `lost`, `parked` or `returned`.
    outcome: str
    attempts: Optional[int] = None
    retry_at: Optional[str] = None


def take(core: Core, event_id: str, lease_seconds: int, beat: float, stop: Stop) -> Steps[Any]:
    """
    Claims an event; None if another worker has it. Sits out network trouble, but only for a few tries once the worker is
    stopping. Repeats the claim with the same key, so that a lost answer comes again and the event doesn't sit until its
    lease ends.
    """
    call = prepare(
        OPERATIONS["inbox_claim"], {"event_id": event_id, "lease_seconds": lease_seconds}
    )
    key, backoff = str(uuid.uuid4()), Backoff()
    sent_at = core.clock.now()
    while True:
        try:
            event = yield from core.once(call, key)
            return Lease(core, event, sent_at, lease_seconds, beat)
        except SvcError as error:
            if error.code in TAKEN:
                return None
            is_tired = stop.is_set and backoff.failures >= CLAIM_TRIES
            if not error.can_be_sat_out or is_tired:
                raise
            if backoff.failures == 0:
                log.warning("%s Trying again.", error)
            pause = backoff.next(error.retry_after)
        # Ignores `stop`, which must not leave behind a claim that nobody knows about.
        yield Sleep(pause)


class Lease:
    """A claimed event."""

    def __init__(
        self, core: Core, event: Dict[str, Any], sent_at: float, lease_seconds: int, beat: float
    ) -> None:
        self.core = core
        self.event = event
        self.seconds = lease_seconds
        self._beat = beat
        self._fields = {"event_id": event["id"], "lease_id": event.get("lease_id")}
        #: By this time nobody else can hold the event.
        self._held_until = self._end_of(sent_at)
        #: Fired when the lease is lost, before anybody else can hold the event.
        self.lost = Stop()
        #: Ends `keep`.
        self.released = Stop()
        #: The handler parked the event, which ended the lease.
        self.is_parked = False

    def _end_of(self, sent_at: float) -> float:
        return sent_at + self.seconds * (1 - DRIFT)

    @property
    def left(self) -> float:
        """For how many seconds nobody else can hold the event."""
        return self._held_until - self.core.clock.now()

    @property
    def is_over(self) -> bool:
        return self.lost.is_set or self.left <= 0

    def check(self) -> None:
        """Raises unless the event is still ours."""
        if self.is_parked:
            raise SvcError("EVENT_PARKED", "The event is parked: its handler must end now.")
        if self.is_over:
            raise LeaseLostError("LEASE_EXPIRED", f"The lease on {self.event['id']} was lost.")

    @property
    def pause_most(self) -> float:
        """The longest pause between two tries, so that a short lease has room for several."""
        return min(5.0, self.seconds / 10)

    def park(self) -> None:
        self.is_parked = True
        self.released.fire()

    def keep(self) -> Steps[None]:
        """Extends the lease until it's released or lost."""
        clock = self.core.clock
        beat_at = clock.now() + self._beat
        while not self.released.is_set:
            if self.left <= 0:
                return self._lose("The lease ran out.")
            pause = min(beat_at - clock.now(), self.left)
            if pause > 0:
                if not (yield Sleep(pause, self.released, is_background=True)):
                    return
                continue
            sent_at = clock.now()
            try:
                yield from self._extend()
                self._held_until = self._end_of(sent_at)
                beat_at = sent_at + self._beat
            except Stopped:
                return
            except SvcError as error:
                if error.code in LOST:
                    return self._lose(str(error))
                beat_at = clock.now() + (self._beat / 8 if error.can_be_sat_out else self.seconds)
                if not error.can_be_sat_out:
                    log.warning("%s: can't extend the lease: %s", self.event["id"], error)

    def _extend(self) -> Steps[Any]:
        fields = {**self._fields, "lease_seconds": self.seconds}
        call = prepare(OPERATIONS["inbox_extend"], fields)
        deadline = max(0.01, min(SILENCE, self._beat / 2, self.left))
        return self.core.once(call, str(uuid.uuid4()), None, self.released, deadline)

    def _lose(self, why: str) -> None:
        if not self.released.is_set:
            log.warning("%s: the lease is lost: %s", self.event["id"], why)
            self.lost.fire()

    def close(self, verdict: Verdict) -> Steps[Closed]:
        """Acks or nacks, and retries through network trouble for as long as the lease lasts."""
        key, backoff = str(uuid.uuid4()), Backoff(self.pause_most)
        while True:
            if self.is_over:
                return self._lost_by("The lease ran out.")
            try:
                return (yield from self._send(verdict, key))
            except SvcError as error:
                simpler = self._simpler(verdict, error)
                if simpler is not None:
                    return (yield from self.close(simpler))
                if not error.can_be_sat_out:
                    return (yield from self._refused(error))
                pause = backoff.next(error.retry_after, max(0.0, self.left))
            yield Sleep(pause, self.lost)

    def _send(self, verdict: Verdict, key: str) -> Steps[Closed]:
        name = "inbox_ack" if verdict.ack else "inbox_nack"
        call = prepare(OPERATIONS[name], {**self._fields, **verdict.fields})
        answer = yield from self.core.once(call, key)
        if verdict.ack:
            return Closed("acked")
        kinds = {"dead": "dead", "pending": "returned", "waiting": "parked"}
        outcome = kinds.get(answer.get("status"), "retry")
        return Closed(outcome, answer.get("attempts"), answer.get("retry_at"))

    def _simpler(self, verdict: Verdict, error: SvcError) -> Optional[Verdict]:
        """The verdict without the part the server refuses; None if nothing can be left out."""
        optional = "result" if verdict.ack else "until"
        if error.code != "VALIDATION_FAILED" or optional not in verdict.fields:
            return None
        if verdict.ack:
            log.warning("%s: the server refused the result, so it's left out.", self.event["id"])
        fields = {name: value for name, value in verdict.fields.items() if name != optional}
        return replace(verdict, fields=fields)

    def _refused(self, error: SvcError) -> Steps[Closed]:
        if error.code not in LOST:
            raise error
        if error.code != "LEASE_EXPIRED":
            call = prepare(OPERATIONS["inbox_get"], {"event_id": self.event["id"]})
            try:
                found = yield from self.core.once(call, "")
            except SvcError:
                found = {}
            if found.get("status") == "waiting":
                return Closed("parked")
            if found.get("status") == "dead":
                return Closed("dead")
        return self._lost_by(str(error))

    def _lost_by(self, why: str) -> Closed:
        log.warning("%s: the result isn't recorded: %s", self.event["id"], why)
        return Closed("lost")
