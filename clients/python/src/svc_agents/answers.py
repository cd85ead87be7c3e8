"""What people answer. An answer is true only if it's a yes, so `if answer:` never acts on a denial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Type, Union

from ._operation import UNSET


@dataclass(frozen=True)
class Answer:
    """An answer with a status that this client doesn't know; it's false."""

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

    def __bool__(self) -> bool:
        return False

    @property
    def approved(self) -> bool:
        """Go ahead."""
        return self.status in ("approved", "modified")


class Approved(Answer):
    """Go ahead: with the option in `decision` if there is one."""

    def __bool__(self) -> bool:
        return True


class Answered(Answer):
    """The answer to a question is in `decision`."""

    def __bool__(self) -> bool:
        return True


class Denied(Answer):
    """Don't do it."""


class NeedsContext(Answer):
    """`comment` says what's missing: ask again with fuller details."""


class Expired(Answer):
    """Nobody decided in time, or the question was withdrawn; `hint` says which."""


class Pending(Answer):
    """Nobody has decided yet. That isn't a denial."""


#: What `ask` returns. A newer server may answer a plain `Answer`.
Outcome = Union[Approved, Answered, Denied, NeedsContext, Expired, Pending, Answer]

_KINDS: Dict[str, Type[Answer]] = {
    "approved": Approved,
    "modified": Approved,
    "answered": Answered,
    "denied": Denied,
    "needs_context": NeedsContext,
    "expired": Expired,
    "pending": Pending,
}


def outcome_of(answer: Mapping[str, Any], bind: Any = UNSET) -> Outcome:
    status = str(answer.get("status"))
    texts = {name: answer.get(name) for name in ("decision", "comment", "hint", "decided_by", "expires_at")}
    kind = _KINDS.get(status, Answer)
    return kind(request_id=str(answer.get("request_id")), status=status, bind=bind, **texts)
