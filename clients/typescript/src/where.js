// Where the daemon's socket is (docs/protocol.md, "Where").

import { isAbsolute, join } from "node:path";

import { SocketPathError } from "./errors.js";

/** The longest path a Unix socket address holds. Bytes, without the final NUL. */
export const MAX_SOCKET_PATH = process.platform === "linux" || process.platform === "android" ? 107 : 103;

/**
 * The socket's path: HOOKSD_SOCKET, else $XDG_RUNTIME_DIR/hooksd/hooksd.sock, else below the config dir.
 *
 * @param {Record<string, string | undefined>} [environment]
 * @returns {string}
 */
export function socketPath(environment = process.env) {
  const absolute = (/** @type {string} */ name) => {
    const value = environment[name];
    return value && isAbsolute(value) ? value : undefined;
  };
  const explicit = environment.HOOKSD_SOCKET;
  if (explicit) {
    if (!isAbsolute(explicit)) throw new SocketPathError(`HOOKSD_SOCKET is not an absolute path: ${explicit}`);
    return checked(explicit);
  }
  const runtime = absolute("XDG_RUNTIME_DIR");
  if (runtime) return checked(join(runtime, "hooksd", "hooksd.sock"));
  const home = absolute("HOME");
  const config = absolute("HOOKSD_CONFIG_DIR") ?? (home && join(home, ".deepagents"));
  if (!config) {
    throw new SocketPathError("no place for the socket: set HOOKSD_SOCKET, XDG_RUNTIME_DIR or HOME to an absolute path");
  }
  return checked(join(config, ".state", "hooksd", "hooksd.sock"));
}

/**
 * The path, if it fits a socket address.
 *
 * @param {string} path
 */
export function checked(path) {
  const length = Buffer.byteLength(path);
  if (length > MAX_SOCKET_PATH) {
    throw new SocketPathError(
      `the socket path is ${length} bytes long, the system allows ${MAX_SOCKET_PATH}: ${path}; ` +
        "set HOOKSD_SOCKET to a shorter absolute path",
    );
  }
  return path;
}
