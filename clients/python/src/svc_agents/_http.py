"""HTTP/1.1 without a network: what to send, and how to read the answer's bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Generator, Mapping, Optional

HEAD_MAX_BYTES = 64 * 1024


class BadHttp(Exception):
    """The other side doesn't speak HTTP, or ended too early."""


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Optional[bytes] = None
    #: How long the other side may be silent, in seconds.
    timeout: float = 30.0
    #: How long the whole call may take.
    deadline: Optional[float] = None

    def encode(self) -> bytes:
        headers = dict(self.headers)
        if self.body is not None or self.method in ("POST", "PUT"):
            headers["content-length"] = str(len(self.body or b""))
        lines = [f"{self.method} {self.target} HTTP/1.1"]
        for name, value in headers.items():
            if any(sign in name + value for sign in "\r\n\0"):
                raise ValueError(f"The header {name} has characters that aren't allowed there.")
            lines.append(f"{name}: {value}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + (self.body or b"")


@dataclass(frozen=True)
class Response:
    status: int
    #: Lower-case names.
    headers: Mapping[str, str]
    body: bytes
    #: The connection can carry another call.
    keeps: bool


def read_response(method: str) -> Generator[None, bytes, Response]:
    """Yields when it needs more bytes, and is sent them; no bytes mean the end."""
    buffer = bytearray()
    while True:
        end = buffer.find(b"\r\n\r\n")
        while end < 0:
            if len(buffer) > HEAD_MAX_BYTES:
                raise BadHttp("the answer's head is too long")
            buffer += yield from _more()
            end = buffer.find(b"\r\n\r\n")
        status, keeps, headers = _head(bytes(buffer[:end]))
        del buffer[: end + 4]
        if status >= 200:
            break
    body = yield from _body(method, status, headers, buffer)
    if body is None:
        return Response(status, headers, (yield from _rest(buffer)), False)
    return Response(status, headers, body, keeps and not buffer)


def _more() -> Generator[None, bytes, bytes]:
    data = yield
    if not data:
        raise BadHttp("the connection ended early")
    return data


def _head(text: bytes) -> "tuple[int, bool, Dict[str, str]]":
    first, *lines = text.decode("latin-1").split("\r\n")
    parts = first.split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
        raise BadHttp("that's no HTTP answer")
    headers: Dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    keeps = parts[0] != "HTTP/1.0" and headers.get("connection", "").lower() != "close"
    return int(parts[1]), keeps, headers


def _body(
    method: str, status: int, headers: Mapping[str, str], buffer: bytearray
) -> Generator[None, bytes, Optional[bytes]]:
    """None if the body ends with the connection."""
    if method == "HEAD" or status in (204, 304):
        return b""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return (yield from _chunks(buffer))
    length = headers.get("content-length", "")
    return (yield from _take(buffer, int(length))) if length.isdigit() else None


def _take(buffer: bytearray, length: int) -> Generator[None, bytes, bytes]:
    while len(buffer) < length:
        buffer += yield from _more()
    taken = bytes(buffer[:length])
    del buffer[:length]
    return taken


def _line(buffer: bytearray) -> Generator[None, bytes, bytes]:
    while b"\r\n" not in buffer:
        if len(buffer) > HEAD_MAX_BYTES:
            raise BadHttp("a line is too long")
        buffer += yield from _more()
    return (yield from _take(buffer, buffer.index(b"\r\n") + 2))[:-2]


def _chunks(buffer: bytearray) -> Generator[None, bytes, bytes]:
    body = bytearray()
    while True:
        try:
            size = int((yield from _line(buffer)).split(b";")[0], 16)
        except ValueError:
            raise BadHttp("a chunk has no length") from None
        if size == 0:
            break
        body += yield from _take(buffer, size)
        yield from _take(buffer, 2)
    while (yield from _line(buffer)):
        pass
    return bytes(body)


def _rest(buffer: bytearray) -> Generator[None, bytes, bytes]:
    while True:
        data = yield
        if not data:
            return bytes(buffer)
        buffer += data
