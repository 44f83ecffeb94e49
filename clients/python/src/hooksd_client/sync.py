"""The blocking client. One thread of its own reads; any thread may call, and answers come in any order."""

from __future__ import annotations

import queue
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType

from ._errors import CallTimeout, ConnectionEnded, HooksdError, NotRunning, Refused
from ._progress import Progress
from ._retry import pause_after
from ._where import check_peer, checked, socket_path
from ._wire import CALL_SECONDS, MAX_LINE, MAX_NOTIFICATIONS, Answer, Json, JsonObject, Notification, line, meant, read

#: How long connecting may take. Seconds: a local socket answers at once or not at all.
CONNECT_SECONDS = 10.0

#: How long a cancellation waits for its turn to be written. Seconds: who has no time left must not wait.
CANCEL_SECONDS = 0.1

_LATE = "hooksd did not take the whole request in time"


class _NotBegun(CallTimeout):
    """Nothing of the line was written: no answer will come."""


class Client:
    """A connection to the daemon.

    `path` is the socket's (default: where the daemon is, see `socket_path`), `timeout` how long each call may take,
    `connect_timeout` how long connecting may, both in seconds. Use it as a context manager, or `close` it.
    """

    def __init__(
        self, path: str | None = None, *, timeout: float = CALL_SECONDS, connect_timeout: float = CONNECT_SECONDS
    ) -> None:
        self.path = socket_path() if path is None else checked(path)
        self.timeout = timeout
        #: How many notifications nobody has taken in time.
        self.dropped = 0
        self._lock = threading.Lock()
        # Apart from the other: while one thread writes what the daemon is slow to take, answers are still read.
        self._write_lock = threading.Lock()
        # The rest of a line whose call has given up: whatever comes next is written after it.
        self._unwritten = b""
        self._next_id = 0
        self._waiting: dict[int, Future[Json]] | None = {}
        # The lengths of the lines that have no answer yet, also of calls that have given up.
        self._sizes: dict[int, int] = {}
        self._ended = False
        self._why = ""
        self._notifications: queue.Queue[Notification | None] = queue.Queue()
        self._listeners: list[Callable[[Notification], bool]] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(connect_timeout)
            self._socket.connect(self.path)
            check_peer(self._socket)
            self._socket.settimeout(None)
        except OSError as error:
            self._socket.close()
            raise NotRunning(self.path, error) from error
        self._reader = threading.Thread(target=self._listen, name="hooksd-client", daemon=True)
        self._reader.start()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended."""
        return self._ended

    def _end(self, what: str) -> str:
        return f"{what}: {self._why}" if self._why else what

    def _hang_up(self) -> None:
        self._ended = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """Ends the connection; what is still running for it is cancelled by the daemon."""
        self._hang_up()
        self._reader.join()
        self._socket.close()

    def call(self, method: str, params: Json = None, *, timeout: float | None = None) -> Json:
        """Calls a method and waits for its result.

        Raises `Refused` for an error answer, `CallTimeout` after `timeout` seconds (the request is cancelled then), and
        `ConnectionEnded`. What a daemon that is overrun has refused is asked again within that time.
        """
        return self._call(method, params, timeout, None)

    def _call(self, method: str, params: Json, timeout: float | None, progress: Progress | None) -> Json:
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self._ask(method, params, deadline - time.monotonic(), seconds, progress)
            except Refused as refused:
                pause = pause_after(refused, deadline - time.monotonic())
                if pause is None:
                    raise
            time.sleep(pause)

    def _ask(self, method: str, params: Json, left: float, seconds: float, progress: Progress | None) -> Json:
        if left <= 0:
            raise CallTimeout(f"no answer to {method} within {seconds} s")
        deadline = time.monotonic() + left
        # What the reader hears of the call, told by the thread that calls: its callback may call as well.
        told: queue.SimpleQueue[JsonObject | None] = queue.SimpleQueue()

        def offer(notification: Notification) -> bool:
            if progress is None or not progress.is_about(notification):
                return False
            told.put(notification.params)
            return True

        if progress is not None:
            with self._lock:
                self._listeners.append(offer)
        try:
            id, answer = self._send(method, params, left)
            try:
                if progress is not None:
                    answer.add_done_callback(lambda _: told.put(None))
                    while (heard := told.get(timeout=max(deadline - time.monotonic(), 0))) is not None:
                        progress.hear(heard)
                return answer.result(max(deadline - time.monotonic(), 0))
            except (FutureTimeout, queue.Empty):
                self._give_up(id)
                raise CallTimeout(f"no answer to {method} within {seconds} s") from None
            except HooksdError:
                raise
            except BaseException:
                self._give_up(id)  # Somebody has interrupted the wait.
                raise
        finally:
            if progress is not None:
                with self._lock:
                    self._listeners.remove(offer)

    def _give_up(self, id: int) -> None:
        self.cancel(id)
        with self._lock:
            if self._waiting is not None:
                self._waiting.pop(id, None)

    def start(self, method: str, params: Json = None) -> tuple[int, Future[Json]]:
        """Sends a request without waiting for its answer, once: its id, for `cancel`, and what becomes its result.

        Raises `CallTimeout` when the daemon does not take it within the client's timeout.
        """
        return self._send(method, params, self.timeout)

    def cancel(self, id: int) -> None:
        """Tells the daemon to stop a request; its answer is then error -32800, unless it came first."""
        try:
            self._write(_cancellation(id), 0, turn=CANCEL_SECONDS)
        except HooksdError:
            pass  # Without a connection there is nothing to stop; who takes nothing does nothing.

    def notify(self, method: str, params: Json = None) -> None:
        """Sends what needs no answer. Raises `CallTimeout` when the daemon does not take it in time."""
        self._write(line(method, {} if params is None else params, None), self.timeout)

    def invoke(
        self,
        session: str | JsonObject,
        *,
        invocation: JsonObject | None = None,
        payload: JsonObject | None = None,
        timeout: float | None = None,
        **options: Json,
    ) -> JsonObject:
        """Runs an event (`hook/invoke`): an `invocation`, or a `payload` as agents hand it to command hooks.

        `session` is an open session's id, or the params of `session/open`; `options` are those of docs/protocol.md. The
        result has `decision` and `handlers`.
        """
        params: JsonObject = {"session": session, **options}
        if invocation is not None:
            params["invocation"] = invocation
        if payload is not None:
            params["payload"] = payload
        result = self.call("hook/invoke", params, timeout=timeout)
        if not isinstance(result, dict) or not isinstance(result.get("decision"), dict):
            raise HooksdError("the daemon's answer has no decision")
        return result

    def notifications(self, *, timeout: float | None = None) -> Iterator[Notification]:
        """Yields notifications as they come, until the connection ends, or none came for `timeout` seconds."""
        while True:
            try:
                item = self._notifications.get(timeout=timeout)
            except queue.Empty:
                return
            if item is None:
                self._notifications.put(None)  # The next one who asks is told as well.
                return
            yield item

    def subscribe(self, **params: Json) -> Subscription:
        """Subscribes to what the daemon does (`events/subscribe` with these params)."""
        subscription = Subscription(self)
        with self._lock:
            self._listeners.append(subscription._offer)
        try:
            subscription._begin(self.call("events/subscribe", params))
        except BaseException:
            subscription._forget()
            raise
        return subscription

    def _send(self, method: str, params: Json, seconds: float) -> tuple[int, Future[Json]]:
        answer: Future[Json] = Future()
        with self._lock:
            self._next_id += 1
            id = self._next_id
        data = line(method, {} if params is None else params, id)
        with self._lock:
            if self._waiting is None or self._ended:
                raise ConnectionEnded(self._end("the connection to hooksd has ended"))
            self._waiting[id] = answer
            self._sizes[id] = len(data) - 1
        try:
            self._write(data, seconds, _cancellation(id))
        except BaseException as error:
            with self._lock:
                if isinstance(error, _NotBegun):
                    self._sizes.pop(id, None)
                if self._waiting is not None:
                    self._waiting.pop(id, None)
            raise
        return id, answer

    def _write(self, data: bytes, seconds: float, then: bytes = b"", turn: float = 0) -> None:
        """Writes a line, or raises `CallTimeout` when that takes longer.

        Of a line that was begun the rest is kept, and `then` after it. `turn` is how long another thread's line may take
        first, at least.
        """
        deadline = time.monotonic() + seconds
        if not self._write_lock.acquire(timeout=max(seconds, turn, 0)):
            raise _NotBegun(_LATE)
        try:
            before = len(self._unwritten)
            data = self._unwritten + data
            written = self._write_until(data, deadline)
            if written < len(data):
                if written <= before:
                    self._unwritten = data[written:before]
                    raise _NotBegun(_LATE)
                self._unwritten = data[written:] + then
                raise CallTimeout(_LATE)
            self._unwritten = b""
        finally:
            self._write_lock.release()

    def _write_until(self, data: bytes, deadline: float) -> int:
        """Writes as much as goes until then; how much that was."""
        view, written = memoryview(data), 0
        room = select.poll()
        room.register(self._socket, select.POLLOUT)
        try:
            while written < len(data):
                try:
                    written += self._socket.send(view[written:], socket.MSG_DONTWAIT)
                except BlockingIOError:
                    left = deadline - time.monotonic()
                    if left <= 0 or not room.poll(left * 1000):
                        break
        except (OSError, ValueError) as error:
            # Whatever can no longer be written to is lost, also while it could still be read from.
            self._hang_up()
            raise ConnectionEnded(self._end(f"the connection to hooksd has ended: {error}")) from error
        return written

    def _listen(self) -> None:
        try:
            with self._socket.makefile("rb") as stream:
                while True:
                    raw = stream.readline(MAX_LINE)
                    if not raw.endswith(b"\n"):
                        break  # The end, or a line that nobody could hold.
                    self._take(raw)
        except (OSError, HooksdError):
            pass  # Everybody who waits is told below.
        with self._lock:
            waiting, self._waiting = self._waiting or {}, None
            self._ended = True
            listeners = list(self._listeners)
        for answer in waiting.values():
            if answer.set_running_or_notify_cancel():
                answer.set_exception(ConnectionEnded(self._end("the connection to hooksd ended before the answer came")))
        self._notifications.put(None)
        for listener in listeners:
            listener(Notification("", {}))

    def _take(self, raw: bytes) -> None:
        message = read(raw)
        if isinstance(message, Answer):
            if message.id is not None:
                self._settle(message.id, message)
            elif message.error is not None:
                self._complain(message.error)
            return
        with self._lock:
            listeners = list(self._listeners)
        if any(listener(message) for listener in listeners):
            return
        if self._notifications.qsize() >= MAX_NOTIFICATIONS:
            self.dropped += 1
        else:
            self._notifications.put(message)


    def _settle(self, id: int, message: Answer) -> None:
        with self._lock:
            self._sizes.pop(id, None)
            answer = self._waiting.pop(id, None) if self._waiting else None
        if answer is None or not answer.set_running_or_notify_cancel():
            return
        if message.error is not None:
            answer.set_exception(message.error)
        else:
            answer.set_result(message.result)

    def _complain(self, error: Refused) -> None:
        with self._lock:
            ids, error = meant(error, self._sizes)
        if not ids:
            # Of no request: of the connection, which ends now.
            self._why = str(error)
        for id in ids:
            if len(ids) > 1:
                self.cancel(id)
            self._settle(id, Answer(None, None, error))


def _cancellation(id: int) -> bytes:
    return line("$/cancelRequest", {"id": id}, None)


class Subscription:
    """What the daemon does, as it does it: iterate for the params of `events/item`, `events/gap` and `events/dropped`.

    Each has `method` added. It ends with `close`, with the connection, or when the daemon drops it. Items that are not
    taken are dropped beyond 4,096, and counted in `dropped`.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._items: queue.Queue[JsonObject | None] = queue.Queue()
        self._id: Json = None
        self._early: list[Notification] | None = []
        self._guard = threading.Lock()
        #: How many items were not taken in time.
        self.dropped = 0
        #: The answer of `events/subscribe`.
        self.info: JsonObject = {}

    def _begin(self, info: JsonObject) -> None:
        with self._guard:
            self.info, self._id = info, info.get("subscription")
            early, self._early = self._early or [], None
        # Items may overtake the answer that says whose they are.
        for notification in early:
            self._offer(notification)

    def _offer(self, notification: Notification) -> bool:
        if notification.method == "":
            self._items.put(None)
            return False
        if not notification.method.startswith("events/"):
            return False
        with self._guard:
            if self._early is not None:
                self._early.append(notification)
                return False
        if notification.params.get("subscription") != self._id:
            return False
        if self._items.qsize() >= MAX_NOTIFICATIONS:
            self.dropped += 1
        else:
            self._items.put({**notification.params, "method": notification.method})
        if notification.method == "events/dropped":
            self._items.put(None)
        return True

    def __iter__(self) -> Iterator[JsonObject]:
        while (item := self._items.get()) is not None:
            yield item

    def get(self, timeout: float | None = None) -> JsonObject | None:
        """The next item; None when it has ended, or after `timeout` seconds."""
        try:
            return self._items.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Ends it."""
        self._forget()
        self._items.put(None)
        self._client.call("events/unsubscribe", {"subscription": self._id})

    def _forget(self) -> None:
        with self._client._lock:
            if self._offer in self._client._listeners:
                self._client._listeners.remove(self._offer)
