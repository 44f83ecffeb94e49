"""What can be awaited, and also entered: `await open()`, `async with open()`, `async with await open()`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

Opened = TypeVar("Opened", bound=AbstractAsyncContextManager[Any])


class Awaited(Generic[Opened]):
    """Begins when it is awaited or entered, and gives what it has opened. Leaving it closes that."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, Opened]]) -> None:
        self._begin = begin
        self._opened: Opened | None = None

    def __await__(self) -> Generator[Any, None, Opened]:
        return self._begin().__await__()

    async def __aenter__(self) -> Opened:
        self._opened = await self._begin()
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)
