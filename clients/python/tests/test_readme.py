"""What README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
from pathlib import Path

from . import world

README = Path(__file__).parent.parent / "README.md"


class Readme(unittest.TestCase):
    def test_every_example_prints_what_is_shown(self) -> None:
        text = README.read_text()
        document = re.search(r"```json\n(.*?)```", text, re.S)
        assert document
        (world.CONFIG / "hooks.json").write_text(document.group(1))
        examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S)
        self.assertEqual(len(examples), text.count("```python"))
        for code, shown in examples:
            code = code.replace("/home/you/project", world.PROJECT)
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=world.PATIENCE)
            self.assertEqual((done.stdout, done.stderr, done.returncode), (shown, "", 0))
