// opencode's sessions as sessions of the daemon, over one connection that is made anew when it ends.

import { Link, Session } from "./session.js";

export class Sessions {
  /** @type {Map<string, Promise<Session>>} the daemon's session by opencode's */
  #open = new Map();
  #opening;
  #link;

  /** @param {Record<string, any>} opening params of session/open @param {string} [path] */
  constructor(opening, path) {
    this.#opening = opening;
    // hooksd must not keep opencode from ending.
    this.#link = new Link(path, { unref: true });
  }

  /**
   * Runs an event of a session; its decision.
   *
   * @param {string} thread opencode's session
   * @param {Record<string, any>} event
   */
  async decide(thread, event) {
    const context = { thread_id: thread, cwd: this.#opening.cwd, approval_mode: "manual" };
    return (await this.#session(thread)).run({ context, event });
  }

  /** @param {string} thread @returns {Promise<Session>} */
  #session(thread) {
    let session = this.#open.get(thread);
    if (!session) {
      session = Session.on(this.#link, { ...this.#opening, thread_id: thread }, { shared: true });
      this.#open.set(thread, session);
      session.catch(() => this.#open.delete(thread));
    }
    return session;
  }

  /** Closes one session. @param {string} thread */
  async forget(thread) {
    const session = this.#open.get(thread);
    this.#open.delete(thread);
    await (await session)?.close();
  }

  async close() {
    this.#link.close();
  }
}
