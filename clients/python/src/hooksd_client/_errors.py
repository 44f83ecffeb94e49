"""What can go wrong, one class each; all are `HooksdError`."""

from __future__ import annotations

from collections.abc import Sequence
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


class RequestTooLong(HooksdError):
    """The request is longer than a line of the daemon may be. It was not sent; `size` and `limit` are bytes."""

    def __init__(self, method: str, size: int, limit: int) -> None:
        super().__init__(f"the request {method} is {size} bytes long, hooksd takes {limit}: send less of it")
        self.method = method
        self.size = size
        self.limit = limit


class SessionChanged(HooksdError):
    """The daemon no longer has the session, and the one it would open now is another: other hooks, or other trust.

    There is no decision, for it might be a quieter one. `differences` says what is not the same, `before` and `after`
    are the answers of `session/open` then and now. Who accepts that opens a new session.
    """

    def __init__(self, differences: Sequence[str], before: dict[str, Any], after: dict[str, Any]) -> None:
        super().__init__(
            "hooksd no longer has the session, and one opened now would not be the same: "
            + "; ".join(differences)
            + ". Undo that, or open a new session to go on with what is there now"
        )
        self.differences = tuple(differences)
        self.before = before
        self.after = after


class Refused(HooksdError):
    """The daemon's error answer.

    `code` is one of docs/protocol.md, `data` what belongs to it (for example `{"field": ...}`), or None.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data
