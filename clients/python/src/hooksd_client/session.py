"""A session of the daemon that outlives its connections. Any thread may run events in it.

A connection that ends is made anew, and the event sent again under its id: a daemon that is still the same runs nothing
twice. A session that the daemon no longer has is opened again, and has to be the same: `SessionChanged` otherwise.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

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
from ._progress import Progress
from ._run import Run, RunOptions, decision_in
from ._wire import CALL_SECONDS, JsonObject
from .sync import CONNECT_SECONDS, Client

if TYPE_CHECKING:
    from typing_extensions import Unpack

logger = logging.getLogger("hooksd_client")


class Session:
    """A session. Make one with `Session.open(...)`; use it as a context manager, or `close` it."""

    def __init__(self, client: Client, opening: JsonObject, info: JsonObject, *, timeout: float) -> None:
        self._client = client
        self._opening = opening
        self._timeout = timeout
        self._reopening = threading.Lock()
        # What makes the session be opened again: the daemon does not know it, or is stopping.
        self._unknown = False
        self._stopping: Client | None = None
        self._lost_at: float | None = None
        # Connections that have ended, or whose daemon is stopping, with a thread each.
        self._left: list[Client] = []
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
    ) -> Session:
        """Connects and opens a session.

        `opening` are the params of `session/open`. `timeout` bounds the connection and the opening together,
        `run_timeout` each `run` that has no timeout of its own; seconds.
        """
        deadline = time.monotonic() + timeout
        client = Client(socket, connect_timeout=min(timeout, CONNECT_SECONDS))
        try:
            info = client.call("session/open", dict(opening), timeout=deadline - time.monotonic())
        except CallTimeout as error:
            client.close()
            raise CallTimeout(f"no session within {timeout} s") from error
        except BaseException:
            client.close()
            raise
        return cls(client, dict(opening), info, timeout=run_timeout)

    @overload
    def run(self, invocation: ToolInvocation, **options: Unpack[RunOptions]) -> ToolDecision: ...
    @overload
    def run(self, invocation: PermissionInvocation, **options: Unpack[RunOptions]) -> PermissionDecision: ...
    @overload
    def run(self, invocation: PromptInvocation, **options: Unpack[RunOptions]) -> PromptDecision: ...
    @overload
    def run(self, invocation: FeedbackInvocation, **options: Unpack[RunOptions]) -> FeedbackDecision: ...
    @overload
    def run(self, invocation: StopInvocation, **options: Unpack[RunOptions]) -> StopDecision: ...
    @overload
    def run(self, invocation: ContextInvocation, **options: Unpack[RunOptions]) -> ContextDecision: ...
    @overload
    def run(self, invocation: PlainInvocation, **options: Unpack[RunOptions]) -> PlainDecision: ...
    @overload
    def run(self, invocation: Mapping[str, Any], **options: Unpack[RunOptions]) -> Decision: ...

    def run(self, invocation: Any, **options: Any) -> Any:
        """Runs an event's handlers and returns the decision.

        The event is an invocation with context and event, or a payload with hook_event_name; `options` are `RunOptions`.
        `on_progress` is called by this thread.
        """
        run = Run(invocation, options)
        seconds = self._timeout if run.timeout is None else run.timeout
        try:
            return self._insist(run, time.monotonic() + seconds)
        except CallTimeout as error:
            raise CallTimeout(f"no decision on {run.event} within {seconds} s") from error

    def _insist(self, run: Run, deadline: float) -> JsonObject:
        again = Again()
        progress = None if run.on_progress is None else Progress(run.id, run.on_progress)
        while True:
            client, sent = self._client, False
            try:
                client = self._ready(deadline)
                sent = True
                params = run.params(self._opening, self.info)
                try:
                    left = deadline - time.monotonic()
                    return decision_in(client._call("hook/invoke", params, left, progress))
                finally:
                    if progress is not None:
                        progress.end()
            except HooksdError as error:
                changed = run.changed(error, self.info)
                if changed is not None:
                    raise changed from error
                pause = again.pause(error, self._lost(client, error, deadline), sent=sent)
                if pause is None:
                    raise
                logger.warning("asking hooksd again about %s: %s", run.event, error)
            time.sleep(pause)

    def _lost(self, client: Client, error: HooksdError, deadline: float) -> float:
        """Notes what is gone; for how many seconds a daemon is still looked for."""
        now = time.monotonic()
        if is_unknown_session(error):
            self._unknown = True
        if is_stopping(error):
            self._stopping = client
        if self._lost_at is None and (client.is_closed or is_stopping(error)):
            self._lost_at = now
        lost_at = self._lost_at
        until = deadline if lost_at is None else min(deadline, lost_at + RECONNECT_SECONDS)
        return until - now

    def _is_ready(self) -> bool:
        return not (self._client.is_closed or self._unknown or self._stopping is self._client)

    def _ready(self, deadline: float) -> Client:
        """The connection, made anew, and the session, opened again, if need be."""
        if not self._is_ready():
            if not self._reopening.acquire(timeout=max(deadline - time.monotonic(), 0)):
                raise CallTimeout("another thread is still opening the session again")
            try:
                if not self._is_ready():  # Else somebody else has made it so.
                    self._reopen(deadline)
            finally:
                self._reopening.release()
        return self._client

    def _reopen(self, deadline: float) -> None:
        client = self._client
        if client.is_closed or self._stopping is client:
            if self._lost_at is None:
                self._lost_at = time.monotonic()
            patience = min(deadline - time.monotonic(), CONNECT_SECONDS)
            if patience <= 0:
                raise CallTimeout("there is no time left to connect again")
            client = Client(client.path, connect_timeout=patience)
        try:
            info = self._again_on(client, deadline)
        except BaseException:
            if client is not self._client:
                client.close()
            raise
        if client is not self._client:
            # A daemon that is stopping still answers what it has begun, and ends the connection itself.
            left, self._left = [*self._left, self._client], []
            self._client = client
            for one in left:
                if one.is_closed:
                    one.close()
                else:
                    self._left.append(one)
        how = "went on" if info["session"] == self.info["session"] else "was opened again, as it was"
        logger.warning("the session with hooksd %s after its connection or its daemon was lost", how)
        self.info, self._unknown, self._lost_at = info, False, None

    def _again_on(self, client: Client, deadline: float) -> JsonObject:
        def left() -> float:
            return deadline - time.monotonic()

        try:
            info: JsonObject = client.call("session/attach", {"session": self.info["session"]}, timeout=left())
            return info
        except Refused as error:
            if not is_unknown_session(error):
                raise
        info = client.call("session/open", self._opening, timeout=left())
        told = differences(self.info, info, follow=bool(self._opening.get("follow")))
        if told:
            try:
                client.call("session/close", {"session": info["session"]}, timeout=left())
            except HooksdError:
                pass  # It ends by itself once nobody uses it.
            raise SessionChanged(told, self.info, info)
        return info

    def close(self) -> None:
        """Closes the session and the connection."""
        try:
            if not self._client.is_closed:
                self._client.call("session/close", {"session": self.info["session"]}, timeout=OPEN_SECONDS)
        except (CallTimeout, ConnectionEnded, NotRunning, Refused):
            pass  # It is closed already.
        finally:
            for client in [*self._left, self._client]:
                client.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
