"""The daemon that the tests talk to. `cargo test -p hooksd-tests --test clients` starts it and says where it is."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SOCKET = os.environ["HOOKSD_SOCKET"]
CONFIG = Path(os.environ["HOOKSD_CONFIG_DIR"])
PROJECT = os.environ["HOOKSD_TEST_PROJECT"]

#: The daemon's program, for tests that start one of their own.
PROGRAM = os.environ["HOOKSD_TEST_PROGRAM"]

#: How long anything here may take. Seconds of a busy machine.
PATIENCE = 60


class Daemon:
    """A daemon of a test's own, with a config dir and a project of its own: it can be ended and started anew."""

    def __init__(self, folder: str, settings: bool = False) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.socket = str(self.folder / "run" / "s")
        self.project = str(self.folder / "project")
        for name in ("config", "home", "project/.deepagents"):
            (self.folder / name).mkdir(parents=True)
        # Where it listens is either said by its settings, or to it alone.
        self._arguments = [] if settings else ["--socket", self.socket]
        if settings:
            (self.folder / "config" / "hooksd.toml").write_text(f"socket = {json.dumps(self.socket)}\n")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and comes back when it listens."""
        self._process = subprocess.Popen(
            [PROGRAM, *self._arguments],
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + PATIENCE
        while True:
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    return probe.connect(self.socket)
                except OSError:
                    assert self._process.poll() is None and time.monotonic() < deadline, "the daemon does not listen"
            time.sleep(0.01)

    def variables(self) -> dict[str, str]:
        """Its environment."""
        config = str(self.folder / "config")
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "HOOKSD_CONFIG_DIR": config}

    def kill(self) -> None:
        """Ends it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)

    def stop(self) -> None:
        """Tells it to end, and waits until it has."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def user(self, document: dict[str, Any]) -> None:
        (self.folder / "config" / "hooks.json").write_text(json.dumps(document))

    def of_project(self, document: dict[str, Any]) -> None:
        Path(self.project, ".deepagents", "hooks.json").write_text(json.dumps(document))

    def opening(self, **more: Any) -> dict[str, Any]:
        return {"thread_id": "t", "cwd": self.project, "mode": "interactive", **more}

    def before_tool(self, args: Any = None) -> dict[str, Any]:
        return before_tool(args, cwd=self.project)

    def has(self, name: str) -> bool:
        """Whether a handler has made this file in the project."""
        return Path(self.project, name).exists()

    def lines(self, name: str) -> int:
        """How many lines handlers have written into this file."""
        return len(Path(self.project, name).read_text().splitlines()) if self.has(name) else 0


@contextmanager
def daemon(**options: Any) -> Iterator[Daemon]:
    """A daemon of the test's own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="hooksd-") as folder:
        one = Daemon(folder, **options)
        try:
            one.start()
            yield one
        finally:
            one.stop()


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


def invocation(event: dict[str, Any], cwd: str = PROJECT) -> dict[str, Any]:
    return {"context": {"thread_id": "t", "cwd": cwd, "approval_mode": "manual"}, "event": event}


def before_tool(args: Any = None, name: str = "execute", cwd: str = PROJECT) -> dict[str, Any]:
    call = {"id": "c", "name": name, "args": {"command": "ls"} if args is None else args}
    return invocation({"event": "PreToolUse", "call": call}, cwd)


START = invocation({"event": "SessionStart", "cause": "startup"})


#: One of each event.
EVENTS: list[dict[str, Any]] = [
    {"event": "SessionStart", "cause": "startup"},
    {"event": "UserPromptSubmit", "prompt": "hi"},
    {"event": "SessionEnd", "cause": "other"},
    {"event": "PermissionRequest", "call": {"id": "c", "name": "execute", "args": {}}},
    {"event": "Notification", "notification": {"type": "permission_prompt", "message": "m"}},
    {"event": "PreToolUse", "call": {"id": "c", "name": "execute", "args": {}}},
    {"event": "PostToolUse", "call": {"id": "c", "name": "execute", "args": {}}, "result": "ok"},
    {"event": "PostToolUseFailure", "call": {"id": "c", "name": "execute", "args": {}}, "error": "e"},
    {"event": "PreCompact", "trigger": "auto"},
    {"event": "Stop", "continuation_count": 0, "last_assistant_message": "x"},
    {"event": "SubagentStart", "agent": {"id": "a", "name": "n"}},
    {"event": "SubagentStop", "agent": {"id": "a", "name": "n"}, "continuation_count": 0, "last_assistant_message": "x"},
]
