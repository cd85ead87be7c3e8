"""Checks that svc sent a callback."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Optional, Sequence, Union

from .errors import SvcError

#: How far a signature's time may differ from now, in seconds.
TOLERANCE = 300


class CallbackInvalid(SvcError):
    """The signature is missing, wrong or too old: somebody else may have sent this."""

    def __init__(self, message: str) -> None:
        hint = "Pass the raw body, all headers, and the secret of the route or the request callback."
        super().__init__("SIGNATURE_INVALID", message, hint=hint)


def verify_callback(
    body: Union[bytes, str],
    headers: Mapping[str, Any],
    secret: Union[str, Sequence[str]],
    *,
    now: Optional[float] = None,
) -> Any:
    """
    The callback's JSON, if one of the secrets signed it in the last five minutes; otherwise raises `CallbackInvalid`.
    Pass the body as it arrived: parsed and printed again, it has another signature.
    """
    data = body.encode() if isinstance(body, str) else bytes(body)
    given = {str(name).lower(): _text(value) for name, value in headers.items()}
    event_id = given.get("webhook-id", "").strip()
    sent_at = given.get("webhook-timestamp", "").strip()
    signatures = given.get("webhook-signature", "").split()
    # With a dot in the id, part of it could pass as the time.
    if not event_id or "." in event_id or not sent_at.isdigit() or len(sent_at) > 11:
        raise CallbackInvalid("The headers webhook-id, webhook-timestamp and webhook-signature are missing.")
    if abs((time.time() if now is None else now) - int(sent_at)) > TOLERANCE:
        raise CallbackInvalid("The callback is too old, or a clock is wrong.")
    signed = f"{event_id}.{sent_at}.".encode() + data
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [
        b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for key in map(_key, secrets)
    ]
    tried = [one.encode("utf-8", "replace") for one in signatures]
    if not any([hmac.compare_digest(one, fit) for one in tried for fit in expected]):
        raise CallbackInvalid("The signature doesn't fit.")
    return json.loads(data)


def _text(value: Any) -> str:
    """Frameworks differ in how they give header values."""
    if isinstance(value, (list, tuple)):
        value = value[0] if value else ""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.split("whsec_", 1)[-1], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("The secret isn't one of svc: whsec_ and base64.") from None
    if not key:
        raise ValueError("The secret is empty.")
    return key
