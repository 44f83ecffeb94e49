"""What can go wrong, one class each; all are `HooksdError`."""

from __future__ import annotations

from typing import Any


class HooksdError(Exception):
    """The daemon could not be asked, or said no."""


class SocketPathError(HooksdError):
    """There is no usable path of a socket; the message says which variable to set."""


class NotRunning(HooksdError):
    """Nobody listens on the socket."""

    def __init__(self, path: str, reason: object) -> None:
        super().__init__(f"no daemon answers on {path}: start it with `hooksd` ({reason})")
        self.path = path


class ConnectionEnded(HooksdError):
    """The connection ended before the answer came; whether the daemon has acted is not known."""


class CallTimeout(HooksdError, TimeoutError):
    """No answer came in time. The daemon was told to stop what it was doing."""


class Refused(HooksdError):
    """The daemon's error answer.

    `code` is one of docs/protocol.md, `data` what belongs to it (for example `{"field": ...}`), or None.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data
