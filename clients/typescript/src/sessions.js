// opencode's sessions as sessions of the daemon, over one connection that is made anew when it ends.

import { randomUUID } from "node:crypto";

import { Client } from "./client.js";
import { ConnectionEnded, Refused } from "./errors.js";

/** The error code of a session the daemon does not know: it was restarted, or the session idled too long. */
const UNKNOWN_SESSION = -32002;

export class Sessions {
  /** @type {Promise<Client> | null} */
  #connecting = null;
  /** @type {Map<string, Promise<string>>} the daemon's session by opencode's */
  #open = new Map();
  #opening;
  #path;

  /** @param {Record<string, any>} opening params of session/open @param {string} [path] */
  constructor(opening, path) {
    this.#opening = opening;
    this.#path = path;
  }

  /**
   * Runs an event of a session; its decision. The event is sent a second time, under the same id, when the connection or
   * the session turns out to be gone: a daemon that is still the same runs nothing twice.
   *
   * @param {string} thread opencode's session
   * @param {Record<string, any>} event
   */
  async decide(thread, event) {
    const params = {
      invocation: { context: { thread_id: thread, cwd: this.#opening.cwd, approval_mode: "manual" }, event },
      invocation_id: randomUUID(),
    };
    try {
      return (await this.#ask(thread, params)).decision;
    } catch (error) {
      const gone = error instanceof Refused && error.code === UNKNOWN_SESSION;
      if (!gone && !(error instanceof ConnectionEnded)) throw error;
      this.#open.delete(thread);
      return (await this.#ask(thread, params)).decision;
    }
  }

  /** @param {string} thread @param {Record<string, any>} params */
  async #ask(thread, params) {
    const client = await this.#client();
    let session = this.#open.get(thread);
    if (!session) {
      session = client.call("session/open", { ...this.#opening, thread_id: thread }).then((info) => info.session);
      this.#open.set(thread, session);
      session.catch(() => this.#open.delete(thread));
    }
    return client.invoke(await session, params);
  }

  async #client() {
    const client = await this.#connecting?.catch(() => null);
    if (client && !client.closed) return client;
    this.#open.clear();
    this.#connecting = Client.connect(this.#path);
    const made = await this.#connecting;
    // hooksd must not keep opencode from ending.
    made.unref();
    return made;
  }

  /** Closes one session. @param {string} thread */
  async forget(thread) {
    const session = this.#open.get(thread);
    this.#open.delete(thread);
    if (session) await (await this.#client()).call("session/close", { session: await session });
  }

  async close() {
    (await this.#connecting?.catch(() => null))?.close();
  }
}
