"""What people answer. `ask` returns a yes or an answer, and raises everything else, so no code acts on a denial by mistake."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Type, Union

from ._operation import UNSET


@dataclass(frozen=True)
class Answer:
    """How a question stands. A newer server may answer a status that this client doesn't know."""

    request_id: str
    #: `approved`, `modified`, `denied`, `answered`, `needs_context`, `expired` or `pending`.
    status: str
    #: The chosen option (`modified`) or the answer (`answered`).
    decision: Optional[str] = None
    comment: Optional[str] = None
    hint: Optional[str] = None
    decided_by: Optional[str] = None
    expires_at: Optional[str] = None
    #: The values that an approval is good for.
    bind: Any = field(default=UNSET, repr=False)


class Approved(Answer):
    """Go ahead: with the option in `decision` if there is one."""

    @property
    def approved(self) -> bool:
        """Always true."""
        return True


class Answered(Answer):
    """The answer to a question is in `decision`."""


class Denied(Answer):
    """Don't do it."""


class NeedsContext(Answer):
    """`comment` says what's missing: ask again with fuller details."""


class Expired(Answer):
    """Nobody decided in time, or the question was withdrawn; `hint` says which."""


class Pending(Answer):
    """Nobody has decided yet. That isn't a denial."""


class _No(Exception):
    """Nobody said yes."""

    WHAT = ""

    def __init__(self, answer: Answer) -> None:
        comment = f" {answer.comment}" if answer.comment else ""
        super().__init__(f"{self.WHAT}: {answer.status}.{comment}")
        self.answer = answer


class NotApproved(_No):
    """
    Nobody approved: `answer` is `Denied`, `Expired`, `NeedsContext` or `Pending`. In a handler, let it pass: the event is
    done then, with the status and the comment as its result.
    """

    WHAT = "Not approved"


class NotAnswered(_No):
    """Nobody answered the question: `answer` is `Expired`, `NeedsContext` or `Pending`."""

    WHAT = "Not answered"


_KINDS: Dict[str, Type[Answer]] = {
    "approved": Approved,
    "modified": Approved,
    "answered": Answered,
    "denied": Denied,
    "needs_context": NeedsContext,
    "expired": Expired,
    "pending": Pending,
}


def granted(told: Mapping[str, Any], is_approval: bool, bind: Any = UNSET) -> Union[Approved, Answered]:
    """A yes or an answer. Raises `NotApproved` or `NotAnswered` otherwise, also for a status that only a newer server knows."""
    status = str(told.get("status"))
    texts = {name: told.get(name) for name in ("decision", "comment", "hint", "decided_by", "expires_at")}
    kind = _KINDS.get(status, Answer)
    answer = kind(request_id=str(told.get("request_id")), status=status, bind=bind, **texts)
    if is_approval and isinstance(answer, Approved):
        return answer
    if not is_approval and isinstance(answer, Answered):
        return answer
    raise NotApproved(answer) if is_approval else NotAnswered(answer)


def no_in(error: Optional[BaseException]) -> Optional[Answer]:
    """The answer that ended a handler, also inside the group that a TaskGroup raises; None if anything else failed."""
    if isinstance(error, _No):
        return error.answer
    inner = [no_in(one) for one in getattr(error, "exceptions", ())]
    return None if not inner or None in inner else inner[0]
