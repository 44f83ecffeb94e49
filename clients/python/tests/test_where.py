"""Where the socket is: the same answers as hooksd's own."""

from __future__ import annotations

import os
import struct
import sys
import unittest

from hooksd_client import SocketPathError, socket_path
from hooksd_client._where import MAX_SOCKET_PATH, check_peer


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
