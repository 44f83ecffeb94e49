"""Handlers that begin and end, told to a callback so that whatever has begun also ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._wire import JsonObject, Notification

logger = logging.getLogger("hooksd_client")


@dataclass(frozen=True)
class HookProgress:
    """A handler begins or ends; the fields are those of dcode's own class of this name."""

    operation_id: str
    handler_id: str
    event: str
    active: bool
    message: str = ""


class Progress:
    """The progress of one event. What shows it must not decide anything: a callback that raises is logged."""

    def __init__(self, id: str, callback: Callable[[Any], object], make: Callable[..., Any] = HookProgress) -> None:
        self._id = id
        self._callback = callback
        self._make = make
        self._begun: dict[str, JsonObject] = {}

    def is_about(self, notification: Notification) -> bool:
        """Whether this is progress of the event."""
        return notification.method == "hook/progress" and notification.params.get("invocation_id") == self._id

    def hear(self, params: JsonObject) -> None:
        """Tells of the params of `hook/progress`."""
        if params.get("active"):
            self._begun[str(params.get("handler_id"))] = params
        else:
            self._begun.pop(str(params.get("handler_id")), None)
        self._tell(params)

    def end(self) -> None:
        """Tells of the end of each handler that began: nobody else will, once the call or the connection is over."""
        while self._begun:
            _, params = self._begun.popitem()
            self._tell({**params, "active": False})

    def _tell(self, params: JsonObject) -> None:
        try:
            self._callback(
                self._make(
                    operation_id=f"{self._id}:{params['handler_id']}",
                    handler_id=params["handler_id"],
                    event=params["event"],
                    active=params["active"],
                    message=params["message"],
                )
            )
        except Exception:
            logger.warning("the callback for a hook's progress failed", exc_info=True)
