"""Deep Agents Code's hook engine, backed by the daemon.

dcode runs hooks through an object with `await engine.run(invocation, transcript_path=..., agent_transcript_path=...,
on_progress=...)`, which returns the decision. `HooksdEngine` is such an object: the daemon matches, runs and reduces.
The invocation may be dcode's own model or the same as JSON; the decision comes back as JSON (docs/protocol.md), or as
what `decision` makes of it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ._errors import ConnectionEnded, NotRunning, Refused
from ._wire import Json, JsonObject, Notification
from .aio import AsyncClient

logger = logging.getLogger(__name__)

#: The error code of a session the daemon does not know: it was restarted, or the session idled too long.
UNKNOWN_SESSION = -32002

#: Fields of dcode's models that are its own bookkeeping and no part of an event.
OWN_FIELDS = frozenset({"transcript_revision"})


@dataclass(frozen=True)
class HookProgress:
    """A handler begins or ends; the fields are those of dcode's own class of this name."""

    operation_id: str
    handler_id: str
    event: str
    active: bool
    message: str = ""


class HookEngine(Protocol):
    """What dcode expects of an engine."""

    async def run(
        self,
        invocation: Any,
        *,
        transcript_path: os.PathLike[str] | str | None = None,
        agent_transcript_path: os.PathLike[str] | str | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any: ...


class HooksdEngine:
    """One session of the daemon, as an engine. Make one with `HooksdEngine.open`.

    A connection that ends is made anew, once an event, and the event is sent again under the same id: a daemon that is
    still the same runs nothing twice. When that fails too, the error is raised: there is no decision then, and only the
    caller knows whether to go on without one.
    """

    def __init__(
        self,
        client: AsyncClient,
        opening: JsonObject,
        info: JsonObject,
        decision: Callable[[JsonObject], Any],
        progress: Callable[..., Any],
    ) -> None:
        self._client = client
        self._opening = opening
        self._decision = decision
        self._progress = progress
        self._reopening = asyncio.Lock()
        #: The answer of `session/open`: session, snapshot, project, environment.
        self.info = info

    @classmethod
    async def open(
        cls,
        *,
        thread_id: str,
        cwd: os.PathLike[str] | str,
        mode: str = "interactive",
        trust: Json = None,
        env: Mapping[str, str] | None = None,
        plugins: Json = "discover",
        socket: str | None = None,
        decision: Callable[[JsonObject], Any] | None = None,
        progress: Callable[..., Any] = HookProgress,
    ) -> HooksdEngine:
        """Connects and opens a session.

        `env` is the environment of the session's handlers, by default this process's own; `trust` as in `session/open`.
        `decision` makes dcode's model of a decision, for example `TypeAdapter(HookDecision).validate_python`;
        `progress` makes what `on_progress` gets, for example dcode's own `HookProgress`.
        """
        opening: JsonObject = {
            "thread_id": thread_id,
            "cwd": os.fspath(cwd),
            "mode": mode,
            "env": dict(os.environ if env is None else env),
            "plugins": plugins,
        }
        if trust is not None:
            opening["trust"] = trust
        client = await AsyncClient.connect(socket)
        try:
            info = await client.call("session/open", opening)
        except BaseException:
            await client.close()
            raise
        return cls(client, opening, info, decision or (lambda it: it), progress)

    @property
    def snapshot_id(self) -> str:
        """The id of the configuration the session is pinned to."""
        return str(self.info["snapshot"]["id"])

    @property
    def configured_server_events(self) -> tuple[str, ...]:
        """The server-owned events that have handlers; others need not be emitted."""
        return tuple(self.info["snapshot"]["server_events"])

    async def run(
        self,
        invocation: Any,
        *,
        transcript_path: os.PathLike[str] | str | None = None,
        agent_transcript_path: os.PathLike[str] | str | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """Runs an event's handlers and returns the decision. Cancelling the task stops them."""
        invocation_id = str(uuid.uuid4())
        options: JsonObject = {"invocation_id": invocation_id}
        if transcript_path is not None:
            options["transcript_path"] = os.fspath(transcript_path)
        if agent_transcript_path is not None:
            options["agent_transcript_path"] = os.fspath(agent_transcript_path)
        if on_progress is not None:
            options["progress"] = True
        event = domain(invocation)
        client = self._client
        try:
            result = await self._ask(client, event, options, on_progress)
        except (ConnectionEnded, Refused) as error:
            if isinstance(error, Refused) and error.code != UNKNOWN_SESSION:
                raise
            await self._reopen(client, error)
            result = await self._ask(self._client, event, options, on_progress)
        return self._decision(result["decision"])

    async def _ask(
        self, client: AsyncClient, event: JsonObject, options: JsonObject, on_progress: Callable[[Any], None] | None
    ) -> JsonObject:
        forget: Callable[[], None] = lambda: None
        if on_progress is not None:
            forget = client.listen(self._reporter(str(options["invocation_id"]), on_progress))
        try:
            return await client.invoke(str(self.info["session"]), invocation=event, **options)
        finally:
            forget()

    def _reporter(self, id: str, callback: Callable[[Any], None]) -> Callable[[Notification | None], bool]:
        def report(notification: Notification | None) -> bool:
            if notification is None or notification.method != "hook/progress":
                return False
            params = notification.params
            if params.get("invocation_id") != id:
                return False
            try:
                callback(
                    self._progress(
                        operation_id=f"{id}:{params['handler_id']}",
                        handler_id=params["handler_id"],
                        event=params["event"],
                        active=params["active"],
                        message=params["message"],
                    )
                )
            except Exception:
                # What shows progress must not decide anything.
                logger.warning("the callback for a hook's progress failed", exc_info=True)
            return True

        return report

    async def _reopen(self, broken: AsyncClient, error: Exception) -> None:
        async with self._reopening:
            if self._client is not broken and not self._client.is_closed:
                return  # Somebody else has.
            logger.warning("opening the session with hooksd again: %s", error)
            client = self._client
            if client.is_closed:
                client = await AsyncClient.connect(client.path)
            try:
                info = await client.call("session/attach", {"session": self.info["session"]})
            except Refused:
                info = await client.call("session/open", self._opening)
            self._client, self.info = client, info

    async def close(self) -> None:
        """Closes the session and the connection."""
        try:
            await self._client.call("session/close", {"session": self.info["session"]})
        except (ConnectionEnded, NotRunning, Refused):
            pass  # It is closed already.
        await self._client.close()

    async def __aenter__(self) -> HooksdEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def domain(invocation: Any) -> JsonObject:
    """An invocation as the JSON of docs/protocol.md: of a pydantic model, or of JSON."""
    dump = getattr(invocation, "model_dump", None)
    value = dump(mode="json") if callable(dump) else invocation
    if not isinstance(value, Mapping):
        raise TypeError(f"an invocation is an object with context and event, not {type(invocation).__name__}")
    return {key: _without_own_fields(part) for key, part in value.items()}


def _without_own_fields(part: Json) -> Json:
    if not isinstance(part, Mapping):
        return part
    return {key: value for key, value in part.items() if key not in OWN_FIELDS}
