"""What a type checker makes of `run`: checked by mypy where it is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).parent.parent

PROGRAM = """
from hooksd_client import AsyncSession, Session
from hooksd_client.deepagents import HooksdEngine
from hooksd_client.events import Context, Decision, Permission

def of(session: Session, context: Context, unknown: dict[str, object]) -> None:
    tool = session.run({"context": context, "event": {"event": "PreToolUse", "call": {"id": "1", "name": "x", "args": 1}}})
    permission: Permission = tool["permission"]
    reveal_type(tool)
    reveal_type(session.run({"context": context, "event": {"event": "UserPromptSubmit", "prompt": "hi"}}, timeout=5))
    reveal_type(session.run(unknown))
    tool["continue_loop"]  # wrong

async def with_asyncio(session: AsyncSession, engine: HooksdEngine[Decision], context: Context) -> None:
    stop = {"event": "Stop"}
    reveal_type(await session.run({"context": context, "event": {"event": "Stop", "continuation_count": 0, "last_assistant_message": "x"}}))
    reveal_type(await engine.run(stop))
    async with HooksdEngine.open(thread_id="t", cwd="/", decision=lambda it: len(it)) as counts:
        reveal_type(await counts.run(stop))
    await session.run(stop, tiemout=5)  # wrong
"""


class Types(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("mypy"), "there is no mypy on this machine")
    def test_the_decision_is_that_of_the_event(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "program.py").write_text(PROGRAM)
            command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, "--no-error-summary", "program.py"]
            env = {**os.environ, "MYPYPATH": str(FOLDER / "src")}
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env)
        told = [line.split(":", 2) for line in done.stdout.splitlines()]
        revealed = re.findall(r'Revealed type is "(?:TypedDict\(hooksd_client\.events\.)?(\w+)', done.stdout)
        expected = ["ToolDecision", "PromptDecision", "Decision", "StopDecision", "Decision", "int"]
        self.assertEqual(revealed, expected, done.stdout)
        wrong = [number for number, text in enumerate(PROGRAM.splitlines(), 1) if "# wrong" in text]
        self.assertEqual(sorted({int(number) for _, number, text in told if " error: " in text}), wrong, done.stdout)
