"""Where the socket is: the same answers as hooksd's own."""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import unittest
from pathlib import Path

from hooksd_client import Client, SocketPathError, socket_path
from hooksd_client._settings import _socket_in, top_level_socket
from hooksd_client._where import MAX_SOCKET_PATH, check_peer

from . import world

#: What hooksd.toml says, and which socket that is.
SETTINGS = [
    ('socket = "/a"', "/a"),
    ("# x\npoll = true\nsocket = '/a\\b' # c\n[limits]\nhandlers = 5\n", "/a\\b"),
    ('"socket" = "/q"\r\n', "/q"),
    ('limits.handlers = 5\nsocket="/a\\u00e9\\U0001f600"', "/a\u00e9\U0001f600"),
    ('log = "socket = 1 # \\" [x]"\ndrain_seconds = 1_0\nsocket = "/a"', "/a"),
    ('socket = ""', ""),
    ("", None),
    ('[limits]\nsocket = "/z"', None),
    ("socket = 5", None),
    ('socket = "/a"\nsocket = "/b"', None),
    ('socket "/a"', None),
    ('socket = "/a" x', None),
    ('socket = "/\\q"', None),
    ('socket = "/\\ud800"', None),
    ('socket = "/a', None),
    ('poll = \nsocket = "/a"', None),
]


class Where(unittest.TestCase):
    def test_explicit_then_runtime_dir_then_config_dir(self) -> None:
        every = {"HOOKSD_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run/user/1", "HOOKSD_CONFIG_DIR": "/c", "HOME": "/h"}
        self.assertEqual(socket_path(every), "/s")
        for name, expected in [
            ("HOOKSD_SOCKET", "/run/user/1/hooksd/hooksd.sock"),
            ("XDG_RUNTIME_DIR", "/c/.state/hooksd/hooksd.sock"),
            ("HOOKSD_CONFIG_DIR", "/h/.deepagents/.state/hooksd/hooksd.sock"),
        ]:
            every[name] = ""
            self.assertEqual(socket_path(every), expected)

    def test_the_settings_come_after_the_variable_and_before_the_runtime_dir(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            every = {"HOOKSD_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run/user/1", "HOOKSD_CONFIG_DIR": folder}
            file = Path(folder, "hooksd.toml")
            for text, expected in SETTINGS:
                file.write_bytes(text.encode())
                self.assertEqual(socket_path(every), "/s")
                path = socket_path({**every, "HOOKSD_SOCKET": ""})
                self.assertEqual(path, expected or "/run/user/1/hooksd/hooksd.sock", text)
            every["HOOKSD_SOCKET"] = ""
            file.write_text('socket = "relative"')
            self.assertEqual(socket_path(every), "/run/user/1/hooksd/hooksd.sock")
            file.write_text(f'socket = "/{"x" * MAX_SOCKET_PATH}"')
            with self.assertRaisesRegex(SocketPathError, "the system allows"):
                socket_path(every)
            file.write_bytes(b'socket = "/\xff"')
            self.assertEqual(socket_path(every), "/run/user/1/hooksd/hooksd.sock")
            file.unlink()
            os.mkfifo(file)
            self.assertEqual(socket_path(every), "/run/user/1/hooksd/hooksd.sock")

    def test_the_reader_of_older_pythons_and_that_of_newer_ones_agree(self) -> None:
        for text, expected in SETTINGS:
            self.assertEqual((top_level_socket(text), _socket_in(text)), (expected, expected), text)

    def test_a_daemon_with_a_socket_in_its_settings_is_found(self) -> None:
        with world.daemon(settings=True) as one, Client(socket_path(one.variables())) as hooksd:
            self.assertEqual(hooksd.path, one.socket)
            self.assertEqual(hooksd.call("daemon/status")["protocol_version"], 1)

    def test_what_is_no_path_is_an_error_that_says_so(self) -> None:
        for variables, part in [
            ({}, "set HOOKSD_SOCKET"),
            ({"HOOKSD_SOCKET": "s"}, "not an absolute path: s"),
            ({"HOOKSD_SOCKET": "/" + "x" * MAX_SOCKET_PATH}, f"the system allows {MAX_SOCKET_PATH}"),
        ]:
            with self.assertRaisesRegex(SocketPathError, part):
                socket_path(variables)

    @unittest.skipUnless(sys.platform.startswith("linux"), "other systems do not tell")
    def test_a_daemon_of_another_user_is_not_spoken_to(self) -> None:
        class Served:
            def __init__(self, user: int) -> None:
                self.user = user

            def getsockopt(self, level: int, name: int, size: int, /) -> bytes:
                return struct.pack("3i", 1, self.user, self.user)

        check_peer(Served(os.geteuid()))
        check_peer(Served(0))
        with self.assertRaisesRegex(PermissionError, "served by user 65534, not by you"):
            check_peer(Served(65534))
