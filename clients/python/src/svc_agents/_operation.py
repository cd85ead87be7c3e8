"""What the generated methods are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, TypedDict
from urllib.parse import quote

#: Not given. None is a value: JSON's null.
UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET", "__bool__": lambda self: False})()


class CallOptions(TypedDict, total=False):
    """How one call is made; each replaces the client's own setting."""

    #: How many seconds a try may take (default 30). Waits get their own time on top.
    timeout: float
    #: How often to try again a call that failed only for now (default 3).
    max_retries: int
    #: The Idempotency-Key of a write. All its tries share one in any case.
    idempotency_key: str


@dataclass(frozen=True)
class Operation:
    """Where an operation is called, and where its fields go."""

    method: str
    path: str
    is_write: bool = False
    #: The body is this field alone: JSON, or bytes if there is an `object_type`.
    body_field: Optional[str] = None
    object_type: Optional[str] = None
    #: The field with how long the call waits.
    seconds_field: Optional[str] = None
    seconds_default: float = 0


@dataclass(frozen=True)
class Prepared:
    """An operation's call: the fields are in their places."""

    method: str
    target: str
    #: JSON if `content_type` is None.
    body: Any = UNSET
    content_type: Optional[str] = None
    is_write: bool = False
    #: How long the server waits before it answers.
    seconds: float = 0


def prepare(operation: Operation, fields: Mapping[str, Any]) -> Prepared:
    given = {name: value for name, value in fields.items() if _is_given(name, value)}
    seconds = float(given.get(operation.seconds_field or "", operation.seconds_default))
    path = operation.path
    for name in list(given):
        for parameter in ("{" + name + "}", "{" + name + "+}"):
            if parameter in path:
                path = path.replace(parameter, path_text(operation.path, parameter, str(given.pop(name))))
                break
    method, is_write = operation.method, operation.is_write
    if method in ("GET", "DELETE"):
        return Prepared(method, path + query_text(given), is_write=is_write, seconds=seconds)
    field = operation.body_field
    if field is None:
        return Prepared(method, path, given, None, is_write, seconds)
    if operation.object_type is None:
        body = given.pop(field, UNSET)
        return Prepared(method, path + query_text(given), body, None, is_write, seconds)
    if field in given:
        body, kind = given.pop(field), given.pop("content_type", "application/octet-stream")
        return Prepared(method, path + query_text(given), body, kind, is_write, seconds)
    return Prepared(method, path, given, operation.object_type, is_write, seconds)


#: Segments that proxies take out of a path.
VANISHING = frozenset({"", ".", ".."})


def path_text(route: str, parameter: str, value: str) -> str:
    """
    A value in the place of a route's parameter. One that takes the whole rest keeps its `/`, because many proxies refuse
    `%2F`; it's encoded where the path would be changed on its way otherwise.
    """
    if "+" not in parameter:
        return quote(value, safe="")
    if route.startswith("/v1/files/") and value.startswith("disk://"):
        value = value[len("disk://") :]
    segments = value.split("/")
    slash = "%2F" if VANISHING.intersection(segments) else "/"
    return slash.join(quote(segment, safe="") for segment in segments)


#: Fields that may be null. In any other field None means that it wasn't given.
NULLABLE = frozenset({"value", "result", "bind", "state"})


def _is_given(name: str, value: Any) -> bool:
    return value is not UNSET and (value is not None or name in NULLABLE)


def query_text(fields: Mapping[str, Any]) -> str:
    pairs = []
    for name, value in fields.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            text = str(one).lower() if isinstance(one, bool) else str(one)
            pairs.append(f"{name}={quote(text, safe='')}")
    return "?" + "&".join(pairs) if pairs else ""
