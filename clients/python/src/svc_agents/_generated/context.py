# Written by `npm run surface` from the asynchronous client: edit _async_context.py. Do not edit this.
"""What a handler works with."""

from __future__ import annotations

from typing import Any, Callable, NoReturn, Optional, Sequence, TypeVar, Union, overload

from .._effects import Steps
from .types import ClaimedEvent, Resumed
from .._lost import Lost
from .._operation import UNSET
from .._working import Work
from ..answers import Answered, Approved

Run = Callable[[Steps[Any]], Any]
T = TypeVar("T")


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
        asked = {"action": action, "summary": summary, "bind": bind, "details": details, "risk": risk, "amount": amount}
        rules = {"options": options, "approvals": approvals, "approvers": approvers}
        rest = {"expires_in": expires_in, "remind": remind, "then": then, "state": state}
        answer: Approved = self._run(self._work.ask("ask_approval", {**asked, **rules, **rest}))
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
        asked = {"question": question, "options": options, "approvers": approvers}
        rest = {"expires_in": expires_in, "remind": remind, "then": then, "state": state}
        answer: Answered = self._run(self._work.ask("ask_human", {**asked, **rest}))
        return answer


class Context:
    """What a handler works with."""

    def __init__(self, work: Work, run: Run, lost: Lost) -> None:
        self._work = work
        self._run = run
        self.ask = Asking(work, run)
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

    def once(self, name: str, step: Callable[[], T]) -> T:
        """
        Runs a step once per event, however often the handler starts again, and returns its result as JSON. A step that a
        crash cut short runs again.
        """
        result: T = self._run(self._work.once(name, step))
        return result

    def park(
        self, until: Union[str, Sequence[str]], *, any: bool = False, state: Any = UNSET
    ) -> NoReturn:
        """
        Gives the event back until something ends (`req_…`, `evt_…`, `msg_…`, `+2h`, a time), and ends the handler; with
        several, until all have ended, or the first with `any`.
        """
        listed = [until] if isinstance(until, str) else list(until)
        self._run(self._work.park(listed, any, state))
        raise AssertionError("Parking always raises.")

    def load(self) -> Any:
        """What earlier runs for this event saved; None if nothing."""
        return self._run(self._work.load())

    def save(self, state: Any, note: Optional[str] = None) -> None:
        """Saves any JSON for later runs for this event."""
        self._run(self._work.save(state, note))
