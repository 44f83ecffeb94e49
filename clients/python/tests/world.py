"""The daemon that the tests talk to. `cargo test -p hooksd-tests --test clients` starts it and says where it is."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SOCKET = os.environ["HOOKSD_SOCKET"]
CONFIG = Path(os.environ["HOOKSD_CONFIG_DIR"])
PROJECT = os.environ["HOOKSD_TEST_PROJECT"]

#: How long anything here may take. Seconds of a busy machine.
PATIENCE = 60


@contextmanager
def nobody() -> Iterator[tuple[str, socket.socket]]:
    """The path of a socket at which no daemon listens, and the socket."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = os.path.join(folder, "s")
        listener.bind(path)
        listener.listen()
        yield path, listener


def hooks(event: str, *commands: str, **fields: Any) -> dict[str, Any]:
    handlers = [{"type": "command", "command": command, **fields} for command in commands]
    return {"hooks": {event: [{"hooks": handlers}]}}


def user(document: dict[str, Any]) -> None:
    """Writes the user's hooks.json; sessions that are opened from now on have it."""
    (CONFIG / "hooks.json").write_text(json.dumps(document))


def opening(thread_id: str, **more: Any) -> dict[str, Any]:
    return {"thread_id": thread_id, "cwd": PROJECT, "mode": "interactive", **more}


def invocation(event: dict[str, Any], thread_id: str = "t") -> dict[str, Any]:
    return {"context": {"thread_id": thread_id, "cwd": PROJECT, "approval_mode": "manual"}, "event": event}


def before_tool(args: Any = None, name: str = "execute") -> dict[str, Any]:
    call = {"id": "c", "name": name, "args": {"command": "ls"} if args is None else args}
    return invocation({"event": "PreToolUse", "call": call})


START = invocation({"event": "SessionStart", "cause": "startup"})
