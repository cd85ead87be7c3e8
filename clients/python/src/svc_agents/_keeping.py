"""How `once` keeps what a step returned: as JSON in a text, where `svc once` finds it too."""

from __future__ import annotations

import json
from typing import Any, Dict

from ._core import to_json
from ._operation import UNSET
from .errors import SvcError

#: 30 days, as long as an event's payload is kept.
KEPT_SECONDS = 2_592_000


def kept(key: str, value: Any) -> Dict[str, Any]:
    """The fields that store it, unless another run was faster."""
    return {"key": key, "value": {"text": to_json(value).decode()}, "ttl_seconds": KEPT_SECONDS, "if_version": 0}


def read(key: str, answer: Any) -> Any:
    """UNSET if nothing is kept. A step of `svc once` may have printed any text."""
    if answer is None:
        return UNSET
    value = answer.get("value")
    text = value.get("text") if isinstance(value, dict) else None
    if isinstance(text, str):
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text
    raise SvcError(
        "NOT_A_STEP",
        f"The key {key} holds no result of a step.",
        hint=f"To run the step: svc kv delete {key}",
    )


def plain(name: str, value: Any) -> Any:
    """The value as JSON keeps it, so that the first run and the later ones see the same."""
    try:
        return json.loads(to_json(value))
    except (TypeError, ValueError) as error:
        raise TypeError(f"The step {name} must return JSON: {error}") from None
