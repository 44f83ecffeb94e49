"""Talks to hooksd: finds its socket, connects, calls, hears notifications.

`Client` blocks, `AsyncClient` is for asyncio; both take any number of calls at once on one connection, and every call
has a deadline. `hooksd_client.deepagents` gives Deep Agents Code's engine, backed by the daemon.
"""

from ._errors import (
    CallTimeout,
    ConnectionEnded,
    HooksdError,
    NotRunning,
    Refused,
    SocketPathError,
)
from ._where import socket_path
from ._wire import CALL_SECONDS, Json, JsonObject, Notification
from .aio import AsyncClient, AsyncSubscription
from .sync import Client, Subscription

__all__ = [
    "CALL_SECONDS",
    "AsyncClient",
    "AsyncSubscription",
    "CallTimeout",
    "Client",
    "ConnectionEnded",
    "HooksdError",
    "Json",
    "JsonObject",
    "NotRunning",
    "Notification",
    "Refused",
    "SocketPathError",
    "Subscription",
    "socket_path",
]
