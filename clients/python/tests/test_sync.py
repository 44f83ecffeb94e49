"""The blocking client against the real daemon."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any

from hooksd_client import CallTimeout, Client, ConnectionEnded, NotRunning, Refused

from . import world


class Blocking(unittest.TestCase):
    def test_an_event_goes_in_and_its_decision_comes_out(self) -> None:
        world.user(world.hooks("PreToolUse", "echo no >&2; exit 2"))
        with Client() as hooksd:
            self.assertEqual(hooksd.path, world.SOCKET)
            session = hooksd.call("session/open", world.opening("t"))["session"]
            result = hooksd.invoke(session, invocation=world.before_tool())
            expected = {
                "event": "PreToolUse",
                "continue_processing": True,
                "stop_reason": None,
                "user_notices": [],
                "terminal_sequences": [],
                "diagnostics": [],
                "permission": {"behavior": "deny", "reason": "no", "interrupt": False},
                "context": [],
            }
            self.assertEqual(result["decision"], expected)
            payload = {"hook_event_name": "PreToolUse", "tool_name": "x", "cwd": world.PROJECT, "session_id": "t"}
            inline = hooksd.invoke(world.opening("t"), payload=payload)
            self.assertEqual(inline["decision"], expected)

    def test_what_is_passed_on_arrives_as_it_was(self) -> None:
        world.user(world.hooks("PreToolUse", "cat > seen.json"))
        args = {"z": 10**30, "a": "\ud83d \u00e9 \U0001f600", "n": float("nan"), "f": 0.1}
        with Client() as hooksd:
            hooksd.invoke(world.opening("t"), invocation=world.before_tool(args, "other"))
        seen = Path(world.PROJECT, "seen.json").read_text()
        self.assertIn('"tool_input":{"z":1' + "0" * 30 + ',"a":"\\ud83d \\u00e9 \\ud83d\\ude00","n":null,"f":0.1}', seen)

    def test_answers_come_in_any_order_to_whoever_waits(self) -> None:
        world.user(
            world.hooks("PreToolUse", """read p; case $p in *slow*) until [ -e go ]; do sleep 0.02; done;; esac""")
        )
        go = os.path.join(world.PROJECT, "go")
        with Client() as hooksd:
            session = hooksd.call("session/open", world.opening("t"))["session"]
            params = {"session": session, "invocation": world.before_tool({"command": "slow"})}
            _, slow = hooksd.start("hook/invoke", params)
            quick = hooksd.invoke(session, invocation=world.before_tool({"command": "quick"}))
            self.assertEqual(quick["decision"]["permission"]["behavior"], "none")
            self.assertFalse(slow.done())
            Path(go).touch()
            self.assertEqual(slow.result(world.PATIENCE)["handlers"][0]["status"], "ok")
        os.remove(go)

    def test_many_threads_share_a_connection(self) -> None:
        world.user(world.hooks("PreToolUse", "cat"))
        answers: dict[int, str] = {}
        with Client() as hooksd:
            session = hooksd.call("session/open", world.opening("t"))["session"]

            def ask(number: int) -> None:
                event = world.before_tool({"command": "x" * 50_000})
                id = f"00000000-0000-4000-8000-{number:012}"
                answers[number] = hooksd.invoke(session, invocation=event, invocation_id=id)["invocation_id"]

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(world.PATIENCE)
        self.assertEqual(answers, {number: f"00000000-0000-4000-8000-{number:012}" for number in range(20)})

    def test_a_deadline_ends_the_wait_and_the_handler(self) -> None:
        world.user(world.hooks("PreToolUse", "echo $$ > pid; exec sleep 600"))
        with Client() as hooksd:
            session = hooksd.call("session/open", world.opening("t"))["session"]
            with self.assertRaises(CallTimeout):
                hooksd.invoke(session, invocation=world.before_tool(), timeout=2)
            pid = int(Path(world.PROJECT, "pid").read_text())
            deadline = time.monotonic() + world.PATIENCE
            while _runs(pid):
                self.assertLess(time.monotonic(), deadline, "the handler is still there")
                time.sleep(0.02)

    def test_cancel_stops_a_request(self) -> None:
        world.user(world.hooks("PreToolUse", "exec sleep 600"))
        with Client() as hooksd:
            session = hooksd.call("session/open", world.opening("t"))["session"]
            id, answer = hooksd.start("hook/invoke", {"session": session, "invocation": world.before_tool()})
            hooksd.cancel(id)
            with self.assertRaises(Refused) as refused:
                answer.result(world.PATIENCE)
            self.assertEqual(refused.exception.code, -32800)

    def test_an_error_answer_has_code_and_data(self) -> None:
        with Client() as hooksd, self.assertRaises(Refused) as refused:
            hooksd.call("session/open", {"thread_id": "t", "cwd": "relative", "mode": "interactive"})
        self.assertEqual((refused.exception.code, refused.exception.data["field"]), (-32602, "cwd"))

    def test_notifications_are_heard(self) -> None:
        world.user(world.hooks("SessionStart", "true"))
        with Client() as hooksd:
            hooksd.invoke(world.opening("t"), invocation=world.START, progress=True)
            heard = [next(hooksd.notifications(timeout=world.PATIENCE)) for _ in range(2)]
        self.assertEqual({note.method for note in heard}, {"hook/progress"})
        self.assertEqual([note.params["active"] for note in heard], [True, False])
        # After the end there is nothing to wait for.
        self.assertEqual(list(hooksd.notifications()), [])

    def test_nobody_there_and_gone(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(NotRunning) as nobody:
            Client(os.path.join(folder, "s"))
        self.assertIn("start it with `hooksd`", str(nobody.exception))
        hooksd = Client()
        hooksd.close()
        with self.assertRaises(ConnectionEnded):
            hooksd.call("daemon/status")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Stuck(unittest.TestCase):
    def test_a_call_that_gave_up_leaves_a_whole_line(self) -> None:
        with world.nobody() as (path, listener):
            with Client(path, timeout=0.1) as hooksd:
                connection, _ = listener.accept()
                began = time.monotonic()
                for _ in range(2):
                    # More than the socket takes while nobody reads; of the second not a byte is written.
                    with self.assertRaises(CallTimeout):
                        hooksd.call("long", ["x" * 4_000_000])
                self.assertLess(time.monotonic() - began, 10)
                told: list[tuple[str, Any]] = []

                def serve() -> None:
                    with connection, connection.makefile("rb") as lines:
                        for raw in lines:
                            request = json.loads(raw)
                            told.append((request["method"], request.get("id", request["params"])))
                            if "id" not in request:
                                continue
                            answer = {"jsonrpc": "2.0", "id": request["id"], "result": "done"}
                            connection.sendall(json.dumps(answer).encode() + b"\n")

                daemon = threading.Thread(target=serve)
                daemon.start()
                self.assertEqual(hooksd.call("short", timeout=world.PATIENCE), "done")
            daemon.join(world.PATIENCE)
            self.assertEqual(told, [("long", 1), ("$/cancelRequest", {"id": 1}), ("short", 3)])
