"""Sends requests over TCP, TLS or the daemon's socket: once with blocking sockets, once with asyncio."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from typing import Any, Callable, List, Optional, Tuple

from ._connection import Connection
from ._effects import Stop, Stopped
from ._http import BadHttp, Request, Response, read_response
from .errors import LostAnswerError, SvcError, UnreachableError, UntrustedError

CHUNK = 65536
#: Python 3.9 has several.
LATE = (TimeoutError, socket.timeout, asyncio.TimeoutError)
IDLE_MOST = 8


class Stale(Exception):
    """A kept connection was closed before the call reached anybody."""


class Transport:
    """Keeps connections for the next call."""

    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._idle: List[socket.socket] = []
        self._context: Optional[ssl.SSLContext] = None

    def send(
        self, request: Request, stop: Optional[Stop] = None, place: Optional[Connection] = None
    ) -> Response:
        """`place` is another server than the client's own; its connection isn't kept."""
        if stop is not None and stop.is_set:
            raise Stopped()
        kept = self._kept() if place is None else None
        if kept is not None:
            try:
                return self._over(kept, request, stop, is_kept=True)
            except Stale:
                pass
        there = place or self._connection()
        one = self._connect(there, request)
        return self._over(one, request, stop, is_kept=False, keeps=place is None)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def __del__(self) -> None:
        self.close()

    def _kept(self) -> Optional[socket.socket]:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _keep(self, one: socket.socket) -> None:
        with self._lock:
            if len(self._idle) < IDLE_MOST:
                self._idle.append(one)
                return
        one.close()

    def _connect(self, place: Connection, request: Request) -> socket.socket:
        timeout = _patience(request, time.monotonic())
        try:
            if place.gateway is None:
                return _unix_socket(place.socket_path, timeout)
            host, port = place.address
            one = socket.create_connection((host, port), timeout)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not place.is_secure:
                return one
            self._context = self._context or tls_context(place)
            return self._context.wrap_socket(one, server_hostname=host)
        except (OSError, ValueError) as error:
            raise connect_error(place, error) from error

    def _over(
        self,
        one: socket.socket,
        request: Request,
        stop: Optional[Stop],
        *,
        is_kept: bool,
        keeps: bool = True,
    ) -> Response:
        forget = stop.on_fire(lambda: _cut(one)) if stop else (lambda: None)
        done, answered = False, False
        began = time.monotonic()
        try:
            one.settimeout(_patience(request, began))
            one.sendall(request.encode())
            reader = read_response(request.method)
            next(reader)
            while True:
                one.settimeout(_patience(request, began))
                data = one.recv(CHUNK)
                answered = answered or bool(data)
                reader.send(data)
        except StopIteration as end:
            done = keeps and end.value.keeps
            return end.value  # type: ignore[no-any-return]
        except (OSError, BadHttp) as error:
            if stop is not None and stop.is_set:
                raise Stopped() from error
            if is_kept and not answered and not isinstance(error, LATE):
                raise Stale() from error
            raise sent_error(request, error) from error
        finally:
            forget()
            if done and not (stop is not None and stop.is_set):
                self._keep(one)
            else:
                one.close()


class AsyncTransport:
    """The same over asyncio. Its connections belong to one event loop."""

    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection
        self._idle: List[Tuple[Any, asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._context: Optional[ssl.SSLContext] = None

    async def send(
        self, request: Request, stop: Optional[Stop] = None, place: Optional[Connection] = None
    ) -> Response:
        """`place` is another server than the client's own; its connection isn't kept."""
        if stop is None:
            return await self._send(request, place)
        if stop.is_set:
            raise Stopped()
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(self._send(request, place))
        forget = stop.on_fire(lambda: _cancel_from_outside(loop, task))
        try:
            return await task
        except asyncio.CancelledError:
            if stop.is_set and task.cancelled():
                raise Stopped() from None
            task.cancel()
            raise
        finally:
            forget()

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for _, _, writer in idle:
            writer.close()

    async def _send(self, request: Request, place: Optional[Connection]) -> Response:
        loop = asyncio.get_running_loop()
        while self._idle and place is None:
            owner, reader, writer = self._idle.pop()
            if owner is not loop or reader.at_eof():
                _close(owner, writer)
                continue
            try:
                return await self._over(reader, writer, request, is_kept=True)
            except Stale:
                break
        reader, writer = await self._connect(place or self._connection(), request)
        keeps = place is None
        return await self._over(reader, writer, request, is_kept=False, keeps=keeps)

    async def _connect(
        self, place: Connection, request: Request
    ) -> Tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            opening = self._open(place)
            return await asyncio.wait_for(opening, _patience(request, time.monotonic()))
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            raise connect_error(place, error) from error

    async def _open(self, place: Connection) -> Tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if place.gateway is None:
            return await asyncio.open_unix_connection(place.socket_path)
        host, port = place.address
        if not place.is_secure:
            return await asyncio.open_connection(host, port)
        self._context = self._context or tls_context(place)
        return await asyncio.open_connection(host, port, ssl=self._context, server_hostname=host)

    async def _over(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        request: Request,
        *,
        is_kept: bool,
        keeps: bool = True,
    ) -> Response:
        done, answered = False, False
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            writer.write(request.encode())
            await asyncio.wait_for(writer.drain(), _patience(request, began))
            parser = read_response(request.method)
            next(parser)
            while True:
                data = await asyncio.wait_for(reader.read(CHUNK), _patience(request, began))
                answered = answered or bool(data)
                parser.send(data)
        except StopIteration as end:
            done = keeps and end.value.keeps
            return end.value  # type: ignore[no-any-return]
        except (OSError, BadHttp, asyncio.TimeoutError) as error:
            is_late = isinstance(error, LATE)
            if is_kept and not answered and not is_late:
                raise Stale() from error
            raise sent_error(request, error) from error
        finally:
            if done and len(self._idle) < IDLE_MOST:
                self._idle.append((loop, reader, writer))
            else:
                writer.close()


def _patience(request: Request, began: float) -> float:
    """How long the next step may take."""
    if request.deadline is None:
        return request.timeout
    return max(0.001, min(request.timeout, began + request.deadline - time.monotonic()))


def _unix_socket(path: str, timeout: float) -> socket.socket:
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        one.settimeout(timeout)
        one.connect(path)
    except BaseException:
        one.close()
        raise
    return one


def _cut(one: socket.socket) -> None:
    """Wakes a thread that reads from the socket."""
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _cancel_from_outside(loop: Any, task: "asyncio.Future[Any]") -> None:
    try:
        loop.call_soon_threadsafe(task.cancel)
    except RuntimeError:
        pass  # The loop is closed, so nobody waits.


def _close(loop: Any, writer: asyncio.StreamWriter) -> None:
    if not loop.is_closed():
        writer.close()


def tls_context(place: Connection) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if place.ca_file:
        context.load_verify_locations(place.ca_file)
    return context


def connect_error(place: Connection, error: Exception) -> SvcError:
    """Nothing was sent."""
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLZeroReturnError):
        return UntrustedError(
            "UNTRUSTED",
            f"Can't make a secure connection to {place.host} ({_reason(error)}).",
            hint=_secure_hint(error),
        )
    return place.nobody_there(_reason(error))


# The codes of OpenSSL's X509_V_ERR_… for refusals that have nothing to do with an authority.
_HINTS = {
    9: "Its certificate isn't valid yet: check this machine's clock.",
    10: "Its certificate has expired: whoever runs the gateway must renew it.",
    62: "Its certificate is for another name: check the address, or who answers there.",
    64: "Its certificate is for another name: check the address, or who answers there.",
}


def _secure_hint(error: ssl.SSLError) -> str:
    if getattr(error, "reason", None) == "WRONG_VERSION_NUMBER":
        return "What answers there doesn't speak TLS: check the port."
    other = "Check the address. For your own certificate authority, set NODE_EXTRA_CA_CERTS=FILE."
    return _HINTS.get(getattr(error, "verify_code", 0), other)


def sent_error(request: Request, error: Exception) -> UnreachableError:
    """The call may have arrived."""
    if isinstance(error, LATE):
        seconds = request.timeout if request.deadline is None else request.deadline
        return LostAnswerError("UNREACHABLE", f"No answer within {seconds:g} s.", hint="See: svc status")
    return LostAnswerError("UNREACHABLE", f"The connection broke ({_reason(error)}).", hint="Try again.")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return str(getattr(error, "verify_message", "") or error.reason or error)
    if isinstance(error, LATE):
        return "no answer in time"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
