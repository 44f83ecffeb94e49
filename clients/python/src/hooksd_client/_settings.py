"""`socket` of hooksd.toml, the daemon's own settings in the config dir.

A file that cannot be read, is no TOML or says nothing of the socket says nothing here: the daemon tells what is wrong
with it when it is started. The same rule as of hooksd's own client (crates/client/src/lib.rs).
"""

from __future__ import annotations

import os
import re
import stat
import sys

if sys.version_info >= (3, 11):
    import tomllib

#: The daemon's own settings, in the config dir.
SETTINGS_FILE = "hooksd.toml"

#: How much of the file is looked at. Bytes. The daemon refuses larger ones.
MAX_SETTINGS = 64 * 1024


def socket_of(config_dir: str) -> str | None:
    """The absolute path that the settings name as the socket, if they do."""
    try:
        # What is no regular file must not block.
        descriptor = os.open(os.path.join(config_dir, SETTINGS_FILE), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            text = file.read(MAX_SETTINGS).decode("utf-8")
    except (OSError, ValueError):
        return None
    path = _socket_in(text)
    return path if path is not None and os.path.isabs(path) else None


def _socket_in(text: str) -> str | None:
    if sys.version_info < (3, 11):
        return top_level_socket(text)
    try:
        path = tomllib.loads(text).get("socket")
    except ValueError:
        return None
    return path if isinstance(path, str) else None


_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\\\n]*"|'[^'\n]*')"""
_SPACE = re.compile(r"(?:[ \t]|\r?\n|#[^\n]*)*")
_KEY = re.compile(rf"({_NAME}((?:[ \t]*\.[ \t]*{_NAME})*))[ \t]*=[ \t]*")
_STRING = re.compile(r'''"(?!"")((?:[^"\\\n\r\x00-\x08\x0b-\x1f\x7f]|\\[^\n\r])*)"|'(?!'')([^'\n\r\x00-\x08\x0b-\x1f\x7f]*)\'''')
_PLAIN = re.compile(r"[A-Za-z0-9_+.:-]+(?: [0-9:.]+)?")
_END = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.S)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def top_level_socket(text: str) -> str | None:
    """`socket` among the keys before the first table.

    Knows what hooksd.toml may hold there: keys with a string, a number or a switch, one a line. Whatever else stands
    before the first table, and a key that stands twice, makes it say nothing.
    """
    at = 0
    found: str | None = None
    keys: set[str] = set()
    while True:
        at = _end(_SPACE.match(text, at), at)
        if at == len(text) or text[at] == "[":
            return found
        key = _KEY.match(text, at)
        if key is None:
            return None
        value = _STRING.match(text, key.end()) or _PLAIN.match(text, key.end())
        if value is None or (end := _END.match(text, value.end())) is None:
            return None
        at = end.end()
        if key.group(2):
            continue  # Of a table, in dots.
        name = key.group(1).strip("\"'")
        if name in keys:
            return None
        keys.add(name)
        if name == "socket":
            if value.re is not _STRING:
                return None
            try:
                found = value.group(2) if value.group(1) is None else _ESCAPE.sub(_unescaped, value.group(1))
            except ValueError:
                return None


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return otherwise if match is None else match.end()


def _unescaped(escape: re.Match[str]) -> str:
    code = escape.group(1)
    if len(code) > 1:
        number = int(code[1:], 16)
        if 0xD800 <= number < 0xE000:
            raise ValueError("a surrogate is no character")
        return chr(number)
    if code not in _ESCAPES:
        raise ValueError(f"no escape: {code}")
    return _ESCAPES[code]
