"""Lines: requests to bytes, bytes to answers and notifications. No input or output here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from ._errors import HooksdError, Refused, RequestTooLong

#: Anything `json.dumps` takes.
Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]

#: How long a call may take unless the caller says otherwise. Seconds. Above the longest default timeout of a handler
#: (600 s), so that the daemon's answer about a slow handler still arrives.
CALL_SECONDS = 630.0

#: The longest line that is read from the daemon. Bytes. It reads 16 MiB itself; what many handlers say can be more.
MAX_LINE = 64 * 1024 * 1024

#: The longest line that the daemon reads. Bytes, without its end. A longer request is not sent.
MAX_REQUEST = 16 * 1024 * 1024

#: Up to which length the daemon never takes back the room of a line that has begun. Bytes.
NEVER_CUT = 64 * 1024

#: The error codes of lines that the daemon did not read to their end: too long, or cut because others needed the room.
LINE_TOO_LONG, OVERLOADED = -32001, -32005

#: What may wait to be written. Bytes. While more does, the daemon takes nothing, and the next request is an error.
MAX_UNWRITTEN = 16 * 1024 * 1024

#: Notifications that wait to be taken. More are dropped, and counted.
MAX_NOTIFICATIONS = 4096


@dataclass(frozen=True)
class Notification:
    """Something the daemon says without being asked."""

    method: str
    params: JsonObject


@dataclass(frozen=True)
class Answer:
    """The answer to a request: a result or an error."""

    id: int | None
    result: Json
    error: Refused | None


def line(method: str, params: Json, id: int | None) -> bytes:
    """A request, or without an id a notification, as a line.

    JSON has no NaN and no infinity: they become null. Raises `RequestTooLong` for what the daemon would throw away.
    """
    message: JsonObject = {"jsonrpc": "2.0", "method": method, "params": params}
    if id is not None:
        message["id"] = id
    try:
        text = json.dumps(message, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(message), separators=(",", ":"), allow_nan=False)
    if len(text) > MAX_REQUEST:
        raise RequestTooLong(method, len(text), MAX_REQUEST)
    return text.encode("ascii") + b"\n"


def _finite(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return value


def read(raw: bytes) -> Answer | Notification:
    """A line of the daemon. Raises `HooksdError` when it is none of a daemon's."""
    try:
        message = json.loads(raw)
    except ValueError as error:
        raise HooksdError(f"the daemon's answer is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise HooksdError("the daemon's answer is not an object")
    method = message.get("method")
    if isinstance(method, str):
        params = message.get("params")
        return Notification(method, params if isinstance(params, dict) else {})
    id = message.get("id")
    said = message.get("error")
    if isinstance(said, dict):
        code, text = said.get("code"), said.get("message")
        refused = Refused(code if isinstance(code, int) else -32603, str(text), said.get("data"))
        return Answer(id if isinstance(id, int) else None, None, refused)
    if "result" not in message:
        raise HooksdError("the daemon's answer has neither a result nor an error")
    return Answer(id if isinstance(id, int) else None, cast(Json, message["result"]), None)


def meant(error: Refused, sizes: Mapping[int, int]) -> tuple[list[int], Refused]:
    """Which requests an error without an id ends, and with what.

    `sizes` are the lengths of the lines of all requests that have no answer yet. The daemon says nothing but the code
    of a line whose id it has not read, and its answers come in any order. Of lines that are too long the longest is one.
    A line that was cut is a long one. Where several can be meant, all of them end: none may wait for an answer that
    never comes.
    """
    ids = list(sizes)
    if error.code == LINE_TOO_LONG:
        ids = sorted(ids, key=lambda id: sizes[id])[-1:]
    elif error.code == OVERLOADED:
        ids = [id for id in ids if sizes[id] > NEVER_CUT] or ids
    if len(ids) < 2:
        return ids, error
    message = f"{error.message}; it is about one of {len(ids)} requests and does not say which, so all of them end"
    return ids, Refused(error.code, message, error.data)
