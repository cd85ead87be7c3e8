"""Finds the key, the gateway and the daemon's socket as the `svc` command does."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import SplitResult, urlsplit

from .errors import SvcError

#: Linux allows 107 bytes in a socket address, macOS 103.
SOCKET_PATH_MAX_BYTES = 100
#: Permissions of a group and of everybody.
OTHERS_WRITE = 0o022
OTHERS_ANYTHING = 0o077
EVERYBODY_WRITES = 0o002
NO_KEY_HINT = "To use a project on this machine: svc up. To use a team's: svc login --gateway URL"


@dataclass(frozen=True)
class Connection:
    """Where calls go, and with which key."""

    api_key: str
    #: None means the daemon's socket.
    gateway: Optional[SplitResult]
    socket_path: str
    hint: Optional[str] = None
    #: A file with the certificates of a private authority.
    ca_file: Optional[str] = None
    #: Said before the first call.
    warning: Optional[str] = None

    @property
    def is_secure(self) -> bool:
        return self.gateway is not None and self.gateway.scheme == "https"

    @property
    def address(self) -> Tuple[str, int]:
        """Host and port of the gateway."""
        assert self.gateway is not None
        port = self.gateway.port or (443 if self.is_secure else 80)
        return self.gateway.hostname or "", port

    @property
    def host(self) -> str:
        """The Host header."""
        return "localhost" if self.gateway is None else self.gateway.netloc.rpartition("@")[2]

    @property
    def base_path(self) -> str:
        return "" if self.gateway is None else self.gateway.path.rstrip("/")

    def nobody_there(self, reason: str) -> SvcError:
        """The error when nothing answers."""
        from .errors import AuthenticationError, UnreachableError

        if self.gateway is not None:
            text = f"Can't reach {origin(self.gateway)} ({reason})."
            return UnreachableError("UNREACHABLE", text, hint=self.hint)
        if not self.api_key:
            # Waiting doesn't bring a key, so it isn't tried again.
            text = "No API key is stored here, and SVC_API_KEY is not set."
            return AuthenticationError("UNAUTHENTICATED", text, hint=NO_KEY_HINT)
        return UnreachableError("UNREACHABLE", "The daemon isn't running.", hint="Start it with: svc up")


@dataclass(frozen=True)
class Home:
    """The folders of the command and the daemon."""

    credentials_file: str
    daemon_file: str
    socket_path: str


def resolve_home(env: Mapping[str, str]) -> Home:
    """One folder in SVC_HOME, or the XDG folders.

    Refused if somebody else could put a socket or a file there: we send our key to that socket, and believe those files.
    """
    if env.get("SVC_HOME"):
        config = state = os.path.abspath(env["SVC_HOME"])
    else:
        user = _user_folder(env)
        config = os.path.join(_xdg(env, "XDG_CONFIG_HOME", user, ".config"), "svc")
        state = os.path.join(_xdg(env, "XDG_STATE_HOME", user, ".local/state"), "svc")
    for folder in {config, state}:
        _refuse_foreign(folder, OTHERS_WRITE)
    home = Home(
        credentials_file=os.path.join(config, "credentials.json"),
        daemon_file=os.path.join(state, "daemon.json"),
        socket_path=_socket_path(state),
    )
    # Somebody may have left them while the folder was open.
    for path in (home.credentials_file, home.daemon_file, home.socket_path):
        _refuse_foreign(path, 0)
    return home


def _user_folder(env: Mapping[str, str]) -> str:
    """HOME, or else what the list of users says: an empty HOME isn't the current folder."""
    home = env.get("HOME", "")
    if os.path.isabs(home):
        return home
    try:
        import pwd

        listed = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        listed = ""
    if not os.path.isabs(listed):
        raise _usage("HOME names no folder.", "Set HOME or SVC_HOME to a folder of your own.")
    return listed


def _xdg(env: Mapping[str, str], name: str, user: str, fallback: str) -> str:
    path = env.get(name, "")
    return path if os.path.isabs(path) else os.path.join(user, fallback)


def _socket_path(state: str) -> str:
    path = os.path.join(state, "svc.sock")
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(state)).hexdigest()[:16]
    folder = f"/tmp/svc-{os.getuid()}-{digest}"
    # Everyone can create files in /tmp.
    _refuse_foreign(folder, OTHERS_ANYTHING)
    return os.path.join(folder, "svc.sock")


def _refuse_foreign(path: str, permissions: int) -> None:
    """Refuses what belongs to somebody else, or what others have these permissions for. Root is nobody else."""
    try:
        link, target = os.lstat(path), os.stat(path)
    except OSError:
        return  # What isn't there does no harm, and the use of a path that we can't look at says why.
    uid = os.getuid()
    for owner in (link.st_uid, target.st_uid):
        if owner not in (uid, 0):
            text = f"{path} belongs to another user (uid {owner})."
            raise _usage(text, "Remove it, or set SVC_HOME to a folder of your own.")
    # Root's group is nobody else, and many systems give each user a group of their own, with the same number.
    is_own_group = target.st_gid == 0 or uid == os.getgid() == target.st_gid
    refused = EVERYBODY_WRITES if is_own_group and permissions == OTHERS_WRITE else permissions
    if target.st_mode & refused:
        mode = "go-w" if permissions == OTHERS_WRITE else "go="
        text = f"Others can put files into {path}, so svc can't trust it."
        raise _usage(text, f"Run: chmod {mode} {path}. Or set SVC_HOME to a folder of your own.")


def resolve_connection(
    env: Mapping[str, str],
    *,
    api_key: Optional[str] = None,
    gateway: Optional[str] = None,
    profile: Optional[str] = None,
) -> Connection:
    """Arguments come first, then SVC_GATEWAY and SVC_API_KEY, then the stored profile."""
    home = resolve_home(env)
    named = _gateway_url(gateway or env.get("SVC_GATEWAY"))
    key = api_key or (env.get("SVC_API_KEY") if profile is None else None)
    ca_file = env.get("NODE_EXTRA_CA_CERTS") or None
    if key:
        warning = _in_clear(named) if named and _is_in_clear(named) else None
        return Connection(key, named, home.socket_path, "Check SVC_GATEWAY.", ca_file, warning)
    stored = _stored_profile(home.credentials_file, profile)
    ca_file = ca_file or (stored or {}).get("ca_file")
    if named is not None:
        key = stored["api_key"] if stored and _may_go_to(stored, named) else ""
        if not key and _is_in_clear(named):
            raise _not_in_clear(named)
        return Connection(key, named, home.socket_path, "Check SVC_GATEWAY.", ca_file)
    if stored is None:
        return Connection("", None, home.socket_path)
    return _of_profile(stored, home, ca_file)


def _of_profile(stored: Mapping[str, Any], home: Home, ca_file: Optional[str]) -> Connection:
    """Calls for a gateway's profile go to the daemon if it has that project, otherwise to the gateway."""
    key, address, project = stored["api_key"], stored.get("gateway"), stored.get("project")
    there = running_project(home.daemon_file)
    if address and there != project:
        hint = "The address comes from the profile. See: svc project list"
        return Connection(key, urlsplit(address), home.socket_path, hint, ca_file)
    if there is not None and there != project:
        raise SvcError(
            "OTHER_PROJECT",
            "The daemon runs for another project, not this machine's own.",
            hint="Switch it to this one: svc up. Or go back to the other: svc project use NAME",
        )
    return Connection(key, None, home.socket_path)


def running_project(daemon_file: str) -> Optional[str]:
    """The running daemon's project; None if no daemon runs or it doesn't know its project yet."""
    record = _read_object(daemon_file) or {}
    project, pid = record.get("project"), record.get("pid")
    if not isinstance(project, str) or not isinstance(pid, int):
        return None
    try:
        os.kill(pid, 0)
    except PermissionError:
        return project
    except OSError:
        return None
    return project


def _stored_profile(path: str, name: Optional[str]) -> Optional[Dict[str, Any]]:
    stored = _read_object(path)
    if stored is None:
        if name is not None:
            raise _usage(f'No profile "{name}".', "Stored profiles: none")
        return None
    profiles = stored.get("profiles")
    if not isinstance(profiles, dict) or not isinstance(stored.get("current"), str):
        text = f"svc can't read {path}."
        hint = "Move it away and run `svc up` to create a new key."
        raise SvcError("CREDENTIALS_INVALID", text, hint=hint)
    found = profiles.get(name if name is not None else stored["current"])
    if isinstance(found, dict) and isinstance(found.get("api_key"), str):
        return found
    if name is None:
        return None
    raise _usage(f'No profile "{name}".', f"Stored profiles: {', '.join(profiles) or 'none'}")


def _read_object(path: str) -> Optional[Dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _gateway_url(text: Optional[str]) -> Optional[SplitResult]:
    if not text:
        return None
    url = urlsplit(text)
    if url.scheme in ("http", "https") and url.hostname:
        return url
    raise _usage(f'SVC_GATEWAY isn\'t an http or https address: "{text}".')


def _may_go_to(stored: Mapping[str, Any], gateway: SplitResult) -> bool:
    """A stored key is only sent to the gateway it came from; a local-mode key stays on this machine."""
    home = stored.get("gateway")
    if not home:
        return _is_loopback(gateway.hostname or "")
    return origin(urlsplit(home)) == origin(gateway)


def origin(url: SplitResult) -> str:
    """Scheme, host and port, without the port that goes without saying."""
    usual = 443 if url.scheme == "https" else 80
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    return f"{url.scheme}://{host}" + ("" if url.port in (None, usual) else f":{url.port}")


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _is_in_clear(gateway: SplitResult) -> bool:
    return gateway.scheme == "http" and not _is_loopback(gateway.hostname or "")


def _in_clear(gateway: SplitResult) -> str:
    return (
        f"The API key crosses the network unencrypted. If {gateway.netloc} supports TLS: "
        f"https://{gateway.netloc}"
    )


def _not_in_clear(gateway: SplitResult) -> SvcError:
    return _usage(
        "SVC_GATEWAY uses http to another machine, so your stored key would cross the network unencrypted.",
        f"Try: SVC_GATEWAY=https://{gateway.netloc}",
    )


def _usage(message: str, hint: Optional[str] = None) -> SvcError:
    return SvcError("USAGE", message, hint=hint)
