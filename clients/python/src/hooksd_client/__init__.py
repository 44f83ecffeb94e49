"""Talks to hooksd: finds its socket, connects, calls, hears notifications.

`Session` and `AsyncSession` run events and outlive their connections. `Client` blocks, `AsyncClient` is for asyncio; both
take any number of calls at once on one connection, and every call has a deadline. `hooksd_client.deepagents` gives Deep
Agents Code's engine, backed by the daemon. `hooksd_client.events` has the types of events and decisions.
"""

from ._errors import (
    CallTimeout,
    ConnectionEnded,
    HooksdError,
    NotRunning,
    Refused,
    RequestTooLong,
    SessionChanged,
    SocketPathError,
)
from ._lost import OPEN_SECONDS, RECONNECT_SECONDS
from ._progress import HookProgress
from ._run import RunOptions
from ._where import socket_path
from ._wire import CALL_SECONDS, MAX_REQUEST, Json, JsonObject, Notification
from .aio import AsyncClient, AsyncSubscription
from .aio_session import AsyncSession
from .session import Session
from .sync import Client, Subscription

__all__ = [
    "CALL_SECONDS",
    "MAX_REQUEST",
    "OPEN_SECONDS",
    "RECONNECT_SECONDS",
    "AsyncClient",
    "AsyncSession",
    "AsyncSubscription",
    "CallTimeout",
    "Client",
    "ConnectionEnded",
    "HookProgress",
    "HooksdError",
    "Json",
    "JsonObject",
    "NotRunning",
    "Notification",
    "Refused",
    "RequestTooLong",
    "RunOptions",
    "Session",
    "SessionChanged",
    "SocketPathError",
    "Subscription",
    "socket_path",
]
