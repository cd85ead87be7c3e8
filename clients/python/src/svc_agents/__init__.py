"""A client for svc, the back end that software agents share."""

from ._async import AsyncSvc
from ._contexts import AsyncContext, Context
from ._effects import Clock
from ._sync import Svc
from ._version import VERSION as __version__
from ._working import Finished
from .answers import (
    Answer,
    Answered,
    Approved,
    Denied,
    Expired,
    NeedsContext,
    Outcome,
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

__all__ = [name for name in dir() if name[0].isupper()] + ["verify_callback", "__version__"]
