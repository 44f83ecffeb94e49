"""The asyncio client: calls are coroutines, and cancelling one cancels its request in the daemon."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import TracebackType

from ._awaited import Awaited
from ._errors import CallTimeout, ConnectionEnded, HooksdError, NotRunning, Refused
from ._retry import pause_after
from ._where import check_peer, checked, socket_path
from ._wire import (
    CALL_SECONDS,
    MAX_LINE,
    MAX_NOTIFICATIONS,
    MAX_UNWRITTEN,
    Answer,
    Json,
    JsonObject,
    Notification,
    line,
    meant,
    read,
)


class AsyncClient:
    """A connection to the daemon.

    Make one with `await AsyncClient.connect()`, `async with AsyncClient.connect()`, `async with AsyncClient()`.
    """

    def __init__(self, path: str | None = None, *, timeout: float = CALL_SECONDS) -> None:
        self.path = socket_path() if path is None else checked(path)
        self.timeout = timeout
        #: How many notifications nobody has taken in time.
        self.dropped = 0
        self._next_id = 0
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        # The lengths of the lines that have no answer yet, also of calls that have given up.
        self._sizes: dict[int, int] = {}
        self._why = ""
        self._listeners: list[Callable[[Notification | None], bool]] = []
        self._notifications: deque[Notification] = deque()
        self._came = asyncio.Event()
        self._ended = True
        self._writer: asyncio.StreamWriter | None = None
        self._reader: asyncio.Task[None] | None = None

    @classmethod
    def connect(cls, path: str | None = None, *, timeout: float = CALL_SECONDS) -> Awaited[AsyncClient]:
        """Connects, when it is awaited or entered. Raises `NotRunning` when nobody listens."""
        return Awaited(lambda: cls(path, timeout=timeout).__aenter__())

    async def __aenter__(self) -> AsyncClient:
        if self._writer is not None:
            # As `async with await connect()` has it. What has ended is not made anew: somebody may still hold it.
            if self._ended:
                raise ConnectionEnded(self._end("the connection to hooksd has ended"))
            return self
        try:
            reader, self._writer = await asyncio.open_unix_connection(self.path, limit=MAX_LINE)
            check_peer(self._writer.get_extra_info("socket"))
        except OSError as error:
            await self.close()
            raise NotRunning(self.path, error) from error
        self._ended = False
        self._reader = asyncio.create_task(self._listen(reader))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended."""
        return self._ended

    def _end(self, what: str) -> str:
        return f"{what}: {self._why}" if self._why else what

    async def close(self) -> None:
        """Ends the connection; what is still running for it is cancelled by the daemon."""
        self._ended = True
        if self._writer is not None:
            self._writer.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)

    async def call(self, method: str, params: Json = None, *, timeout: float | None = None) -> Json:
        """Calls a method and waits for its result.

        Raises `Refused` for an error answer, `CallTimeout` after `timeout` seconds, and `ConnectionEnded`. A timeout and
        a cancellation of the calling task both cancel the request. What a daemon that is overrun has refused is asked
        again within that time.
        """
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        while True:
            try:
                return await self._ask(method, params, deadline - time.monotonic(), seconds)
            except Refused as refused:
                pause = pause_after(refused, deadline - time.monotonic())
                if pause is None:
                    raise
            await asyncio.sleep(pause)

    async def _ask(self, method: str, params: Json, left: float, seconds: float) -> Json:
        if self._ended:
            raise ConnectionEnded(self._end("the connection to hooksd has ended"))
        if left <= 0:
            raise CallTimeout(f"no answer to {method} within {seconds} s")
        self._next_id += 1
        id = self._next_id
        data = line(method, {} if params is None else params, id)
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[id] = answer
        try:
            return await asyncio.wait_for(self._exchange(id, data, answer), left)
        except asyncio.CancelledError:
            self._cancel(id)
            raise
        except HooksdError:
            raise
        except asyncio.TimeoutError:
            self._cancel(id)
            raise CallTimeout(f"no answer to {method} within {seconds} s") from None
        finally:
            self._waiting.pop(id, None)
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # Nobody else looks at it, when writing has failed already.

    async def _exchange(self, id: int, data: bytes, answer: asyncio.Future[Json]) -> Json:
        await self._write(data, id)
        return await answer

    async def _write(self, data: bytes, id: int | None = None) -> None:
        if self._writer is None or self._ended:
            raise ConnectionEnded(self._end("the connection to hooksd has ended"))
        unwritten = self._writer.transport.get_write_buffer_size()
        if unwritten > MAX_UNWRITTEN:
            raise HooksdError(f"hooksd takes nothing: {unwritten} bytes wait to be written")
        if id is not None:
            self._sizes[id] = len(data) - 1
        try:
            self._writer.write(data)
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            # Whatever can no longer be written to is lost, also while it could still be read from. Other loops than
            # asyncio's own say so by a RuntimeError.
            self._ended = True
            self._writer.close()
            raise ConnectionEnded(self._end(f"the connection to hooksd has ended: {error}")) from error

    def _cancel(self, id: int) -> None:
        # Without waiting: the caller is being cancelled itself.
        if self._writer is not None and not self._ended:
            try:
                self._writer.write(line("$/cancelRequest", {"id": id}, None))
            except (OSError, RuntimeError):
                self._ended = True

    async def notify(self, method: str, params: Json = None) -> None:
        """Sends what needs no answer."""
        await self._write(line(method, {} if params is None else params, None))

    async def invoke(
        self,
        session: str | JsonObject,
        *,
        invocation: JsonObject | None = None,
        payload: JsonObject | None = None,
        timeout: float | None = None,
        **options: Json,
    ) -> JsonObject:
        """Runs an event (`hook/invoke`); as `Client.invoke`."""
        params: JsonObject = {"session": session, **options}
        if invocation is not None:
            params["invocation"] = invocation
        if payload is not None:
            params["payload"] = payload
        result = await self.call("hook/invoke", params, timeout=timeout)
        if not isinstance(result, dict) or not isinstance(result.get("decision"), dict):
            raise HooksdError("the daemon's answer has no decision")
        return result

    async def notifications(self) -> AsyncIterator[Notification]:
        """Yields notifications as they come, until the connection ends."""
        while True:
            while self._notifications:
                yield self._notifications.popleft()
            if self._ended:
                return
            self._came.clear()
            await self._came.wait()

    def listen(self, listener: Callable[[Notification | None], bool]) -> Callable[[], None]:
        """Lets `listener` see each notification first; True keeps it from others, None is the end. Undone by the result."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    async def subscribe(self, **params: Json) -> AsyncSubscription:
        """Subscribes to what the daemon does (`events/subscribe` with these params)."""
        subscription = AsyncSubscription(self)
        try:
            subscription._begin(await self.call("events/subscribe", params))
        except BaseException:
            subscription._forget()
            raise
        return subscription

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while raw := await reader.readline():
                self._take(read(raw))
        except (OSError, ValueError, HooksdError):
            pass  # Everybody who waits is told below.
        finally:
            self._ended = True
            for answer in self._waiting.values():
                if not answer.done():
                    said = self._end("the connection to hooksd ended before the answer came")
                    answer.set_exception(ConnectionEnded(said))
            self._came.set()
            for listener in list(self._listeners):
                listener(None)
            if self._writer is not None:
                self._writer.close()

    def _take(self, message: Answer | Notification) -> None:
        if isinstance(message, Answer):
            if message.id is not None:
                self._settle(message.id, message)
            elif message.error is not None:
                self._complain(message.error)
            return
        if any(listener(message) for listener in list(self._listeners)):
            return
        if len(self._notifications) >= MAX_NOTIFICATIONS:
            self.dropped += 1
            return
        self._notifications.append(message)
        self._came.set()


    def _settle(self, id: int, message: Answer) -> None:
        self._sizes.pop(id, None)
        answer = self._waiting.get(id)
        if answer is None or answer.done():
            return
        if message.error is not None:
            answer.set_exception(message.error)
        else:
            answer.set_result(message.result)

    def _complain(self, error: Refused) -> None:
        ids, error = meant(error, self._sizes)
        if not ids:
            # Of no request: of the connection, which ends now.
            self._why = str(error)
        for id in ids:
            if len(ids) > 1:
                self._cancel(id)
            self._settle(id, Answer(None, None, error))


class AsyncSubscription:
    """What the daemon does, as it does it: `async for` over the params of `events/item`, `events/gap`, `events/dropped`.

    Each has `method` added. It ends with `close`, with the connection, or when the daemon drops it. Items that are not
    taken are dropped beyond 4,096, and counted in `dropped`.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._items: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        self._id: Json = None
        self._early: list[Notification] | None = []
        self._forget = client.listen(self._offer)
        #: How many items were not taken in time.
        self.dropped = 0
        #: The answer of `events/subscribe`.
        self.info: JsonObject = {}

    def _begin(self, info: JsonObject) -> None:
        self.info, self._id = info, info.get("subscription")
        early, self._early = self._early or [], None
        # Items may overtake the answer that says whose they are.
        for notification in early:
            self._offer(notification)

    def _offer(self, notification: Notification | None) -> bool:
        if notification is None:
            self._items.put_nowait(None)
            return False
        if not notification.method.startswith("events/"):
            return False
        if self._early is not None:
            self._early.append(notification)
            return False
        if notification.params.get("subscription") != self._id:
            return False
        if self._items.qsize() >= MAX_NOTIFICATIONS:
            self.dropped += 1
        else:
            self._items.put_nowait({**notification.params, "method": notification.method})
        if notification.method == "events/dropped":
            self._items.put_nowait(None)
        return True

    async def __aiter__(self) -> AsyncIterator[JsonObject]:
        while (item := await self._items.get()) is not None:
            yield item

    async def close(self) -> None:
        """Ends it."""
        self._forget()
        self._items.put_nowait(None)
        await self._client.call("events/unsubscribe", {"subscription": self._id})
