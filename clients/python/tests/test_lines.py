"""Lines that are too long, and errors without an id: no call waits for an answer that never comes."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hooksd_client import MAX_REQUEST, AsyncClient, Client, HooksdError, Refused, RequestTooLong

from . import world

#: A request that is as long as a line may be but for its params.
BARE = len('{"jsonrpc":"2.0","method":"session/list","params":{"x":""},"id":1}')

#: Waits for a file if the event is a slow one.
SLOW = "if grep -q slow; then touch slow; until [ -e go ]; do sleep 0.02; done; fi; exit 2"


def params(size: int) -> dict[str, str]:
    return {"x": "x" * (size - BARE)}


class TooLong(unittest.TestCase):
    def test_a_request_that_is_too_long_is_not_sent(self) -> None:
        expected = f"the request session/list is {MAX_REQUEST + 1} bytes long, hooksd takes {MAX_REQUEST}"
        with Client(timeout=world.PATIENCE) as hooksd:
            with self.assertRaisesRegex(RequestTooLong, expected) as refused:
                hooksd.call("session/list", params(MAX_REQUEST + 1))
            self.assertEqual((refused.exception.size, refused.exception.limit), (MAX_REQUEST + 1, MAX_REQUEST))
            with self.assertRaises(RequestTooLong):
                hooksd.notify("x", params(MAX_REQUEST + 100))
            # One byte less is read by the daemon: it says what is wrong with the params.
            with self.assertRaises(Refused) as read:
                Client(timeout=world.PATIENCE).call("session/list", params(MAX_REQUEST))
            self.assertEqual(read.exception.code, -32602)
            self.assertEqual(hooksd.call("daemon/status")["protocol_version"], 1)

        async def ask() -> None:
            async with AsyncClient(timeout=world.PATIENCE) as hooksd:
                with self.assertRaisesRegex(RequestTooLong, expected):
                    await hooksd.call("session/list", params(MAX_REQUEST + 1))
                self.assertEqual((await hooksd.call("daemon/status"))["protocol_version"], 1)

        asyncio.run(ask())

    @mock.patch("hooksd_client._wire.MAX_REQUEST", 64 * 1024 * 1024)
    def test_the_daemons_error_without_an_id_ends_the_longest_request_and_no_other(self) -> None:
        """As if the daemon's limit were lower than what the client knows."""
        world.user(world.hooks("PreToolUse", SLOW))
        slow, go = Path(world.PROJECT, "slow"), Path(world.PROJECT, "go")
        long = {"x": "x" * (MAX_REQUEST + 1)}
        event = {"session": world.opening("t"), "invocation": world.before_tool({"command": "slow"})}

        def blocking() -> Any:
            with Client(timeout=world.PATIENCE) as hooksd:
                _, answer = hooksd.start("hook/invoke", event)
                with self.assertRaisesRegex(Refused, "longer than 16777216 bytes") as refused:
                    hooksd.call("session/list", long)
                self.assertEqual(refused.exception.code, -32001)
                self.assertFalse(answer.done())
                go.touch()
                return answer.result(world.PATIENCE)

        async def with_asyncio() -> Any:
            async with AsyncClient(timeout=world.PATIENCE) as hooksd:
                answer = asyncio.create_task(hooksd.call("hook/invoke", event))
                with self.assertRaises(Refused) as refused:
                    await hooksd.call("session/list", long)
                self.assertEqual(refused.exception.code, -32001)
                self.assertFalse(answer.done())
                go.touch()
                return await answer

        for ask in (blocking, lambda: asyncio.run(with_asyncio())):
            self.assertEqual(ask()["decision"]["permission"]["behavior"], "deny")
            os.remove(go)
            slow.unlink(missing_ok=True)


@contextmanager
def scripted(requests: int, *answers: dict[str, Any], then: int = 0) -> Iterator[tuple[str, list[Any]]]:
    """The path of a daemon that reads so many requests, answers and reads `then` more lines; and the later lines."""
    later: list[Any] = []
    with world.nobody() as (path, listener):

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                for _ in range(requests):
                    lines.readline()
                for answer in answers:
                    connection.sendall(json.dumps({"jsonrpc": "2.0", **answer}).encode() + b"\n")
                for _ in range(then):
                    later.append(json.loads(lines.readline()))

        server = threading.Thread(target=serve)
        server.start()
        yield path, later
        server.join(world.PATIENCE)


def without_id(code: int, **data: Any) -> dict[str, Any]:
    return {"id": None, "error": {"code": code, "message": "what", **({"data": data} if data else {})}}


def blocking(path: str, lines: list[Any]) -> list[HooksdError]:
    with Client(path, timeout=world.PATIENCE) as hooksd, ThreadPoolExecutor(len(lines)) as threads:
        asked = [threads.submit(hooksd.call, "x", params) for params in lines]
        return [error for one in asked if isinstance(error := one.exception(), HooksdError)]


def with_asyncio(path: str, lines: list[Any]) -> list[HooksdError]:
    async def ask() -> list[Any]:
        async with AsyncClient(path, timeout=world.PATIENCE) as hooksd:
            return await asyncio.gather(*[hooksd.call("x", params) for params in lines], return_exceptions=True)

    return [error for error in asyncio.run(ask()) if isinstance(error, HooksdError)]


class WithoutId(unittest.TestCase):
    def test_it_ends_the_only_request_there_is(self) -> None:
        for ask in (blocking, with_asyncio):
            with scripted(1, without_id(-32700)) as (path, _):
                self.assertEqual([str(error) for error in ask(path, [{}])], ["what (-32700)"])

    def test_it_ends_every_request_that_can_be_meant_and_the_daemon_is_told(self) -> None:
        said = "what; it is about one of 2 requests and does not say which, so all of them end (-32700)"
        for ask in (blocking, with_asyncio):
            with scripted(2, without_id(-32700), then=2) as (path, later):
                self.assertEqual([str(error) for error in ask(path, [{}, {}])], [said, said])
            self.assertEqual([line["method"] for line in later], ["$/cancelRequest"] * 2)
            self.assertEqual({line["params"]["id"] for line in later}, {1, 2})

    def test_a_line_that_was_cut_is_a_long_one_and_is_sent_again(self) -> None:
        done = {"result": "done"}
        for ask in (blocking, with_asyncio):
            with scripted(2, without_id(-32005, retry_after_ms=20), {"id": 1, **done}, then=1) as (path, later):
                # Whichever of them is the first, the long one is asked again; nobody answers that.
                ended = ask(path, [{"x": "x" * 100_000}, {}])
            self.assertEqual(len(later[0]["params"].get("x", "")), 100_000)
            self.assertTrue(all("ended" in str(error) for error in ended), ended)

    def test_a_connection_too_many_says_why_it_ends(self) -> None:
        said = "the connection to hooksd (has )?ended.*: what \\(-32005\\)"
        for ask in (blocking, with_asyncio):
            with scripted(0, without_id(-32005)) as (path, _):
                (error,) = ask(path, [{}])
            self.assertRegex(str(error), f"{said}|the connection to hooksd (has )?ended")
