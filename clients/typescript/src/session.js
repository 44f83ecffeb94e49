// A session of the daemon that outlives its connections.
//
// A connection that ends is made anew, and the event sent again under its id: a daemon that is still the same runs nothing
// twice. A session that the daemon no longer has is opened again, and has to be the same: SessionChanged otherwise.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { CALL_MS, Client, LONGEST_MS } from "./client.js";
import { CallTimeout, HooksdError, Refused, SessionChanged } from "./errors.js";
import { Again, OPEN_MS, RECONNECT_MS, SNAPSHOT_MISMATCH, differences, isStopping, isUnknownSession } from "./lost.js";
import { Progress } from "./progress.js";

/** A way to the daemon, for any number of sessions: one connection at a time, made anew when it has ended. */
export class Link {
  #path;
  #unref;
  /** @type {Client | null} */
  #client = null;
  /** @type {Promise<Client> | null} */
  #connecting = null;
  /** @type {Client | null} one whose daemon is stopping: it still answers what it has begun */
  #stopping = null;
  /** @type {number | null} */
  #lostAt = null;

  /** @param {string} [path] @param {{ unref?: boolean }} [options] unref: the connection does not keep the process alive */
  constructor(path, { unref = false } = {}) {
    this.#path = path;
    this.#unref = unref;
  }

  /** Whether there has been a connection. */
  get wasConnected() {
    return this.#client !== null;
  }

  /** The connection. @returns {Promise<Client>} */
  async client() {
    const client = this.#client;
    if (client && !client.closed && client !== this.#stopping) return client;
    if (client) this.#lostAt ??= performance.now();
    this.#connecting ??= Client.connect(this.#path)
      .then((made) => {
        if (this.#unref) made.unref();
        return (this.#client = made);
      })
      .finally(() => (this.#connecting = null));
    return this.#connecting;
  }

  /**
   * Notes what an error says of the connection; for how many milliseconds a daemon is still looked for.
   *
   * @param {unknown} error
   * @param {Client | null} client
   * @param {number} deadline
   */
  lost(error, client, deadline) {
    if (isStopping(error) && client) this.#stopping = client;
    if (client?.closed || isStopping(error)) this.#lostAt ??= performance.now();
    const until = this.#lostAt === null ? deadline : Math.min(deadline, this.#lostAt + RECONNECT_MS);
    return until - performance.now();
  }

  /** Notes that all is well again. */
  found() {
    this.#lostAt = null;
  }

  close() {
    this.#client?.close();
    this.#stopping?.close();
  }
}

export class Session {
  #link;
  #opening;
  #timeout;
  /** @type {Client} the connection that the session was opened or gone on with */
  #on;
  #unknown = false;
  /** @type {Promise<void> | null} */
  #reopening = null;
  #ownsLink = true;

  /**
   * @param {Link} link
   * @param {Client} client
   * @param {Record<string, any>} opening
   * @param {Record<string, any>} info
   * @param {number} timeout
   */
  constructor(link, client, opening, info, timeout) {
    this.#link = link;
    this.#on = client;
    this.#opening = opening;
    this.#timeout = timeout;
    /** The answer of session/open: session, snapshot, project, environment. */
    this.info = info;
  }

  /**
   * Connects and opens a session. `opening` are the params of session/open. `timeout` bounds the connection and the opening
   * together, `runTimeout` each run that has no timeout of its own; milliseconds.
   *
   * @param {Record<string, any>} opening
   * @param {{ socket?: string, timeout?: number, runTimeout?: number }} [options]
   * @returns {Promise<Session>}
   */
  static async open(opening, { socket, ...options } = {}) {
    const link = new Link(socket);
    try {
      return await Session.on(link, opening, options);
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /**
   * Opens a session on a connection that others use as well. One that turns out to be lost is made anew.
   *
   * @param {Link} link
   * @param {Record<string, any>} opening
   * @param {{ timeout?: number, runTimeout?: number, shared?: boolean }} [options]
   * @returns {Promise<Session>}
   */
  static async on(link, opening, { timeout = OPEN_MS, runTimeout = CALL_MS, shared = false } = {}) {
    const again = new Again();
    const mayBeLost = link.wasConnected;
    const open = async (/** @type {number} */ deadline, /** @type {AbortSignal} */ signal) => {
      for (;;) {
        let client = null;
        try {
          client = await link.client();
          const info = await client.call("session/open", opening, { timeout: deadline - performance.now(), signal });
          link.found();
          const session = new Session(link, client, opening, info, runTimeout);
          session.#ownsLink = !shared;
          return session;
        } catch (error) {
          const left = link.lost(error, client, deadline);
          const pause = mayBeLost ? again.pause(error, left, false) : null;
          if (pause === null) throw error;
          await sleep(pause, undefined, { signal });
        }
      }
    };
    return within(timeout, undefined, "no session", open);
  }

  /**
   * Runs an event's handlers; the decision. The event is an invocation with context and event, or a payload with
   * hook_event_name. The deadline bounds all of it, a connection made anew and a second attempt included.
   *
   * @param {Record<string, any>} what
   * @param {Record<string, any>} [options] timeout, signal, env, onProgress, and those of docs/protocol.md
   * @returns {Promise<any>}
   */
  async run(what, { timeout = this.#timeout, signal, env, onProgress, ...options } = {}) {
    const isPayload = "hook_event_name" in what;
    const id = options.invocation_id ?? randomUUID();
    /** @type {Record<string, any>} */
    const params = { [isPayload ? "payload" : "invocation"]: what, ...options, invocation_id: id };
    if (onProgress) params.progress = true;
    const progress = onProgress ? new Progress(id, onProgress) : null;
    const event = isPayload ? what.hook_event_name : what.event?.event;
    try {
      return await within(timeout, signal, `no decision on ${event}`, (deadline, inner) =>
        this.#insist(params, env, progress, deadline, inner),
      );
    } finally {
      progress?.end();
    }
  }

  /**
   * @param {Record<string, any>} params
   * @param {Record<string, string> | undefined} env
   * @param {Progress | null} progress
   * @param {number} deadline
   * @param {AbortSignal} signal
   */
  async #insist(params, env, progress, deadline, signal) {
    const again = new Again();
    for (;;) {
      let client = this.#on;
      let sent = false;
      try {
        client = await this.#ready();
        signal.throwIfAborted();
        sent = true;
        const options = { timeout: deadline - performance.now(), signal };
        const forget = progress ? client.listen((notification) => progress.hear(notification)) : () => {};
        try {
          const { session, ...rest } = this.#with(params, env);
          return (await client.invoke(session, rest, options)).decision;
        } finally {
          forget();
          progress?.end();
        }
      } catch (error) {
        signal.throwIfAborted();
        if (env && error instanceof Refused && error.code === SNAPSHOT_MISMATCH) {
          const told = "its documents have changed since, and an event with an environment of its own reads them anew";
          throw new SessionChanged([`${told} (${error.message})`], this.info, null);
        }
        if (isUnknownSession(error)) this.#unknown = true;
        const pause = again.pause(error, this.#link.lost(error, client, deadline), sent);
        if (pause === null) throw error;
        await sleep(pause, undefined, { signal });
      }
    }
  }

  /**
   * The params, with the session. With an environment of its own an event comes with a session of its own, which costs no
   * round trip. It must have the snapshot of the open one, unless that follows the documents.
   *
   * @param {Record<string, any>} params
   * @param {Record<string, string> | undefined} env
   * @returns {Record<string, any>}
   */
  #with(params, env) {
    if (!env) return { ...params, session: this.info.session };
    const own = { ...params, session: { ...this.#opening, env } };
    return this.#opening.follow ? own : { ...own, snapshot_id: this.info.snapshot.id };
  }

  /** The connection, made anew, and the session, opened again, if need be. @returns {Promise<Client>} */
  async #ready() {
    const client = await this.#link.client();
    if (client === this.#on && !this.#unknown) return client;
    this.#reopening ??= this.#reopen(client).finally(() => (this.#reopening = null));
    await this.#reopening;
    return this.#on;
  }

  /** @param {Client} client */
  async #reopen(client) {
    const info = await this.#againOn(client);
    this.#on = client;
    this.#unknown = false;
    this.info = info;
    this.#link.found();
  }

  /** @param {Client} client @returns {Promise<Record<string, any>>} */
  async #againOn(client) {
    const options = { timeout: OPEN_MS };
    try {
      return await client.call("session/attach", { session: this.info.session }, options);
    } catch (error) {
      if (!isUnknownSession(error)) throw error;
    }
    const info = await client.call("session/open", this.#opening, options);
    const told = differences(this.info, info, this.#opening.follow === true);
    if (told.length === 0) return info;
    // It ends by itself once nobody uses it.
    await client.call("session/close", { session: info.session }, options).catch(() => {});
    throw new SessionChanged(told, this.info, info);
  }

  /** Closes the session, and the connection unless others use it. */
  async close() {
    try {
      if (!this.#on.closed) await this.#on.call("session/close", { session: this.info.session }, { timeout: OPEN_MS });
    } catch (error) {
      if (!(error instanceof HooksdError)) throw error; // Else it is closed already.
    } finally {
      if (this.#ownsLink) this.#link.close();
    }
  }
}

/**
 * What `work` comes to, unless it takes too long or `signal` is aborted; then it is told to stop.
 *
 * @template T
 * @param {number} timeout
 * @param {AbortSignal | undefined} signal
 * @param {string} what
 * @param {(deadline: number, signal: AbortSignal) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function within(timeout, signal, what, work) {
  signal?.throwIfAborted();
  const control = new AbortController();
  const late = () => control.abort(new CallTimeout(`${what} within ${timeout} ms`));
  const abort = () => control.abort(signal?.reason);
  const timer = setTimeout(late, Math.min(Math.max(timeout, 0), LONGEST_MS));
  signal?.addEventListener("abort", abort, { once: true });
  /** @type {Promise<never>} */
  const stopped = new Promise((_, reject) => {
    control.signal.addEventListener("abort", () => reject(control.signal.reason), { once: true });
  });
  try {
    // The connection's own timer may be a little earlier: it is the same time that is up.
    const working = work(performance.now() + timeout, control.signal).catch((error) => {
      if (error instanceof CallTimeout && !control.signal.aborted) late();
      control.signal.throwIfAborted();
      throw error;
    });
    working.catch(() => {});
    return await Promise.race([working, stopped]);
  } finally {
    stopped.catch(() => {});
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
