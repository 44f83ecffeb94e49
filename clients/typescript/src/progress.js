// Handlers that begin and end, told to a callback so that whatever has begun also ends.

/** @typedef {import("./index.d.ts").HookProgress} HookProgress */

/** The progress of one event. What shows it must not decide anything: a callback that throws is told to the console. */
export class Progress {
  /** @type {Map<string, HookProgress>} */
  #begun = new Map();
  #id;
  #callback;

  /** @param {string} id @param {(progress: HookProgress) => void} callback */
  constructor(id, callback) {
    this.#id = id;
    this.#callback = callback;
  }

  /**
   * Tells of a notification, if it is about the event; whether it was.
   *
   * @param {{ method: string, params: Record<string, any> } | null} notification
   * @returns {boolean}
   */
  hear(notification) {
    if (notification?.method !== "hook/progress" || notification.params.invocation_id !== this.#id) return false;
    const params = /** @type {HookProgress} */ (notification.params);
    if (params.active) this.#begun.set(params.handler_id, params);
    else this.#begun.delete(params.handler_id);
    this.#tell(params);
    return true;
  }

  /** Tells of the end of each handler that began: nobody else will, once the call or the connection is over. */
  end() {
    const begun = [...this.#begun.values()];
    this.#begun.clear();
    for (const params of begun) this.#tell({ ...params, active: false });
  }

  /** @param {HookProgress} params */
  #tell(params) {
    try {
      this.#callback(params);
    } catch (error) {
      console.warn("hooksd: the callback for a hook's progress failed:", error);
    }
  }
}
