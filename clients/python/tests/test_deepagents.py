"""dcode's engine seam against the real daemon."""

from __future__ import annotations

import asyncio
import json
import os
import unittest
from pathlib import Path
from dataclasses import dataclass, replace
from typing import Any

from hooksd_client import CallTimeout, Refused
from hooksd_client.deepagents import HookEngine, HookProgress, HooksdEngine

from . import world


class Model:
    """As pydantic's: `model_dump(mode="json")`, with dcode's own bookkeeping in it."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        assert mode == "json"
        context = {**self.value["context"], "prompt_id": None, "effort": None, "agent": None, "transcript_revision": "r1"}
        return {"context": context, "event": self.value["event"]}


@dataclass
class OwnProgress:
    operation_id: str
    handler_id: str
    event: str
    active: bool
    message: str


async def opened(**more: Any) -> HooksdEngine[Any]:
    engine: HooksdEngine[Any] = await HooksdEngine.open(thread_id="t", cwd=world.PROJECT, **more)
    return engine


class Engine(unittest.IsolatedAsyncioTestCase):
    async def test_it_gives_the_decision_of_dcodes_own_engine(self) -> None:
        say = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "more"}})
        world.user(world.hooks("PreToolUse", f"cat > seen.json; echo '{say}'", "echo no >&2; exit 2"))
        async with await opened() as engine:
            seam: HookEngine[Any] = engine
            expected = {
                "event": "PreToolUse",
                "continue_processing": True,
                "stop_reason": None,
                "user_notices": [],
                "terminal_sequences": [],
                "diagnostics": [],
                "permission": {"behavior": "deny", "reason": "no", "interrupt": False},
                "context": ["more"],
            }
            for event in (world.before_tool(), Model(world.before_tool())):
                transcript = os.path.join(world.PROJECT, "t.jsonl")
                decision = await seam.run(event, transcript_path=transcript, agent_transcript_path=None)
                self.assertEqual(decision, expected)
                seen = json.loads(Path(world.PROJECT, "seen.json").read_text())
                self.assertEqual(seen["transcript_path"], transcript)
                self.assertEqual((seen["tool_name"], seen["tool_input"]), ("Bash", {"command": "ls"}))
            self.assertEqual(engine.configured_server_events, ("PreToolUse",))
            self.assertEqual(len(engine.snapshot_id), 64)

    async def test_handlers_have_the_agents_environment(self) -> None:
        world.user(world.hooks("SessionStart", 'echo "$MINE|$MY_TOKEN|$PATH"'))
        env = {"MINE": "here", "MY_TOKEN": "secret", "PATH": os.environ["PATH"]}
        async with await opened(env=env) as engine:
            decision = await engine.run(world.START)
            self.assertEqual(decision["context"], [f"here||{env['PATH']}"])

    async def test_progress_is_told_and_decides_nothing(self) -> None:
        world.user(world.hooks("SessionStart", "true", statusMessage=" Looking "))
        async with await opened(progress=OwnProgress) as engine:
            told: list[OwnProgress] = []

            def tell(progress: OwnProgress) -> None:
                told.append(progress)
                raise RuntimeError("a broken display")

            with self.assertLogs("hooksd_client", "WARNING"):
                decision = await engine.run(world.START, on_progress=tell)
            self.assertTrue(decision["continue_processing"])
            self.assertEqual([(one.active, one.message) for one in told], [(True, "Looking"), (False, "Looking")])
            self.assertEqual({(one.handler_id, one.event) for one in told}, {("SessionStart:0:0", "SessionStart")})
            self.assertEqual(len({one.operation_id for one in told}), 1)
        async with await opened() as engine:
            kinds: list[object] = []
            await engine.run(world.START, on_progress=kinds.append)
            self.assertTrue(kinds and all(isinstance(one, HookProgress) for one in kinds))

    async def test_events_run_at_once_and_are_cancelled_each(self) -> None:
        world.user(world.hooks("PreToolUse", """read p; case $p in *slow*) exec sleep 600;; esac; exit 2"""))
        async with await opened() as engine:
            slow = asyncio.create_task(engine.run(world.before_tool({"command": "slow"})))
            quick = await asyncio.wait_for(engine.run(world.before_tool({"command": "q"})), world.PATIENCE)
            self.assertEqual(quick["permission"]["behavior"], "deny")
            slow.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await slow
            self.assertEqual((await engine.run(world.before_tool()))["permission"]["behavior"], "deny")

    async def test_a_model_of_a_decision_is_made(self) -> None:
        world.user(world.hooks("PreToolUse", "exit 2"))
        async with await opened(decision=lambda it: it["permission"]["behavior"]) as engine:
            self.assertEqual(await engine.run(world.before_tool()), "deny")

    async def test_a_lost_connection_and_a_closed_session_are_made_anew(self) -> None:
        world.user(world.hooks("PreToolUse", "echo x >> runs; exit 2"))
        runs = os.path.join(world.PROJECT, "runs")
        async with await opened() as engine:
            session = engine.info["session"]
            with self.assertLogs("hooksd_client", "WARNING"):
                await engine._session._client.close()
                self.assertEqual((await engine.run(world.before_tool()))["permission"]["behavior"], "deny")
                self.assertEqual(engine.info["session"], session)
                await engine._session._client.call("session/close", {"session": session})
                self.assertEqual((await engine.run(world.before_tool()))["permission"]["behavior"], "deny")
            self.assertNotEqual(engine.info["session"], session)
        self.assertEqual(Path(runs).read_text(), "x\nx\n")
        os.remove(runs)

    async def test_it_takes_the_place_of_the_runtimes_engine(self) -> None:
        @dataclass(frozen=True)
        class Runtime:
            """As dcode's, as far as engines go."""

            thread_id: str
            engine: HookEngine[Any] | None

        world.user(world.hooks("PreToolUse", "exit 2"))
        async with HooksdEngine.open(thread_id="t", cwd=world.PROJECT) as engine:
            runtime = replace(Runtime("t", None), engine=engine)
            assert runtime.engine is not None
            decision = await runtime.engine.run(world.before_tool(), transcript_path=None)
            self.assertEqual(decision["permission"]["behavior"], "deny")

    async def test_an_event_has_a_timeout_and_an_environment(self) -> None:
        world.user(world.hooks("SessionStart", 'echo "$MINE"; if [ "$MINE" = slow ]; then exec sleep 600; fi'))
        async with await opened() as engine:
            env = {"PATH": os.environ["PATH"], "MINE": "event"}
            self.assertEqual((await engine.run(world.START, env=env))["context"], ["event"])
            with self.assertRaisesRegex(CallTimeout, "no decision on SessionStart within 0.3 s"):
                await engine.run(world.START, env={**env, "MINE": "slow"}, timeout=0.3)
        with world.nobody() as (path, _), self.assertRaises(CallTimeout):
            await opened(socket=path, timeout=0.1)

    async def test_what_is_no_invocation_is_refused(self) -> None:
        world.user(world.hooks("PreToolUse", "exit 2"))
        async with await opened() as engine:
            with self.assertRaises(TypeError):
                await engine.run("PreToolUse")
            wrong = world.before_tool()
            wrong["event"]["typo"] = 1
            with self.assertRaises(Refused) as refused:
                await engine.run(wrong)
            self.assertEqual(refused.exception.code, -32602)
