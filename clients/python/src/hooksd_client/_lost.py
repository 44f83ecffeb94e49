"""What a session does about a connection or a daemon that is gone: when to ask again, and what must be the same then.

A guard that runs twice costs less than a deny that is lost (crates/client/src/retry.rs): what was not run is asked until
there is a daemon, what may have been run is asked once more under the same id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._errors import ConnectionEnded, HooksdError, NotRunning, Refused

#: How long opening a session may take unless the caller says otherwise. Seconds, with the connection.
OPEN_SECONDS = 30.0

#: How long a daemon that was there is looked for after its connection was lost. Seconds: it is started anew, or is not.
RECONNECT_SECONDS = 5.0

#: How long to wait before a daemon that has gone is looked for again. Seconds.
GONE_SECONDS = 0.02

#: The error codes of a session that the daemon does not know, and of a daemon that is stopping.
UNKNOWN_SESSION, SHUTTING_DOWN = -32002, -32006

#: That of an inline session whose snapshot is not the one that was asked for.
SNAPSHOT_MISMATCH = -32003


class Again:
    """When to ask again, for one event."""

    def __init__(self) -> None:
        self._may_have_run = False
        self._was_unknown = False

    def pause(self, error: HooksdError, left: float, *, sent: bool) -> float | None:
        """After how many seconds to ask again; None when not to.

        `left` are the seconds in which a daemon is looked for. `sent` says whether the event was on its way; while the
        connection was being made, nothing of it was run.
        """
        not_run = isinstance(error, ConnectionEnded) and not sent
        if not_run or isinstance(error, NotRunning) or (is_stopping(error) and not _was_cut(error)):
            return GONE_SECONDS if left > GONE_SECONDS else None
        if isinstance(error, ConnectionEnded) or is_stopping(error):
            again, self._may_have_run = not self._may_have_run, True
            return GONE_SECONDS if again else None
        if is_unknown_session(error):
            again, self._was_unknown = not self._was_unknown, True
            return 0 if again else None
        return None


def is_unknown_session(error: HooksdError) -> bool:
    return isinstance(error, Refused) and error.code == UNKNOWN_SESSION


def is_stopping(error: HooksdError) -> bool:
    return isinstance(error, Refused) and error.code == SHUTTING_DOWN


def _was_cut(error: HooksdError) -> bool:
    data = getattr(error, "data", None)
    return isinstance(data, dict) and data.get("cut") is True


def differences(before: Mapping[str, Any], after: Mapping[str, Any], *, follow: bool) -> list[str]:
    """What of a session that was opened again is not as it was, in words.

    A session that follows the documents (`follow`) has asked for their edits, but not for the loss of trust.
    """
    told: list[str] = []
    was, now = before["project"], after["project"]
    if was["root"] != now["root"]:
        told.append(f"the project's root was {was['root']} and is {now['root']}")
    if was["trusted"] != now["trusted"] and (was["hooks_present"] or now["hooks_present"]):
        told.append(f"the project {'is no longer trusted' if was['trusted'] else 'was not trusted and is'} ({now['root']})")
    if before["environment"] != after["environment"]:
        told.append(f"its environment was the {before['environment']}'s and is the {after['environment']}'s")
    if follow or before["snapshot"]["id"] == after["snapshot"]["id"]:
        return told
    told.extend(_documents(before["snapshot"]["sources"], after["snapshot"]["sources"]))
    gone = [event for event in before["snapshot"]["events"] if event not in after["snapshot"]["events"]]
    if gone:
        told.append(f"there are no handlers any more for {', '.join(gone)}")
    told.append(f"its snapshot was {before['snapshot']['id'][:12]} and is {after['snapshot']['id'][:12]}")
    return told


def _documents(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    told = []
    now = {source["path"]: source for source in after}
    for source in before:
        other = now.pop(source["path"], None)
        if source["loaded"] and not (other and other["loaded"]):
            told.append(f"{source['path']} counted and does not any more")
        elif other and other["loaded"] and not source["loaded"]:
            told.append(f"{source['path']} did not count and does")
        elif other and other.get("fingerprint") != source.get("fingerprint"):
            told.append(f"{source['path']} has changed")
    told.extend(f"{path} is new" for path, source in now.items() if source["loaded"])
    return told
