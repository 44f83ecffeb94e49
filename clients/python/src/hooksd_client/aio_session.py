"""A session of the daemon that outlives its connections, for asyncio.

A connection that ends is made anew, and the event sent again under its id: a daemon that is still the same runs nothing
twice. A session that the daemon no longer has is opened again, and has to be the same: `SessionChanged` otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ._awaited import Awaited
from ._errors import CallTimeout, ConnectionEnded, HooksdError, NotRunning, Refused, SessionChanged
from .events import (
    ContextDecision,
    ContextInvocation,
    Decision,
    FeedbackDecision,
    FeedbackInvocation,
    PermissionDecision,
    PermissionInvocation,
    PlainDecision,
    PlainInvocation,
    PromptDecision,
    PromptInvocation,
    StopDecision,
    StopInvocation,
    ToolDecision,
    ToolInvocation,
)
from ._lost import OPEN_SECONDS, RECONNECT_SECONDS, Again, differences, is_stopping, is_unknown_session
from ._progress import HookProgress, Progress
from ._run import Run, RunOptions, decision_in
from ._wire import CALL_SECONDS, JsonObject, Notification
from .aio import AsyncClient

if TYPE_CHECKING:
    from typing_extensions import Unpack

Result = TypeVar("Result")

logger = logging.getLogger("hooksd_client")


class AsyncSession:
    """A session. Make one with `await AsyncSession.open(...)`, or `async with AsyncSession.open(...)`."""

    def __init__(self, client: AsyncClient, opening: JsonObject, info: JsonObject, *, timeout: float) -> None:
        self._client = client
        self._opening = opening
        self._timeout = timeout
        self._reopening = asyncio.Lock()
        # What makes the session be opened again: the daemon does not know it, or is stopping.
        self._unknown = False
        self._stopping: AsyncClient | None = None
        self._lost_at: float | None = None
        # Connections that have ended, or whose daemon is stopping.
        self._left: list[AsyncClient] = []
        #: The answer of `session/open`: session, snapshot, project, environment.
        self.info = info

    @classmethod
    def open(
        cls,
        opening: Mapping[str, Any],
        *,
        socket: str | None = None,
        timeout: float = OPEN_SECONDS,
        run_timeout: float = CALL_SECONDS,
    ) -> Awaited[AsyncSession]:
        """Connects and opens a session, when it is awaited or entered.

        `opening` are the params of `session/open`. `timeout` bounds the connection and the opening together,
        `run_timeout` each `run` that has no timeout of its own; seconds.
        """
        return Awaited(lambda: cls._open(dict(opening), socket, timeout, run_timeout))

    @classmethod
    async def _open(cls, opening: JsonObject, socket: str | None, timeout: float, run_timeout: float) -> AsyncSession:
        async def begin() -> AsyncSession:
            client = await AsyncClient.connect(socket)
            try:
                info = await client.call("session/open", opening, timeout=timeout)
            except BaseException:
                await client.close()
                raise
            return cls(client, opening, info, timeout=run_timeout)

        return await _within(begin, timeout, "no session")

    @overload
    async def run(self, invocation: ToolInvocation, **options: Unpack[RunOptions]) -> ToolDecision: ...
    @overload
    async def run(self, invocation: PermissionInvocation, **options: Unpack[RunOptions]) -> PermissionDecision: ...
    @overload
    async def run(self, invocation: PromptInvocation, **options: Unpack[RunOptions]) -> PromptDecision: ...
    @overload
    async def run(self, invocation: FeedbackInvocation, **options: Unpack[RunOptions]) -> FeedbackDecision: ...
    @overload
    async def run(self, invocation: StopInvocation, **options: Unpack[RunOptions]) -> StopDecision: ...
    @overload
    async def run(self, invocation: ContextInvocation, **options: Unpack[RunOptions]) -> ContextDecision: ...
    @overload
    async def run(self, invocation: PlainInvocation, **options: Unpack[RunOptions]) -> PlainDecision: ...
    @overload
    async def run(self, invocation: Mapping[str, Any], **options: Unpack[RunOptions]) -> Decision: ...

    async def run(self, invocation: Any, **options: Any) -> Any:
        """Runs an event's handlers and returns the decision. Cancelling the task stops them.

        The event is an invocation with context and event, or a payload with hook_event_name; `options` are `RunOptions`.
        """
        return await self._run(Run(invocation, options), HookProgress)

    async def _run(self, run: Run, make: Callable[..., Any]) -> JsonObject:
        seconds = self._timeout if run.timeout is None else run.timeout
        deadline = time.monotonic() + seconds
        progress = None if run.on_progress is None else Progress(run.id, run.on_progress, make)
        return await _within(
            lambda: self._insist(run, progress, deadline), seconds, f"no decision on {run.event}"
        )

    async def _insist(self, run: Run, progress: Progress | None, deadline: float) -> JsonObject:
        again = Again()
        while True:
            client, sent = self._client, False
            try:
                client = await self._ready(deadline)
                sent = True
                return decision_in(await self._ask(client, run, progress, deadline))
            except HooksdError as error:
                changed = run.changed(error, self.info)
                if changed is not None:
                    raise changed from error
                pause = again.pause(error, self._lost(client, error, deadline), sent=sent)
                if pause is None:
                    raise
                logger.warning("asking hooksd again about %s: %s", run.event, error)
            await asyncio.sleep(pause)

    async def _ask(self, client: AsyncClient, run: Run, progress: Progress | None, deadline: float) -> Any:
        params = run.params(self._opening, self.info)

        def offer(notification: Notification | None) -> bool:
            if progress is None or notification is None or not progress.is_about(notification):
                return False
            progress.hear(notification.params)
            return True

        forget = client.listen(offer)
        try:
            return await client.call("hook/invoke", params, timeout=deadline - time.monotonic())
        finally:
            forget()
            if progress is not None:
                progress.end()

    def _lost(self, client: AsyncClient, error: HooksdError, deadline: float) -> float:
        """Notes what is gone; for how many seconds a daemon is still looked for."""
        now = time.monotonic()
        if is_unknown_session(error):
            self._unknown = True
        if is_stopping(error):
            self._stopping = client
        if self._lost_at is None and (client.is_closed or is_stopping(error)):
            self._lost_at = now
        until = deadline if self._lost_at is None else min(deadline, self._lost_at + RECONNECT_SECONDS)
        return until - now

    def _is_ready(self) -> bool:
        return not (self._client.is_closed or self._unknown or self._stopping is self._client)

    async def _ready(self, deadline: float) -> AsyncClient:
        """The connection, made anew, and the session, opened again, if need be."""
        if not self._is_ready():
            async with self._reopening:
                if not self._is_ready():  # Else somebody else has made it so.
                    await self._reopen(deadline)
        return self._client

    async def _reopen(self, deadline: float) -> None:
        client = self._client
        if client.is_closed or self._stopping is client:
            if self._lost_at is None:
                self._lost_at = time.monotonic()
            client = await AsyncClient.connect(client.path)
        try:
            info = await self._again_on(client, deadline)
        except BaseException:
            if client is not self._client:
                await client.close()
            raise
        if client is not self._client:
            # A daemon that is stopping still answers what it has begun, and ends the connection itself.
            self._left = [one for one in [*self._left, self._client] if not one.is_closed]
            self._client = client
        how = "went on" if info["session"] == self.info["session"] else "was opened again, as it was"
        logger.warning("the session with hooksd %s after its connection or its daemon was lost", how)
        self.info, self._unknown, self._lost_at = info, False, None

    async def _again_on(self, client: AsyncClient, deadline: float) -> JsonObject:
        def left() -> float:
            return deadline - time.monotonic()

        try:
            info: JsonObject = await client.call("session/attach", {"session": self.info["session"]}, timeout=left())
            return info
        except Refused as error:
            if not is_unknown_session(error):
                raise
        info = await client.call("session/open", self._opening, timeout=left())
        told = differences(self.info, info, follow=bool(self._opening.get("follow")))
        if told:
            try:
                await client.call("session/close", {"session": info["session"]}, timeout=left())
            except HooksdError:
                pass  # It ends by itself once nobody uses it.
            raise SessionChanged(told, self.info, info)
        return info

    async def close(self) -> None:
        """Closes the session and the connection."""
        try:
            if not self._client.is_closed:
                await self._client.call("session/close", {"session": self.info["session"]}, timeout=OPEN_SECONDS)
        except (CallTimeout, ConnectionEnded, NotRunning, Refused):
            pass  # It is closed already.
        finally:
            for client in [*self._left, self._client]:
                await client.close()

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def _within(begin: Callable[[], Coroutine[Any, Any, Result]], seconds: float, what: str) -> Result:
    """The result, unless all of it takes too long."""
    late = f"{what} within {seconds} s"
    try:
        return await asyncio.wait_for(begin(), seconds)
    except CallTimeout as error:
        raise CallTimeout(late) from error
    except asyncio.TimeoutError:
        raise CallTimeout(late) from None
