"""Errors. Match on the class or on `code`, never on the message."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type

#: Answers that a retry may change. A 500 of svc is a bug and would come back.
PASSING_STATUSES = frozenset({408, 425, 429, 502, 503, 504})
#: Where a network wants its own page to be read first.
DETOURS = frozenset({302, 303, 307})
PASSING_CODES = frozenset({"ANSWER_INVALID", "IDEMPOTENCY_IN_PROGRESS", "UNREACHABLE"})
VAGUE_CODES = frozenset({"ANSWER_INVALID", "IDEMPOTENCY_IN_PROGRESS"})
SAME_KEY = "same idempotency key"
#: Temporary too, but only people end it.
PEOPLE_CODES = frozenset({"TOO_MANY_PENDING_REQUESTS"})


class SvcError(Exception):
    """The server refused a call, or the call got no answer."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: Optional[str] = None,
        details: Optional[Mapping[str, Any]] = None,
        status: int = 0,
        request_id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        #: The API's code, such as `EVENT_NOT_CLAIMABLE`; without an answer `UNREACHABLE`.
        self.code = code
        self.message = message
        #: What to do next.
        self.hint = hint
        self.details: Dict[str, Any] = dict(details or {})
        #: The answer's HTTP status; 0 without an answer.
        self.status = status
        #: Quote it when you report a problem.
        self.request_id = request_id

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return f"{text} {self.hint}" if self.hint else text

    @property
    def retryable(self) -> bool:
        """The call failed only for now: nothing could take it, or its answer was lost."""
        if self.code in PEOPLE_CODES:
            return False
        if self.status in PASSING_STATUSES or self.code in PASSING_CODES:
            return True
        # Proxies have numbers of their own, such as 524, for a server that they can't reach or that is silent.
        is_strangers = self.code.startswith("HTTP_")
        return is_strangers and (self.status >= 500 or self.status in DETOURS)

    @property
    def may_have_arrived(self) -> bool:
        """Such a call may have had its effect: its answer was lost, or something in front of the server answered."""
        if not self.retryable:
            return False
        is_vague = self.code.startswith(("HTTP_408", "HTTP_5")) or self.code in VAGUE_CODES
        return is_vague or isinstance(self, LostAnswerError) or SAME_KEY in (self.hint or "")

    @property
    def can_be_sat_out(self) -> bool:
        """A long-running program keeps trying. Somebody may repair the server, but nobody restarts the program."""
        return self.retryable or self.status >= 500

    @property
    def retry_after(self) -> float:
        """How many seconds the server asked to wait, or 0."""
        seconds = self.details.get("retry_after")
        return float(seconds) if isinstance(seconds, (int, float)) and seconds > 0 else 0.0


class AuthenticationError(SvcError):
    """The key is missing, wrong or revoked."""


class PermissionDeniedError(SvcError):
    """The key lacks a scope, or the project's policy denies it."""


class ValidationError(SvcError):
    """The input is wrong; `details["fields"]` names the fields."""


class NotFoundError(SvcError):
    """No such thing in this project."""


class ConflictError(SvcError):
    """The thing is in another state."""


class PreconditionFailedError(ConflictError):
    """The stored version is different."""


class LeaseLostError(ConflictError):
    """The lease has run out, or another worker has the event."""


class ApprovalNotApplicableError(ConflictError):
    """The approval is spent, or it's for other values."""


class RateLimitError(SvcError):
    """Too many calls, waits or requests; see `retry_after`."""


class ServerError(SvcError):
    """The server failed, or can't take the call now."""


class UnreachableError(SvcError):
    """Nothing answers."""


class LostAnswerError(UnreachableError):
    """The call was sent but its answer was lost, so it may have taken effect."""


class UntrustedError(SvcError):
    """No secure connection is possible. A retry won't help."""


class LockBusyError(SvcError):
    """Somebody else holds the lock."""


class Permanent(Exception):
    """Raise it in a handler if trying again can't help: the event is dead at once."""


class PayloadInvalid(Permanent):
    """A payload isn't what the worker's `payload` parses. Its event is dead at once."""


class Parked(BaseException):
    """Ends a handler whose event waits. It's no `Exception`, so that `except Exception` lets it pass: let it pass too."""


_BY_CODE: Dict[str, Type[SvcError]] = {
    "LEASE_EXPIRED": LeaseLostError,
    "LEASE_NOT_HELD": LeaseLostError,
    "PRECONDITION_FAILED": PreconditionFailedError,
    "APPROVAL_NOT_APPLICABLE": ApprovalNotApplicableError,
}
_BY_STATUS: Dict[int, Type[SvcError]] = {
    400: ValidationError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: ConflictError,
    412: PreconditionFailedError,
    429: RateLimitError,
}


ENCODED_SLASH = (
    "The path has %2F, which many proxies refuse: let this one pass it unchanged. A name without a leading, trailing or"
    " double `/` does without."
)


def in_front(server: str) -> str:
    """Who answers what svc never would; svc sends no header `Server`."""
    return f"A proxy in front of the server ({server})" if server else "Something in front of the server"


def answered_error(
    status: int,
    body: Any,
    request_id: Optional[str],
    retry_after: str,
    target: str = "",
    server: str = "",
) -> SvcError:
    """The error that an answer describes."""
    error = body.get("error") if isinstance(body, dict) else None
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else SvcError)
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        text = f"{in_front(server)} answered HTTP {status}."
        asked = {"retry_after": int(retry_after)} if retry_after.isdigit() else {}
        hint = ENCODED_SLASH if status < 500 and "%2f" in target.lower() else None
        code = f"HTTP_{status}"
        return kind(code, text, hint=hint, details=asked, status=status, request_id=request_id)
    told = error.get("details")
    details = dict(told) if isinstance(told, dict) else {}
    if retry_after.isdigit():
        details.setdefault("retry_after", int(retry_after))
    return _BY_CODE.get(error["code"], kind)(
        error["code"],
        str(error.get("message") or "The call failed."),
        hint=error.get("hint"),
        details=details,
        status=status,
        request_id=request_id,
    )
