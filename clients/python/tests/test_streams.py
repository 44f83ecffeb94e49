"""Subscriptions: against the real daemon where it has them, and against a scripted one for what is hard to provoke."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hooksd_client import AsyncClient, Client

from . import world

#: What the scripted daemon sends before and after its answer to `events/subscribe`.
EARLY = {"subscription": 7, "seq": 1, "kind": "session"}
OTHERS = {"subscription": 8, "seq": 2, "kind": "session"}
GAP = {"subscription": 7, "lost": 3}


@contextmanager
def scripted() -> Iterator[str]:
    """The path of a daemon that answers `events/subscribe`, with an item before and after the answer, then drops it."""

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as lines:

            def send(**message: Any) -> None:
                connection.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

            request = json.loads(lines.readline())
            assert request["method"] == "events/subscribe" and request["params"] == {"kinds": ["session"]}, request
            send(method="events/item", params=EARLY)
            send(id=request["id"], result={"subscription": 7, "seq": 0})
            send(method="events/item", params=OTHERS)
            send(method="events/gap", params=GAP)
            send(method="events/dropped", params={"subscription": 7, "reason": "slow", "lost": 9})
            lines.readline()

    with world.nobody() as (path, listener):
        server = threading.Thread(target=serve, args=[listener])
        server.start()
        yield path
        server.join(world.PATIENCE)


EXPECTED = [
    {**EARLY, "method": "events/item"},
    {**GAP, "method": "events/gap"},
    {"subscription": 7, "reason": "slow", "lost": 9, "method": "events/dropped"},
]


class Scripted(unittest.TestCase):
    def test_items_are_those_of_the_subscription_also_before_its_answer(self) -> None:
        with scripted() as path, Client(path, timeout=world.PATIENCE) as hooksd:
            subscription = hooksd.subscribe(kinds=["session"])
            self.assertEqual(subscription.info, {"subscription": 7, "seq": 0})
            self.assertEqual(list(subscription), EXPECTED)
            others = next(hooksd.notifications(timeout=world.PATIENCE))
            self.assertIn(others.params, [EARLY, OTHERS])

    def test_the_same_with_asyncio(self) -> None:
        async def listen(path: str) -> list[Any]:
            async with AsyncClient(path, timeout=world.PATIENCE) as hooksd:
                subscription = await hooksd.subscribe(kinds=["session"])
                return [item async for item in subscription]

        with scripted() as path:
            self.assertEqual(asyncio.run(listen(path)), EXPECTED)


class Real(unittest.TestCase):
    def test_what_the_daemon_does_is_heard_as_it_does_it(self) -> None:
        with Client() as hooksd:
            world.user(world.hooks("PreToolUse", "exit 2"))
            session = hooksd.call("session/open", world.opening("t"))["session"]
            subscription = hooksd.subscribe(kinds=["decision"], sessions=[session])
            hooksd.invoke(session, invocation=world.before_tool())
            item = subscription.get(world.PATIENCE)
            assert item is not None
            self.assertEqual((item["method"], item["kind"], item["event"]), ("events/item", "decision", "PreToolUse"))
            subscription.close()
            self.assertEqual(list(subscription), [])
