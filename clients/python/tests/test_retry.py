"""A daemon that is overrun, scripted: it is asked again on the same connection, and no longer than the call may take."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hooksd_client import AsyncClient, Client, Refused

from . import world

BUSY: dict[str, Any] = {"error": {"code": -32005, "message": "busy", "data": {"retry_after_ms": 30}}}
FULL: dict[str, Any] = {"error": {"code": -32005, "message": "full"}}
OTHER: dict[str, Any] = {"error": {"code": -32002, "message": "other", "data": {"retry_after_ms": 30}}}
DONE: dict[str, Any] = {"result": "done"}


@contextmanager
def scripted(script: list[dict[str, Any]]) -> Iterator[str]:
    """The path of a daemon that gives these answers to one connection, and takes each out of the script."""
    with world.nobody() as (path, listener):

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                for raw in lines:
                    answer = {"jsonrpc": "2.0", "id": json.loads(raw)["id"], **script.pop(0)}
                    connection.sendall(json.dumps(answer).encode() + b"\n")

        server = threading.Thread(target=serve)
        server.start()
        yield path
        server.join(world.PATIENCE)


def blocking(path: str, seconds: float) -> Any:
    with Client(path, timeout=seconds) as hooksd:
        return hooksd.call("x")


def with_asyncio(path: str, seconds: float) -> Any:
    async def ask() -> Any:
        async with AsyncClient(path, timeout=seconds) as hooksd:
            return await hooksd.call("x")

    return asyncio.run(ask())


class Overrun(unittest.TestCase):
    def test_what_it_refused_is_asked_again(self) -> None:
        for ask in (blocking, with_asyncio):
            script = [BUSY, FULL, BUSY, DONE]
            with scripted(script) as path:
                self.assertEqual(ask(path, world.PATIENCE), "done")
            self.assertEqual(script, [])

    def test_another_refusal_is_told_at_once(self) -> None:
        for ask in (blocking, with_asyncio):
            script = [BUSY, OTHER, DONE]
            with scripted(script) as path, self.assertRaises(Refused) as refused:
                ask(path, world.PATIENCE)
            self.assertEqual((refused.exception.message, script), ("other", [DONE]))

    def test_nothing_is_asked_after_the_deadline(self) -> None:
        for ask in (blocking, with_asyncio):
            script = [BUSY] * 64
            began = time.monotonic()
            with scripted(script) as path, self.assertRaises(Refused) as refused:
                ask(path, 0.1)
            self.assertEqual(refused.exception.message, "busy")
            self.assertTrue(59 <= len(script) < 64, len(script))
            self.assertLess(time.monotonic() - began, 10)
