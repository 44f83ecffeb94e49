// A connection to the daemon: any number of calls at once, each with a deadline; answers come in any order.

import { once } from "node:events";
import { createConnection } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { CallTimeout, ConnectionEnded, HooksdError, NotRunning, Refused } from "./errors.js";
import { pauseAfter } from "./retry.js";
import { meant, toLine } from "./wire.js";
import { checkOwner, checked, socketPath } from "./where.js";

/**
 * How long a call may take unless the caller says otherwise. Milliseconds. Above the longest default timeout of a handler
 * (600 s), so that the daemon's answer about a slow handler still arrives.
 */
export const CALL_MS = 630_000;

/** How long connecting may take. Milliseconds: a local socket answers at once or not at all. */
const CONNECT_MS = 10_000;

/** The longest time that a timer takes. Milliseconds, a day: beyond 2^31 one fires at once. */
export const LONGEST_MS = 86_400_000;

/** The longest line that is read from the daemon. Bytes. It reads 16 MiB itself; what many handlers say can be more. */
const MAX_LINE = 64 * 1024 * 1024;

/** Notifications and items that wait to be taken. More are dropped, and counted. */
const MAX_WAITING = 4096;

/** What may wait to be written. Bytes. While more does, the daemon takes nothing, and the next request is an error. */
const MAX_UNWRITTEN = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/** @typedef {{ method: string, params: Record<string, any> }} Notification */

/**
 * Things that come, taken one by one.
 *
 * @template T
 */
class Inbox {
  /** @type {T[]} */ #items = [];
  /** @type {(() => void)[]} */ #sleepers = [];
  #ended = false;
  dropped = 0;

  /** @param {T} item */
  put(item) {
    if (this.#ended) return;
    if (this.#items.length >= MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.#items.push(item);
    this.#wake();
  }

  end() {
    this.#ended = true;
    this.#wake();
  }

  #wake() {
    for (const wake of this.#sleepers.splice(0)) wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) yield item;
      else if (this.#ended) return;
      else await new Promise((wake) => this.#sleepers.push(() => wake(undefined)));
    }
  }
}

export class Client {
  #socket;
  #timeout;
  #nextId = 0;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  /** @type {Map<number, number>} the lengths of the lines that have no answer yet, also of calls that have given up */
  #sizes = new Map();
  /** Why the connection ends, when the daemon has said so. */
  #why = "";
  /** @type {Set<(notification: Notification | null) => boolean>} */
  #listeners = new Set();
  /** @type {Inbox<Notification>} */
  #notifications = new Inbox();
  /** @type {Buffer[]} */
  #parts = [];
  #partsLength = 0;
  #ended = false;

  /**
   * @param {import("node:net").Socket} socket
   * @param {string} path
   * @param {number} timeout
   */
  constructor(socket, path, timeout) {
    this.#socket = socket;
    this.#timeout = timeout;
    this.path = path;
    socket.on("data", (/** @type {Buffer} */ chunk) => this.#read(chunk));
    socket.on("error", () => this.#end());
    socket.on("close", () => this.#end());
  }

  /**
   * Connects to the socket at `path` (default: where the daemon is), unless somebody else may have put it there.
   *
   * @param {string} [path]
   * @param {{ timeout?: number, connectTimeout?: number }} [options]
   * @returns {Promise<Client>}
   */
  static async connect(path, { timeout = CALL_MS, connectTimeout = CONNECT_MS } = {}) {
    const place = path === undefined ? socketPath() : checked(path);
    let socket;
    try {
      await checkOwner(place);
      socket = createConnection(place);
      await once(socket, "connect", { signal: AbortSignal.timeout(Math.min(connectTimeout, LONGEST_MS)) });
      return new Client(socket, place, timeout);
    } catch (error) {
      socket?.destroy();
      throw new NotRunning(place, error);
    }
  }

  /** Whether the connection has ended. */
  get closed() {
    return this.#ended;
  }

  /** How many notifications nobody has taken in time. */
  get dropped() {
    return this.#notifications.dropped;
  }

  /**
   * Calls a method. A deadline that passes and an aborted signal both cancel the request in the daemon. What a daemon
   * that is overrun has refused is asked again within the deadline.
   *
   * @param {string} method
   * @param {Record<string, any>} [params]
   * @param {{ timeout?: number, signal?: AbortSignal }} [options]
   * @returns {Promise<any>}
   */
  async call(method, params = {}, { timeout = this.#timeout, signal } = {}) {
    const deadline = performance.now() + timeout;
    for (;;) {
      try {
        return await this.#ask(method, params, deadline - performance.now(), timeout, signal);
      } catch (error) {
        const pause = pauseAfter(error, deadline - performance.now());
        if (pause === null) throw error;
        await sleep(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
      }
    }
  }

  /**
   * Asks once.
   *
   * @param {string} method
   * @param {Record<string, any>} params
   * @param {number} left
   * @param {number} timeout
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  #ask(method, params, left, timeout, signal) {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw new ConnectionEnded(this.#because("the connection to hooksd has ended"));
      signal?.throwIfAborted();
      if (left <= 0) throw new CallTimeout(`no answer to ${method} within ${timeout} ms`);
      const unwritten = this.#socket.writableLength;
      if (unwritten > MAX_UNWRITTEN) {
        throw new HooksdError(`hooksd takes nothing: ${unwritten} bytes wait to be written`);
      }
      const id = ++this.#nextId;
      const { line, size } = toLine(method, params, id);
      const giveUp = (/** @type {Error} */ error) => {
        finish();
        this.notify("$/cancelRequest", { id });
        reject(error);
      };
      const abort = () => giveUp(signal?.reason ?? new HooksdError("aborted"));
      const timer = setTimeout(
        () => giveUp(new CallTimeout(`no answer to ${method} within ${timeout} ms`)),
        Math.min(left, LONGEST_MS),
      );
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#waiting.delete(id);
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.set(id, {
        resolve: (result) => (finish(), resolve(result)),
        reject: (error) => (finish(), reject(error)),
      });
      this.#sizes.set(id, size);
      // A write that fails is an error of the socket: the connection is lost, as by a read that fails.
      this.#socket.write(line);
    });
  }

  /**
   * Runs an event (`hook/invoke`): `params` has `invocation` or `payload`, and the options of docs/protocol.md.
   *
   * @param {string | Record<string, any>} session an open session's id, or the params of session/open
   * @param {Record<string, any>} params
   * @param {{ timeout?: number, signal?: AbortSignal }} [options]
   */
  async invoke(session, params, options) {
    const result = await this.call("hook/invoke", { session, ...params }, options);
    if (typeof result?.decision !== "object" || result.decision === null) {
      throw new HooksdError("the daemon's answer has no decision");
    }
    return result;
  }

  /**
   * Sends what needs no answer.
   *
   * @param {string} method
   * @param {Record<string, any>} [params]
   */
  notify(method, params = {}) {
    const { line } = toLine(method, params);
    if (!this.#ended) this.#socket.write(line);
  }

  /** Notifications as they come, until the connection ends. */
  notifications() {
    return this.#notifications[Symbol.asyncIterator]();
  }

  /**
   * Lets `listener` see each notification first; true keeps it from others, null is the end. Undone by the result.
   *
   * @param {(notification: Notification | null) => boolean} listener
   * @returns {() => void}
   */
  listen(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Subscribes to what the daemon does (`events/subscribe` with these params): an async iterable of the params of
   * events/item, events/gap and events/dropped, each with `method`.
   *
   * @param {Record<string, any>} [params]
   */
  async subscribe(params = {}) {
    /** @type {Inbox<Record<string, any>>} */
    const items = new Inbox();
    /** @type {Notification[] | null} */
    let early = [];
    /** @type {any} */
    let info;
    const offer = (/** @type {Notification | null} */ notification) => {
      if (notification === null) return (items.end(), false);
      if (!notification.method.startsWith("events/")) return false;
      // Items may overtake the answer that says whose they are.
      if (early) return (early.push(notification), false);
      if (notification.params.subscription !== info.subscription) return false;
      items.put({ ...notification.params, method: notification.method });
      if (notification.method === "events/dropped") items.end();
      return true;
    };
    const forget = this.listen(offer);
    try {
      info = await this.call("events/subscribe", params);
    } catch (error) {
      forget();
      throw error;
    }
    const waiting = early;
    early = null;
    waiting.forEach(offer);
    const close = async () => {
      forget();
      items.end();
      await this.call("events/unsubscribe", { subscription: info.subscription });
    };
    return {
      info,
      get dropped() {
        return items.dropped;
      },
      close,
      [Symbol.asyncIterator]: () => items[Symbol.asyncIterator](),
    };
  }

  /** Ends the connection; what is still running for it is cancelled by the daemon. */
  close() {
    this.#socket.destroy();
    this.#end();
  }

  /** Keeps the process alive for this connection, or lets it end: as of a socket. */
  unref() {
    this.#socket.unref();
  }

  /** @param {Buffer} chunk */
  #read(chunk) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(from, at)]).toString("utf8");
      this.#parts = [];
      this.#partsLength = 0;
      from = at + 1;
      if (!this.#take(line)) return this.close();
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#partsLength += chunk.length - from;
      if (this.#partsLength > MAX_LINE) this.close();
    }
  }

  /** @param {string} line */
  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return false;
    }
    if (typeof message?.method === "string") {
      const notification = { method: message.method, params: message.params ?? {} };
      const taken = [...this.#listeners].some((listener) => listener(notification));
      if (!taken) this.#notifications.put(notification);
      return true;
    }
    const { id, result, error } = message ?? {};
    const refused = error && new Refused(error.code, error.message, error.data);
    if (typeof id === "number") this.#settle(id, refused, result);
    else if (refused) this.#complain(refused);
    return true;
  }

  /** @param {number} id @param {Refused | undefined} refused @param {any} [result] */
  #settle(id, refused, result) {
    this.#sizes.delete(id);
    const call = this.#waiting.get(id);
    if (refused) call?.reject(refused);
    else call?.resolve(result);
  }

  /** @param {Refused} refused an error without an id */
  #complain(refused) {
    const { ids, error } = meant(refused, this.#sizes);
    // Of no request: of the connection, which ends now.
    if (ids.length === 0) this.#why = error.message;
    for (const id of ids) {
      if (ids.length > 1) this.notify("$/cancelRequest", { id });
      this.#settle(id, error);
    }
  }

  /** @param {string} what */
  #because(what) {
    return this.#why ? `${what}: ${this.#why}` : what;
  }

  #end() {
    if (this.#ended) return;
    this.#ended = true;
    const error = new ConnectionEnded(this.#because("the connection to hooksd ended before the answer came"));
    for (const call of [...this.#waiting.values()]) call.reject(error);
    this.#notifications.end();
    for (const listener of [...this.#listeners]) listener(null);
  }
}
