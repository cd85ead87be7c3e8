"""What a handler works with, for both clients."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, NoReturn, Optional, Sequence, TypeVar, Union, overload

from ._generated.types import ClaimedEvent, Resumed
from ._effects import Steps
from ._lost import Lost
from ._operation import UNSET
from ._working import Work
from .answers import Answered, Approved

Run = Callable[[Steps[Any]], Any]
T = TypeVar("T")


def listed(until: Union[str, Sequence[str]]) -> Sequence[str]:
    return [until] if isinstance(until, str) else list(until)


class _Base:
    """What needs no call."""

    def __init__(self, work: Work, run: Run, lost: Lost) -> None:
        self._work = work
        self._run = run
        #: Set when the event is no longer this handler's, before anybody else can have it. Stop then: nothing is acked.
        self.lost = lost

    @property
    def event(self) -> ClaimedEvent:
        """The event. Outsiders wrote its payload: check it before you use it."""
        return self._work.event  # type: ignore[return-value]

    @property
    def resumed(self) -> Optional[Resumed]:
        """What woke a parked event: the answers, and the `state` it was parked with. None the first time."""
        return self._work.event.get("resumed")

    def spend(self, answer: Approved) -> None:
        """Uses an approval up when the event is acked, in the same commit, with the values it bound."""
        self._work.spend(answer)


def approval_fields(
    action: str,
    summary: str,
    bind: Any,
    details: Optional[str],
    risk: Optional[str],
    amount: Optional[float],
    options: Optional[Sequence[str]],
    approvals: Optional[int],
    rest: Dict[str, Any],
) -> Dict[str, Any]:
    named = {"details": details, "risk": risk, "amount": amount, "options": options}
    return {"action": action, "summary": summary, "bind": bind, "approvals": approvals, **named, **rest}


class Asking:
    """Asks people about the event."""

    def __init__(self, work: Work, run: Run) -> None:
        self._work = work
        self._run = run

    def approval(
        self,
        action: str,
        summary: str,
        *,
        bind: Any = UNSET,
        details: Optional[str] = None,
        risk: Optional[str] = None,
        amount: Optional[float] = None,
        options: Optional[Sequence[str]] = None,
        approvals: Optional[int] = None,
        expires_in: Optional[str] = None,
        approvers: Optional[Sequence[str]] = None,
        remind: Optional[str] = None,
        then: Optional[Sequence[str]] = None,
        state: Any = UNSET,
    ) -> Approved:
        """
        A yes. While nobody has decided, it parks the event and ends the handler. `NotApproved`, which a no raises, ends it
        too, and the event is done.
        """
        rest = {"expires_in": expires_in, "approvers": approvers, "remind": remind, "then": then, "state": state}
        fields = approval_fields(action, summary, bind, details, risk, amount, options, approvals, rest)
        answer: Approved = self._run(self._work.ask("ask_approval", fields))
        return answer

    def human(
        self,
        question: str,
        *,
        options: Optional[Sequence[str]] = None,
        expires_in: Optional[str] = None,
        approvers: Optional[Sequence[str]] = None,
        remind: Optional[str] = None,
        then: Optional[Sequence[str]] = None,
        state: Any = UNSET,
    ) -> Answered:
        """
        The answer: its `decision` is the text. While nobody has answered, it parks the event and ends the handler. Raises
        `NotAnswered` if nobody will.
        """
        rest = {"expires_in": expires_in, "approvers": approvers, "remind": remind, "then": then, "state": state}
        fields = {"question": question, "options": options, **rest}
        answer: Answered = self._run(self._work.ask("ask_human", fields))
        return answer


class Context(_Base):
    """What a handler works with."""

    def __init__(self, work: Work, run: Run, lost: Lost) -> None:
        super().__init__(work, run, lost)
        self.ask = Asking(work, run)

    def once(self, name: str, step: Callable[[], T]) -> T:
        """
        Runs a step once per event, however often the handler starts again, and returns its result as JSON. A step that a
        crash cut short runs again.
        """
        result: T = self._run(self._work.once(name, step))
        return result

    def park(self, until: Union[str, Sequence[str]], *, any: bool = False, state: Any = UNSET) -> NoReturn:
        """
        Gives the event back until something ends (`req_…`, `evt_…`, `msg_…`, `+2h`, a time), and ends the handler; with
        several, until all have ended, or the first with `any`.
        """
        self._run(self._work.park(listed(until), any, state))
        raise AssertionError("Parking always raises.")

    def load(self) -> Any:
        """What earlier runs for this event saved; None if nothing."""
        return self._run(self._work.load())

    def save(self, state: Any, note: Optional[str] = None) -> None:
        """Saves any JSON for later runs for this event."""
        self._run(self._work.save(state, note))


class AsyncAsking:
    """Asks people about the event."""

    def __init__(self, work: Work, run: Run) -> None:
        self._asking = Asking(work, run)

    async def approval(self, action: str, summary: str, **fields: Any) -> Approved:
        """
        A yes. While nobody has decided, it parks the event and ends the handler. `NotApproved`, which a no raises, ends it
        too, and the event is done.
        """
        asking: Any = self._asking.approval(action, summary, **fields)
        answer: Approved = await asking
        return answer

    async def human(self, question: str, **fields: Any) -> Answered:
        """
        The answer: its `decision` is the text. While nobody has answered, it parks the event and ends the handler. Raises
        `NotAnswered` if nobody will.
        """
        asking: Any = self._asking.human(question, **fields)
        answer: Answered = await asking
        return answer


class AsyncContext(_Base):
    """What a handler works with. If the lease is lost, the handler is cancelled."""

    def __init__(self, work: Work, run: Run, lost: Lost) -> None:
        super().__init__(work, run, lost)
        self.ask = AsyncAsking(work, run)

    @overload
    async def once(self, name: str, step: Callable[[], Awaitable[T]]) -> T: ...

    @overload
    async def once(self, name: str, step: Callable[[], T]) -> T: ...

    async def once(self, name: str, step: Callable[[], Any]) -> Any:
        """
        Runs a step once per event, however often the handler starts again, and returns its result as JSON. A step that a
        crash cut short runs again.
        """
        return await self._run(self._work.once(name, step))

    async def park(
        self, until: Union[str, Sequence[str]], *, any: bool = False, state: Any = UNSET
    ) -> NoReturn:
        """
        Gives the event back until something ends (`req_…`, `evt_…`, `msg_…`, `+2h`, a time), and ends the handler; with
        several, until all have ended, or the first with `any`.
        """
        await self._run(self._work.park(listed(until), any, state))
        raise AssertionError("Parking always raises.")

    async def load(self) -> Any:
        """What earlier runs for this event saved; None if nothing."""
        return await self._run(self._work.load())

    async def save(self, state: Any, note: Optional[str] = None) -> None:
        """Saves any JSON for later runs for this event."""
        await self._run(self._work.save(state, note))
