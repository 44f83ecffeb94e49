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
