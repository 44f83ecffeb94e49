// What a session does about a connection or a daemon that is gone: when to ask again, and what must be the same then.
//
// A guard that runs twice costs less than a deny that is lost (crates/client/src/retry.rs): what was not run is asked until
// there is a daemon, what may have been run is asked once more under the same id.

import { ConnectionEnded, NotRunning, Refused } from "./errors.js";

/** How long opening a session may take unless the caller says otherwise. Milliseconds, with the connection. */
export const OPEN_MS = 30_000;

/** How long a daemon that was there is looked for after its connection was lost. Milliseconds: it is started anew, or not. */
export const RECONNECT_MS = 5_000;

/** How long to wait before a daemon that has gone is looked for again. Milliseconds. */
const GONE_MS = 20;

/** The error code of an inline session whose snapshot is not the one that was asked for. */
export const SNAPSHOT_MISMATCH = -32003;

const refused = (/** @type {unknown} */ error, /** @type {number} */ code) => error instanceof Refused && error.code === code;

/** Whether the daemon does not know the session: it was started anew, or the session idled too long. @param {unknown} error */
export const isUnknownSession = (error) => refused(error, -32002);

/** Whether the daemon is stopping. @param {unknown} error */
export const isStopping = (error) => refused(error, -32006);

/** When to ask again, for one event. */
export class Again {
  #mayHaveRun = false;
  #wasUnknown = false;

  /**
   * After how many milliseconds to ask again; null when not to. `left` are those in which a daemon is looked for. `sent`
   * says whether the event was on its way; while the connection was being made, nothing of it was run.
   *
   * @param {any} error
   * @param {number} left
   * @param {boolean} sent
   * @returns {number | null}
   */
  pause(error, left, sent) {
    const wasCut = error?.data?.cut === true;
    const isGone = error instanceof ConnectionEnded;
    if ((isGone && !sent) || error instanceof NotRunning || (isStopping(error) && !wasCut)) {
      return left > GONE_MS ? GONE_MS : null;
    }
    if (isGone || isStopping(error)) {
      const again = !this.#mayHaveRun;
      this.#mayHaveRun = true;
      return again ? GONE_MS : null;
    }
    if (isUnknownSession(error)) {
      const again = !this.#wasUnknown;
      this.#wasUnknown = true;
      return again ? 0 : null;
    }
    return null;
  }
}

/**
 * What of a session that was opened again is not as it was, in words. A session that follows the documents has asked for
 * their edits, but not for the loss of trust.
 *
 * @param {Record<string, any>} before
 * @param {Record<string, any>} after
 * @param {boolean} follow
 * @returns {string[]}
 */
export function differences(before, after, follow) {
  const told = [];
  const [was, now] = [before.project, after.project];
  if (was.root !== now.root) told.push(`the project's root was ${was.root} and is ${now.root}`);
  if (was.trusted !== now.trusted && (was.hooks_present || now.hooks_present)) {
    told.push(`the project ${was.trusted ? "is no longer trusted" : "was not trusted and is"} (${now.root})`);
  }
  if (before.environment !== after.environment) {
    told.push(`its environment was the ${before.environment}'s and is the ${after.environment}'s`);
  }
  if (follow || before.snapshot.id === after.snapshot.id) return told;
  told.push(...documents(before.snapshot.sources, after.snapshot.sources));
  const gone = before.snapshot.events.filter((/** @type {string} */ event) => !after.snapshot.events.includes(event));
  if (gone.length > 0) told.push(`there are no handlers any more for ${gone.join(", ")}`);
  told.push(`its snapshot was ${before.snapshot.id.slice(0, 12)} and is ${after.snapshot.id.slice(0, 12)}`);
  return told;
}

/** @param {any[]} before @param {any[]} after @returns {string[]} */
function documents(before, after) {
  const told = [];
  const now = new Map(after.map((source) => [source.path, source]));
  for (const source of before) {
    const other = now.get(source.path);
    now.delete(source.path);
    if (source.loaded && !other?.loaded) told.push(`${source.path} counted and does not any more`);
    else if (other?.loaded && !source.loaded) told.push(`${source.path} did not count and does`);
    else if (other && other.fingerprint !== source.fingerprint) told.push(`${source.path} has changed`);
  }
  for (const source of now.values()) if (source.loaded) told.push(`${source.path} is new`);
  return told;
}
