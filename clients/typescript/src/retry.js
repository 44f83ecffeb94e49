// Asking again. A daemon that is overrun has run nothing of what it refuses: it is asked again, as long as the call may
// take. The same rule as of hooksd's own client (crates/client/src/retry.rs).

import { Refused } from "./errors.js";

/** The error code of a daemon that is overrun (docs/protocol.md). */
const OVERLOADED = -32005;

/** How long to wait for one that does not say how long. Milliseconds. */
const OVERRUN_MS = 200;

/** The shortest and the longest such wait. Milliseconds. A daemon that wants more is asked sooner. */
const SHORTEST_MS = 20;
const LONGEST_MS = 5_000;

/**
 * After how many milliseconds to ask again, when `left` milliseconds are left for the call; null when not to.
 *
 * @param {unknown} error
 * @param {number} left
 * @returns {number | null}
 */
export function pauseAfter(error, left) {
  if (!(error instanceof Refused) || error.code !== OVERLOADED) return null;
  const said = /** @type {any} */ (error.data)?.retry_after_ms;
  const wanted = Number.isInteger(said) ? said : OVERRUN_MS;
  const pause = Math.min(Math.max(wanted, SHORTEST_MS), LONGEST_MS);
  return pause < left ? pause : null;
}
