"""Deep Agents Code's hook engine, backed by the daemon.

dcode runs hooks through an object with `await engine.run(invocation, transcript_path=..., agent_transcript_path=...,
on_progress=...)`, which returns the decision. `HooksdEngine` is such an object: the daemon matches, runs and reduces.
It goes where dcode's own engine is, the field `engine` of the session's runtime: `dataclasses.replace(runtime,
engine=engine)`. The invocation may be dcode's own model or the same as JSON; the decision comes back as JSON
(docs/protocol.md), or as what `decision` makes of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, cast, overload

from ._awaited import Awaited
from .events import Decision
from ._lost import OPEN_SECONDS
from ._progress import HookProgress
from ._run import Run
from ._wire import CALL_SECONDS, Json, JsonObject
from .aio_session import AsyncSession

__all__ = ["HookEngine", "HookProgress", "HooksdEngine", "domain"]

#: Fields of dcode's models that are its own bookkeeping and no part of an event.
OWN_FIELDS = frozenset({"transcript_revision"})

Decided = TypeVar("Decided")
Decided_co = TypeVar("Decided_co", covariant=True)


class HookEngine(Protocol[Decided_co]):
    """What dcode expects of an engine."""

    async def run(
        self,
        invocation: Any,
        *,
        transcript_path: os.PathLike[str] | str | None = None,
        agent_transcript_path: os.PathLike[str] | str | None = None,
        on_progress: Callable[[Any], object] | None = None,
    ) -> Decided_co: ...


class HooksdEngine(Generic[Decided]):
    """One session of the daemon, as an engine whose decisions are `Decided`. Make one with `HooksdEngine.open`.

    It outlives its connections as an `AsyncSession` does. When there is no decision, `run` raises: only the caller knows
    whether to go on without one. `SessionChanged` says that the daemon was started anew with other hooks or other trust:
    who accepts that opens a new engine.
    """

    def __init__(
        self, session: AsyncSession, decision: Callable[[JsonObject], Decided], progress: Callable[..., Any]
    ) -> None:
        self._session = session
        self._decision = decision
        self._progress = progress

    @overload
    @classmethod
    def open(
        cls,
        *,
        thread_id: str,
        cwd: os.PathLike[str] | str,
        mode: str = ...,
        trust: Json = ...,
        env: Mapping[str, str] | None = ...,
        plugins: Json = ...,
        socket: str | None = ...,
        timeout: float = ...,
        run_timeout: float = ...,
        progress: Callable[..., Any] = ...,
    ) -> Awaited[HooksdEngine[Decision]]: ...
    @overload
    @classmethod
    def open(
        cls,
        *,
        thread_id: str,
        cwd: os.PathLike[str] | str,
        mode: str = ...,
        trust: Json = ...,
        env: Mapping[str, str] | None = ...,
        plugins: Json = ...,
        socket: str | None = ...,
        timeout: float = ...,
        run_timeout: float = ...,
        decision: Callable[[JsonObject], Decided],
        progress: Callable[..., Any] = ...,
    ) -> Awaited[HooksdEngine[Decided]]: ...
    @classmethod
    def open(
        cls,
        *,
        thread_id: str,
        cwd: os.PathLike[str] | str,
        mode: str = "interactive",
        trust: Json = None,
        env: Mapping[str, str] | None = None,
        plugins: Json = "discover",
        socket: str | None = None,
        timeout: float = OPEN_SECONDS,
        run_timeout: float = CALL_SECONDS,
        decision: Callable[[JsonObject], Any] | None = None,
        progress: Callable[..., Any] = HookProgress,
    ) -> Awaited[Any]:
        """Connects and opens a session, when it is awaited or entered.

        `env` is the environment of the session's handlers, by default this process's own; `trust` as in `session/open`.
        `timeout` bounds the connection and the opening together, `run_timeout` each `run` that has no timeout of its own;
        seconds. `decision` makes dcode's model of a decision, for example `TypeAdapter(HookDecision).validate_python`;
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

        async def begin() -> HooksdEngine[Any]:
            session = await AsyncSession.open(opening, socket=socket, timeout=timeout, run_timeout=run_timeout)
            return cls(session, decision or cast(Any, _as_it_is), progress)

        return Awaited(begin)

    @property
    def info(self) -> JsonObject:
        """The answer of `session/open`: session, snapshot, project, environment."""
        return self._session.info

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
        on_progress: Callable[[Any], object] | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Decided:
        """Runs an event's handlers and returns the decision. Cancelling the task stops them.

        `timeout` bounds all of it, a connection made anew and a second attempt included; seconds. `env` is the
        environment of this event's handlers instead of the session's. `on_progress` is told of the end of each handler
        of which it was told that it began.
        """
        options = {
            "transcript_path": transcript_path,
            "agent_transcript_path": agent_transcript_path,
            "on_progress": on_progress,
            "timeout": timeout,
            "env": env,
        }
        return self._decision(await self._session._run(Run(domain(invocation), options), self._progress))

    async def close(self) -> None:
        """Closes the session and the connection."""
        await self._session.close()

    async def __aenter__(self) -> HooksdEngine[Decided]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _as_it_is(decision: JsonObject) -> JsonObject:
    return decision


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
