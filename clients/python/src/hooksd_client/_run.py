"""What a session's `run` sends, without input or output: the same for the blocking and the asyncio one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from ._errors import HooksdError, Refused, SessionChanged
from ._lost import SNAPSHOT_MISMATCH
from ._progress import HookProgress
from ._wire import Json, JsonObject


class RunOptions(TypedDict, total=False):
    """How an event is run.

    `timeout` bounds all of it, a connection made anew and a second attempt included; seconds. `env` is the environment of
    this event's handlers instead of the session's. `on_progress` is told of handlers that begin and end, and of the end
    of each that began. The others are those of docs/protocol.md.
    """

    timeout: float | None
    env: Mapping[str, str] | None
    on_progress: Callable[[HookProgress], object] | None
    transcript_path: os.PathLike[str] | str | None
    agent_transcript_path: os.PathLike[str] | str | None
    invocation_id: str | None
    run_id: str | None
    deadline: str | float | None
    agent: Mapping[str, Any] | None


class Run:
    """One event on its way: its params, whichever session and connection they go to."""

    def __init__(self, what: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        known = RunOptions.__annotations__
        unknown = [name for name in options if name not in known]
        if unknown:
            raise TypeError(f"run has no option {unknown[0]!r}; it has {', '.join(known)}")
        if not isinstance(what, Mapping):
            raise TypeError(f"an event is an object, not {type(what).__name__}")
        rest = {name: value for name, value in options.items() if value is not None}
        self.timeout: float | None = rest.pop("timeout", None)
        self.env: Mapping[str, str] | None = rest.pop("env", None)
        self.on_progress: Callable[[Any], object] | None = rest.pop("on_progress", None)
        for name in ("transcript_path", "agent_transcript_path"):
            if name in rest:
                rest[name] = os.fspath(rest[name])
        is_payload = "hook_event_name" in what
        self.id: str = rest.setdefault("invocation_id", str(uuid.uuid4()))
        self._params: JsonObject = {("payload" if is_payload else "invocation"): what, **rest}
        event = what.get("hook_event_name") if is_payload else what.get("event")
        #: The event's name, for messages.
        self.event = str(event.get("event") if isinstance(event, Mapping) else event)
        if self.on_progress is not None:
            self._params["progress"] = True

    def params(self, opening: Mapping[str, Json], info: JsonObject) -> JsonObject:
        """The params of `hook/invoke`.

        With an environment of its own the event comes with a session of its own, which costs no round trip. It must have
        the snapshot of the open one, unless that follows the documents.
        """
        if self.env is None:
            return {"session": info["session"], **self._params}
        params: JsonObject = {"session": {**opening, "env": dict(self.env)}, **self._params}
        if not opening.get("follow"):
            params["snapshot_id"] = info["snapshot"]["id"]
        return params

    def changed(self, error: HooksdError, info: JsonObject) -> SessionChanged | None:
        """What to raise instead, when an event with an environment of its own met other documents."""
        if self.env is None or not isinstance(error, Refused) or error.code != SNAPSHOT_MISMATCH:
            return None
        told = "its documents have changed since, and an event with an environment of its own reads them anew"
        return SessionChanged([f"{told} ({error.message})"], info, {})


def decision_in(result: Json) -> JsonObject:
    """The decision in the result of `hook/invoke`."""
    if not isinstance(result, dict) or not isinstance(result.get("decision"), dict):
        raise HooksdError("the daemon's answer has no decision")
    decision: JsonObject = result["decision"]
    return decision
