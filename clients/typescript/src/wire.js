// What a line may be, and whom an error without an id means.

import { Refused, RequestTooLong } from "./errors.js";

/** Limits of lines. */
export const LIMITS = {
  /** The longest line that the daemon reads. Bytes, without its end. A longer request is not sent. */
  request: 16 * 1024 * 1024,
};

/** Up to which length the daemon never takes back the room of a line that has begun. Bytes. */
const NEVER_CUT = 64 * 1024;

/** The error codes of lines that the daemon did not read to their end: too long, or cut because others needed the room. */
const LINE_TOO_LONG = -32001;
const OVERLOADED = -32005;

/**
 * A request, or without an id a notification, as a line. Throws RequestTooLong for what the daemon would throw away.
 *
 * @param {string} method
 * @param {Record<string, any>} params
 * @param {number} [id]
 * @returns {{ line: string, size: number }} the line with its end, and its length without
 */
export function toLine(method, params, id) {
  const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const size = Buffer.byteLength(line);
  if (size > LIMITS.request) throw new RequestTooLong(method, size, LIMITS.request);
  return { line: line + "\n", size };
}

/**
 * Which requests an error without an id ends, and with what. `sizes` are the lengths of the lines of all requests that have
 * no answer yet. The daemon says nothing but the code of a line whose id it has not read, and its answers come in any order.
 * Of lines that are too long the longest is one. A line that was cut is a long one. Where several can be meant, all of them
 * end: none may wait for an answer that never comes.
 *
 * @param {Refused} error
 * @param {Map<number, number>} sizes
 * @returns {{ ids: number[], error: Refused }}
 */
export function meant(error, sizes) {
  let ids = [...sizes.keys()];
  const size = (/** @type {number} */ id) => sizes.get(id) ?? 0;
  if (error.code === LINE_TOO_LONG) {
    ids = ids.sort((one, other) => size(one) - size(other)).slice(-1);
  } else if (error.code === OVERLOADED) {
    const long = ids.filter((id) => size(id) > NEVER_CUT);
    if (long.length > 0) ids = long;
  }
  if (ids.length < 2) return { ids, error };
  const said = error.message.replace(/ \(-?\d+\)$/, "");
  const message = `${said}; it is about one of ${ids.length} requests and does not say which, so all of them end`;
  return { ids, error: new Refused(error.code, message, error.data) };
}
