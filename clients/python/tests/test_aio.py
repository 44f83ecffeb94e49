"""The asyncio client against the real daemon."""

from __future__ import annotations

import asyncio
import os
import tempfile
import unittest
from pathlib import Path

from hooksd_client import AsyncClient, CallTimeout, ConnectionEnded, HooksdError, NotRunning, Refused

from . import world


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def test_many_events_at_once_each_get_their_own_answer(self) -> None:
        world.user(world.hooks("PreToolUse", "cat"))
        async with AsyncClient() as hooksd:
            session = (await hooksd.call("session/open", world.opening("t")))["session"]
            ids = [f"00000000-0000-4000-8000-{number:012}" for number in range(20)]
            event = world.before_tool({"command": "x" * 50_000})
            asked = [hooksd.invoke(session, invocation=event, invocation_id=id) for id in ids]
            answers = await asyncio.wait_for(asyncio.gather(*asked), world.PATIENCE)
        self.assertEqual([answer["invocation_id"] for answer in answers], ids)

    async def test_a_deadline_and_a_cancelled_task_stop_the_handler(self) -> None:
        pid = os.path.join(world.PROJECT, "pid")
        world.user(world.hooks("PreToolUse", f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600"))
        async with AsyncClient() as hooksd:
            session = (await hooksd.call("session/open", world.opening("t")))["session"]
            for how in ("deadline", "cancel"):
                if os.path.exists(pid):
                    os.remove(pid)
                seconds = 2 if how == "deadline" else world.PATIENCE
                task = asyncio.create_task(
                    hooksd.invoke(session, invocation=world.before_tool(), timeout=seconds)
                )
                await _until(lambda: os.path.exists(pid))
                if how == "cancel":
                    task.cancel()
                with self.assertRaises(CallTimeout if how == "deadline" else asyncio.CancelledError):
                    await task
                number = int(Path(pid).read_text())
                await _until(lambda: not _runs(number))
            # The connection goes on.
            self.assertEqual((await hooksd.call("daemon/status"))["protocol_version"], 1)

    async def test_errors_and_the_end(self) -> None:
        hooksd = await AsyncClient.connect()
        with self.assertRaises(Refused) as refused:
            await hooksd.call("zzz")
        self.assertEqual(refused.exception.code, -32601)
        await hooksd.close()
        with self.assertRaises(ConnectionEnded):
            await hooksd.call("daemon/status")
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(NotRunning):
            await AsyncClient.connect(os.path.join(folder, "s"))

    async def test_it_may_be_entered_with_and_without_await_and_connects_once(self) -> None:
        async with await AsyncClient.connect() as hooksd:
            self.assertEqual((await hooksd.call("daemon/status"))["protocol_version"], 1)
            async with hooksd as same:
                self.assertIs(same, hooksd)
        self.assertTrue(hooksd.is_closed)
        async with AsyncClient.connect() as hooksd:
            self.assertEqual((await hooksd.call("daemon/status"))["protocol_version"], 1)
        self.assertTrue(hooksd.is_closed)
        with self.assertRaises(ConnectionEnded):
            await hooksd.__aenter__()
        with world.nobody() as (path, listener):
            async with await AsyncClient.connect(path):
                listener.settimeout(world.PATIENCE)
                listener.accept()[0].close()
                listener.setblocking(False)
                with self.assertRaises(BlockingIOError):
                    listener.accept()

    async def test_notifications_are_heard(self) -> None:
        world.user(world.hooks("SessionStart", "true"))
        async with AsyncClient() as hooksd:
            await hooksd.invoke(world.opening("t"), invocation=world.START, progress=True)
            heard = []
            async for note in hooksd.notifications():
                heard.append((note.method, note.params["active"]))
                if len(heard) == 2:
                    break
        self.assertEqual(heard, [("hook/progress", True), ("hook/progress", False)])

    async def test_what_a_daemon_that_takes_nothing_is_asked_has_a_bound(self) -> None:
        with world.nobody() as (path, _):
            hooksd = await AsyncClient.connect(path, timeout=0.05)
            told = []
            for _ in range(8):
                try:
                    await hooksd.call("x", {"long": "x" * 4_000_000})
                except HooksdError as error:
                    told.append(type(error))
            many = told.index(HooksdError)
            self.assertIn(many, range(4, 7))
            self.assertEqual(told, [CallTimeout] * many + [HooksdError] * (8 - many))
            await hooksd.close()


async def _until(condition: object) -> None:
    assert callable(condition)

    async def wait() -> None:
        while not condition():
            await asyncio.sleep(0.02)

    await asyncio.wait_for(wait(), world.PATIENCE)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
