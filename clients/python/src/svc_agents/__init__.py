"""A client for svc, the back end that software agents share."""

from ._async import AsyncSvc
from ._async_context import AsyncContext
from ._effects import Clock
from ._generated.client import Svc
from ._generated.context import Context
from ._generated.types import ClaimedEvent, WorkEvent
from ._version import VERSION as __version__
from ._working import Finished
from .answers import (
    Answer,
    Answered,
    Approved,
    Denied,
    Expired,
    NeedsContext,
    NotAnswered,
    NotApproved,
    Pending,
)
from .callbacks import CallbackInvalid, verify_callback
from .errors import (
    ApprovalNotApplicableError,
    AuthenticationError,
    ConflictError,
    LeaseLostError,
    LockBusyError,
    LostAnswerError,
    NotFoundError,
    Parked,
    PayloadInvalid,
    Permanent,
    PermissionDeniedError,
    PreconditionFailedError,
    RateLimitError,
    ServerError,
    SvcError,
    UnreachableError,
    UntrustedError,
    ValidationError,
)

__all__ = [
    "Answer",
    "Answered",
    "ApprovalNotApplicableError",
    "Approved",
    "AsyncContext",
    "AsyncSvc",
    "AuthenticationError",
    "CallbackInvalid",
    "ClaimedEvent",
    "Clock",
    "ConflictError",
    "Context",
    "Denied",
    "Expired",
    "Finished",
    "LeaseLostError",
    "LockBusyError",
    "LostAnswerError",
    "NeedsContext",
    "NotAnswered",
    "NotApproved",
    "NotFoundError",
    "Parked",
    "PayloadInvalid",
    "Pending",
    "Permanent",
    "PermissionDeniedError",
    "PreconditionFailedError",
    "RateLimitError",
    "ServerError",
    "Svc",
    "SvcError",
    "UnreachableError",
    "UntrustedError",
    "ValidationError",
    "verify_callback",
    "WorkEvent",
    "__version__",
]
