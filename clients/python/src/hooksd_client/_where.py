"""Where the daemon's socket is (docs/protocol.md, "Where")."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Mapping
from typing import Protocol

from ._errors import SocketPathError
from ._settings import socket_of

#: The longest path a Unix socket address holds. Bytes, without the final NUL.
MAX_SOCKET_PATH = 107 if sys.platform.startswith("linux") else 103


def socket_path(environment: Mapping[str, str] | None = None) -> str:
    """The socket's path: `HOOKSD_SOCKET`, else `socket` in the config dir's hooksd.toml, else
    `$XDG_RUNTIME_DIR/hooksd/hooksd.sock`, else below the config dir.

    Raises `SocketPathError` when nothing says where it is, or the path is relative or too long.
    """
    variables = os.environ if environment is None else environment

    def absolute(name: str) -> str | None:
        value = variables.get(name)
        return value if value and os.path.isabs(value) else None

    explicit = variables.get("HOOKSD_SOCKET")
    if explicit:
        if not os.path.isabs(explicit):
            raise SocketPathError(f"HOOKSD_SOCKET is not an absolute path: {explicit}")
        return checked(explicit)
    home = absolute("HOME")
    config = absolute("HOOKSD_CONFIG_DIR") or (os.path.join(home, ".deepagents") if home else None)
    named = socket_of(config) if config else None
    if named:
        return checked(named)
    runtime = absolute("XDG_RUNTIME_DIR")
    if runtime:
        return checked(os.path.join(runtime, "hooksd", "hooksd.sock"))
    if config is None:
        raise SocketPathError(
            "no place for the socket: set HOOKSD_SOCKET, XDG_RUNTIME_DIR or HOME to an absolute path"
        )
    return checked(os.path.join(config, ".state", "hooksd", "hooksd.sock"))


def checked(path: str) -> str:
    """`path`, if it fits a socket address; else `SocketPathError`."""
    length = len(os.fsencode(path))
    if length > MAX_SOCKET_PATH:
        raise SocketPathError(
            f"the socket path is {length} bytes long, the system allows {MAX_SOCKET_PATH}: {path}; "
            "set HOOKSD_SOCKET to a shorter absolute path"
        )
    return path


class _Socket(Protocol):
    def getsockopt(self, level: int, name: int, size: int, /) -> bytes: ...


def check_peer(stream: _Socket) -> None:
    """Raises `PermissionError` when somebody else than this user or the superuser listens: what is asked and shown must
    not go there, and what is answered there is no verdict. Systems other than Linux do not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if user not in (os.geteuid(), 0):
        raise PermissionError(
            f"it is served by user {user}, not by you: choose another socket with HOOKSD_SOCKET"
        )
