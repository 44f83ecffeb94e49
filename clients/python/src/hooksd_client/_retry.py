"""Asking again. A daemon that is overrun has run nothing of what it refuses: it is asked again, as long as the call may
take. The same rule as of hooksd's own client (crates/client/src/retry.rs)."""

from __future__ import annotations

from ._errors import Refused
from ._wire import OVERLOADED

#: How long to wait for one that does not say how long. Milliseconds.
OVERRUN_MS = 200

#: The shortest and the longest such wait. Milliseconds. A daemon that wants more is asked sooner.
SHORTEST_MS, LONGEST_MS = 20, 5_000


def pause_after(error: Refused, left: float) -> float | None:
    """After how many seconds to ask again, when `left` seconds are left for the call; None when not to."""
    if error.code != OVERLOADED:
        return None
    said = error.data.get("retry_after_ms") if isinstance(error.data, dict) else None
    wanted = said if isinstance(said, int) else OVERRUN_MS
    pause = min(max(wanted, SHORTEST_MS), LONGEST_MS) / 1000
    return pause if pause < left else None
