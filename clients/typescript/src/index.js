// Talks to hooksd: finds its socket, connects, calls, hears notifications. Types are in index.d.ts.

export { Client } from "./client.js";
export {
  CallTimeout,
  ConnectionEnded,
  HooksdError,
  NotRunning,
  Refused,
  RequestTooLong,
  SessionChanged,
  SocketPathError,
} from "./errors.js";
export { Session } from "./session.js";
export { MAX_SOCKET_PATH, socketPath } from "./where.js";
