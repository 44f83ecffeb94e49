// What can go wrong, one class each; all are HooksdError.

/** The daemon could not be asked, or said no. */
export class HooksdError extends Error {
  /** @param {string} message @param {{ cause?: unknown }} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There is no usable path of a socket; the message says which variable to set. */
export class SocketPathError extends HooksdError {}

/** Nobody listens on the socket, or somebody else may. */
export class NotRunning extends HooksdError {
  /** @param {string} path @param {unknown} reason */
  constructor(path, reason) {
    const why = reason instanceof Error ? reason.message : String(reason);
    super(`no daemon answers on ${path}: start it with \`hooksd\` (${why})`, { cause: reason });
    this.path = path;
  }
}

/** The connection ended before the answer came; whether the daemon has acted is not known. */
export class ConnectionEnded extends HooksdError {}

/** No answer came in time. The daemon was told to stop what it was doing. */
export class CallTimeout extends HooksdError {}

/** The daemon's error answer: `code` is one of docs/protocol.md, `data` what belongs to it. */
export class Refused extends HooksdError {
  /** @param {number} code @param {string} message @param {unknown} [data] */
  constructor(code, message, data) {
    super(`${message} (${code})`);
    this.code = code;
    this.data = data;
  }
}

/** The request is longer than a line of the daemon may be. It was not sent; `size` and `limit` are bytes. */
export class RequestTooLong extends HooksdError {
  /** @param {string} method @param {number} size @param {number} limit */
  constructor(method, size, limit) {
    super(`the request ${method} is ${size} bytes long, hooksd takes ${limit}: send less of it`);
    this.method = method;
    this.size = size;
    this.limit = limit;
  }
}

/**
 * The daemon no longer has the session, and the one it would open now is another: other hooks, or other trust. There is
 * no decision, for it might be a quieter one. `differences` says what is not the same, `before` and `after` are the answers
 * of session/open then and now. Who accepts that opens a new session.
 */
export class SessionChanged extends HooksdError {
  /** @param {string[]} differences @param {Record<string, any>} before @param {Record<string, any> | null} after */
  constructor(differences, before, after) {
    super(
      `hooksd no longer has the session, and one opened now would not be the same: ${differences.join("; ")}. ` +
        "Undo that, or open a new session to go on with what is there now",
    );
    this.differences = differences;
    this.before = before;
    this.after = after;
  }
}
