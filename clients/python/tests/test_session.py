"""Sessions that outlive their connections, blocking and with asyncio, against real daemons that end and are started anew."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import tempfile
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hooksd_client import (
    AsyncSession,
    CallTimeout,
    Client,
    ConnectionEnded,
    HookProgress,
    HooksdError,
    NotRunning,
    Refused,
    Session,
    SessionChanged,
)
from hooksd_client import events
from hooksd_client._lost import Again, differences

from . import world

logger = logging.getLogger("hooksd_client")

DENY = "echo no >&2; exit 2"

#: Runs until there is a file `go`; a line in `began` for each time.
WAITS = "echo x >> began; until [ -e go ]; do sleep 0.02; done; exit 2"


class Blocking:
    """The blocking session, each call in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @classmethod
    async def open(cls, opening: dict[str, Any], **options: Any) -> Blocking:
        return cls(await asyncio.to_thread(Session.open, opening, **options))

    async def run(self, event: Any, **options: Any) -> Any:
        return await asyncio.to_thread(lambda: self.session.run(event, **options))

    async def close_in_the_daemon(self) -> None:
        await asyncio.to_thread(self.session._client.call, "session/close", {"session": self.session.info["session"]})

    def cannot_write(self) -> None:
        self.session._client._socket.shutdown(socket.SHUT_WR)

    async def close(self) -> None:
        await asyncio.to_thread(self.session.close)


class WithAsyncio:
    """The session for asyncio."""

    def __init__(self, session: AsyncSession) -> None:
        self.session = session
        self.run: Callable[..., Any] = session.run
        self.close = session.close

    @classmethod
    async def open(cls, opening: dict[str, Any], **options: Any) -> WithAsyncio:
        return cls(await AsyncSession.open(opening, **options))

    async def close_in_the_daemon(self) -> None:
        await self.session._client.call("session/close", {"session": self.session.info["session"]})

    def cannot_write(self) -> None:
        assert self.session._client._writer is not None
        self.session._client._writer.get_extra_info("socket").shutdown(socket.SHUT_WR)


async def until(condition: Callable[[], bool]) -> None:
    async def wait() -> None:
        while not condition():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(wait(), world.PATIENCE)


class Cases:
    class Sessions(unittest.IsolatedAsyncioTestCase):
        kind: Any

        async def asyncSetUp(self) -> None:
            # A loop that is being debugged tells of slow callbacks, and daemons are started between two awaits here.
            asyncio.get_running_loop().set_debug(False)
            self.logged: list[str] = []
            handler = logging.Handler()
            handler.emit = lambda record: self.logged.append(record.getMessage())  # type: ignore[method-assign]
            logger.addHandler(handler)
            self.addCleanup(logger.removeHandler, handler)
            context = world.daemon()
            self.daemon = context.__enter__()
            self.addCleanup(context.__exit__, None, None, None)

        async def opened(self, opening: dict[str, Any] | None = None, **options: Any) -> Any:
            session = await self.kind.open(opening or self.daemon.opening(), socket=self.daemon.socket, **options)
            self.addAsyncCleanup(session.close)
            return session

        async def behavior(self, session: Any, **options: Any) -> str:
            decision = await session.run(self.daemon.before_tool(), **options)
            return str(decision["permission"]["behavior"])

        @contextmanager
        def again(self) -> Iterator[list[str]]:
            """Something is asked or opened again within, or has been just before; that is told, and what is is given."""
            yield self.logged
            self.assertTrue(self.logged)
            self.logged.clear()

        async def test_a_daemon_started_anew_has_the_same_session_or_it_is_opened_again(self) -> None:
            self.daemon.user(world.hooks("PreToolUse", DENY))
            session = await self.opened()
            before = session.session.info
            for end in (self.daemon.kill, self.daemon.stop):
                end()
                self.daemon.start()
                with self.again():
                    self.assertEqual(await self.behavior(session), "deny")
            self.assertEqual(session.session.info["snapshot"]["id"], before["snapshot"]["id"])
            self.assertNotEqual(session.session.info["session"], before["session"])

        async def test_a_daemon_that_comes_back_a_moment_later_is_waited_for(self) -> None:
            self.daemon.user(world.hooks("PreToolUse", DENY))
            session = await self.opened()
            self.daemon.kill()
            with self.again() as told:
                asked = asyncio.create_task(self.behavior(session))
                await until(lambda: any("no daemon answers" in line for line in told))
                self.daemon.start()
                self.assertEqual(await asked, "deny")

        async def test_a_changed_document_of_the_project_is_an_error_and_no_quieter_session(self) -> None:
            guard = world.hooks("PreToolUse", DENY)
            self.daemon.of_project(guard)
            session = await self.opened(self.daemon.opening(trust="explicit"))
            self.assertEqual(await self.behavior(session), "deny")
            self.daemon.kill()
            self.daemon.of_project(world.hooks("SessionStart", "true"))
            self.daemon.start()
            document = f"{self.daemon.project}/.deepagents/hooks.json"
            for _ in range(2):
                with self.assertRaises(SessionChanged) as changed:
                    await self.behavior(session)
                self.assertIn(f"{document} has changed", changed.exception.differences)
                self.assertIn("there are no handlers any more for PreToolUse", changed.exception.differences)
                self.assertIn(f"{document} has changed; there are no handlers", str(changed.exception))
                self.assertEqual(changed.exception.after["snapshot"]["events"], ["SessionStart"])
            # Who accepts it opens a session.
            self.assertEqual(await self.behavior(await self.opened(self.daemon.opening(trust="explicit"))), "none")
            # Who undoes it goes on; a daemon notices within a second.
            self.daemon.of_project(guard)
            await until_opened(self.daemon, ["PreToolUse"])
            self.assertEqual(await self.behavior(session), "deny")

        async def test_a_project_that_is_no_longer_trusted_is_an_error(self) -> None:
            self.daemon.of_project(world.hooks("PreToolUse", DENY))
            with Client(self.daemon.socket) as hooksd:
                status = hooksd.call("trust/status", {"cwd": self.daemon.project})
                hooksd.call("trust/grant", {"cwd": self.daemon.project, "fingerprint": status["fingerprint"]})
            session = await self.opened()
            follows = await self.opened(self.daemon.opening(follow=True))
            self.assertEqual(await self.behavior(session), "deny")
            self.daemon.stop()
            self.daemon.start()
            with Client(self.daemon.socket) as hooksd:
                hooksd.call("trust/revoke", {"cwd": self.daemon.project})
            for one in (session, follows):
                with self.assertRaisesRegex(SessionChanged, "the project is no longer trusted") as changed:
                    await self.behavior(one)
            self.assertEqual(changed.exception.before["project"]["trusted"], True)
            self.assertEqual(changed.exception.after["project"]["trusted"], False)

        async def test_a_session_that_a_living_daemon_has_closed_has_to_be_the_same_too(self) -> None:
            self.daemon.user(world.hooks("PreToolUse", DENY))
            session = await self.opened()
            follows = await self.opened(self.daemon.opening(follow=True))
            await session.close_in_the_daemon()
            with self.again():
                self.assertEqual(await self.behavior(session), "deny")
            await session.close_in_the_daemon()
            await follows.close_in_the_daemon()
            self.daemon.user({"hooks": {}})
            await until_opened(self.daemon, [])
            with self.assertRaisesRegex(SessionChanged, "no handlers any more for PreToolUse"):
                await self.behavior(session)
            # Who follows the documents has asked for their edits.
            self.assertEqual(await self.behavior(follows), "none")

        async def test_a_write_that_fails_is_a_lost_connection(self) -> None:
            self.daemon.user(world.hooks("PreToolUse", f"if grep -q slow; then {WAITS}; fi; {DENY}"))
            session = await self.opened()
            slow = asyncio.create_task(session.run(self.daemon.before_tool({"command": "slow"})))
            await until(lambda: self.daemon.has("began"))
            # While an answer is still to come, the daemon keeps the other direction open: nothing is read that would
            # tell of the end.
            session.cannot_write()
            with self.again():
                self.assertEqual(await self.behavior(session), "deny")
                Path(self.daemon.project, "go").touch()
                self.assertEqual((await slow)["permission"]["behavior"], "deny")

        async def test_progress_ends_for_each_handler_that_began(self) -> None:
            self.daemon.user(world.hooks("PreToolUse", WAITS))
            self.addCleanup(lambda: Path(self.daemon.project, "go").touch())
            session = await self.opened()
            told: list[HookProgress] = []

            def ask(**options: Any) -> asyncio.Task[Any]:
                told.clear()
                return asyncio.create_task(session.run(self.daemon.before_tool(), on_progress=told.append, **options))

            def heard() -> list[bool]:
                self.assertLessEqual({one.handler_id for one in told}, {"PreToolUse:0:0"})
                return [one.active for one in told]

            with self.assertRaises(CallTimeout):
                await ask(timeout=1)
            self.assertEqual(heard(), [True, False])
            if self.kind is WithAsyncio:
                asked = ask()
                await until(lambda: heard() == [True])
                asked.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await asked
                self.assertEqual(heard(), [True, False])
            ran = self.daemon.lines("began")
            asked = ask()
            # Until a handler has begun by itself, it holds what the daemon holds, its socket among that: no other daemon
            # could take its place.
            await until(lambda: heard() == [True] and self.daemon.lines("began") > ran)
            self.daemon.kill()
            self.daemon.start()
            with self.again():
                await until(lambda: heard() == [True, False, True])
                Path(self.daemon.project, "go").touch()
                await asked
            self.assertEqual(heard(), [True, False, True, False])

        async def test_progress_ends_when_nobody_comes_back(self) -> None:
            self.daemon.user(world.hooks("PreToolUse", WAITS))
            session = await self.opened()
            told: list[HookProgress] = []
            asked = asyncio.create_task(session.run(self.daemon.before_tool(), on_progress=told.append, timeout=1))
            await until(lambda: bool(told))
            self.daemon.kill()
            Path(self.daemon.project, "go").touch()
            with self.again(), self.assertRaises((NotRunning, CallTimeout)):
                await asked
            self.assertEqual([one.active for one in told], [True, False])

        async def test_opening_and_running_have_timeouts(self) -> None:
            with world.nobody() as (path, _):
                with self.assertRaisesRegex(CallTimeout, "no session within 0.2 s"):
                    await self.kind.open(self.daemon.opening(), socket=path, timeout=0.2)
            self.daemon.user(world.hooks("PreToolUse", WAITS))
            self.addCleanup(lambda: Path(self.daemon.project, "go").touch())
            session = await self.opened(run_timeout=0.3)
            for options, seconds in [({}, "0.3"), ({"timeout": 0.2}, "0.2")]:
                with self.assertRaisesRegex(CallTimeout, f"no decision on PreToolUse within {seconds} s"):
                    await self.behavior(session, **options)

        async def test_the_timeout_is_of_all_attempts_together(self) -> None:
            session = await self.opened()
            self.daemon.kill()
            os.remove(self.daemon.socket)
            began = time.monotonic()
            # Takes connections, and answers nothing.
            with socket.socket(socket.AF_UNIX) as stuck:
                stuck.bind(self.daemon.socket)
                stuck.listen()
                with self.assertRaisesRegex(CallTimeout, "no decision on PreToolUse within 0.5 s"):
                    await self.behavior(session, timeout=0.5)
                self.assertLess(time.monotonic() - began, 10)
                os.remove(self.daemon.socket)
            began = time.monotonic()
            with self.again(), self.assertRaises((NotRunning, CallTimeout)):
                await self.behavior(session, timeout=0.5)
            self.assertLess(time.monotonic() - began, 10)

        async def test_an_event_may_have_an_environment_of_its_own(self) -> None:
            self.daemon.user(world.hooks("SessionStart", 'echo "$MINE"'))
            env = {"PATH": os.environ["PATH"]}
            session = await self.opened(self.daemon.opening(env={**env, "MINE": "the session's"}))

            async def context(**options: Any) -> Any:
                return (await session.run(world.START, **options))["context"]

            asked = [context(env={**env, "MINE": mine}) for mine in "abc"]
            self.assertEqual(await asyncio.gather(*asked, context()), [["a"], ["b"], ["c"], ["the session's"]])
            # It reads the documents anew: they have to be those of the session.
            self.daemon.user({"hooks": {}})
            await until_opened(self.daemon, [])
            with self.assertRaisesRegex(SessionChanged, "its documents have changed since"):
                await context(env=env)
            self.assertEqual(await context(), ["the session's"])

        async def test_the_decision_on_each_event_has_the_fields_of_its_type(self) -> None:
            session = await self.opened()
            for event in world.EVENTS:
                options = {"agent_transcript_path": "/t.jsonl"}
                decision = await session.run(world.invocation(event), **options)
                type_of_it: Any = events.DECISIONS[event["event"]]
                self.assertEqual(set(decision), set(type_of_it.__required_keys__), event)
            self.assertEqual([event["event"] for event in world.EVENTS], list(events.DECISIONS))
            payload = {"hook_event_name": "PreToolUse", "session_id": "t", "cwd": "/", "tool_name": "x", "tool_input": {}}
            self.assertEqual((await session.run(payload))["permission"]["behavior"], "none")

        async def test_what_is_no_event_and_no_option_is_refused(self) -> None:
            session = await self.opened()
            with self.assertRaisesRegex(TypeError, "run has no option 'tiemout'; it has timeout, env,"):
                await session.run(world.START, tiemout=1)
            with self.assertRaisesRegex(TypeError, "an event is an object, not str"):
                await session.run("PreToolUse")


class BlockingSessions(Cases.Sessions):
    kind = Blocking


class AsyncioSessions(Cases.Sessions):
    kind = WithAsyncio

    async def test_it_may_be_entered_with_and_without_await(self) -> None:
        async with AsyncSession.open(self.daemon.opening(), socket=self.daemon.socket) as session:
            self.assertEqual(await self.behavior(session), "none")
        async with await AsyncSession.open(self.daemon.opening(), socket=self.daemon.socket) as session:
            self.assertEqual(await self.behavior(session), "none")


async def until_opened(daemon: world.Daemon, events: list[str]) -> None:
    """Waits until new sessions have handlers for these events: the daemon has noticed an edit."""
    with Client(daemon.socket) as hooksd:
        opening = daemon.opening(trust="explicit")
        await until(lambda: hooksd.call("session/open", opening)["snapshot"]["events"] == events)


class Rules(unittest.TestCase):
    def test_what_was_not_run_is_asked_until_it_is_and_what_may_have_been_once_more(self) -> None:
        stops, cut = Refused(-32006, "stops"), Refused(-32006, "cut", {"cut": True})
        gone, absent, unknown = ConnectionEnded("x"), NotRunning("/s", "x"), Refused(-32002, "x")
        cases: list[tuple[list[HooksdError], list[float | None]]] = [
            ([stops, absent, stops, absent], [0.02] * 4),
            ([gone, stops, cut], [0.02, 0.02, None]),
            ([cut, gone], [0.02, None]),
            ([unknown, gone, unknown], [0, 0.02, None]),
            ([Refused(-32602, "x")], [None]),
        ]
        for asked, expected in cases:
            again = Again()
            self.assertEqual([again.pause(error, 1, sent=True) for error in asked], expected)
        self.assertEqual([again.pause(gone, 1, sent=False) for _ in range(3)], [0.02] * 3)
        self.assertIsNone(Again().pause(absent, 0.01, sent=False))

    def test_every_difference_is_named(self) -> None:
        def info(root: str, trusted: bool, environment: str, id: str, events: list[str], *sources: Any) -> dict[str, Any]:
            named = [{"path": path, "loaded": loaded, "fingerprint": print} for path, loaded, print in sources]
            return {
                "project": {"root": root, "trusted": trusted, "hooks_present": True},
                "environment": environment,
                "snapshot": {"id": id, "events": events, "sources": named},
            }

        sources = [("/a", True, "1"), ("/b", True, "1"), ("/c", False, "1"), ("/d", True, "1")]
        before = info("/p", True, "session", "a" * 64, ["Stop", "PreToolUse"], *sources)
        self.assertEqual(differences(before, before, follow=False), [])
        sources = [("/a", True, "2"), ("/b", False, "1"), ("/c", True, "1"), ("/e", True, "1")]
        after = info("/q", False, "daemon", "b" * 64, ["PreToolUse"], *sources)
        always = [
            "the project's root was /p and is /q",
            "the project is no longer trusted (/q)",
            "its environment was the session's and is the daemon's",
        ]
        self.assertEqual(differences(before, after, follow=True), always)
        self.assertEqual(
            differences(before, after, follow=False),
            [
                *always,
                "/a has changed",
                "/b counted and does not any more",
                "/c did not count and does",
                "/d counted and does not any more",
                "/e is new",
                "there are no handlers any more for Stop",
                "its snapshot was aaaaaaaaaaaa and is bbbbbbbbbbbb",
            ],
        )
