// Where the daemon's socket is (docs/protocol.md, "Where").

import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";

import { SocketPathError } from "./errors.js";
import { socketOf } from "./settings.js";

/** The longest path a Unix socket address holds. Bytes, without the final NUL. */
export const MAX_SOCKET_PATH = process.platform === "linux" || process.platform === "android" ? 107 : 103;

/**
 * The socket's path: HOOKSD_SOCKET, else `socket` in the config dir's hooksd.toml, else
 * $XDG_RUNTIME_DIR/hooksd/hooksd.sock, else below the config dir.
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
  const home = absolute("HOME");
  const config = absolute("HOOKSD_CONFIG_DIR") ?? (home && join(home, ".deepagents"));
  const named = config && socketOf(config);
  if (named) return checked(named);
  const runtime = absolute("XDG_RUNTIME_DIR");
  if (runtime) return checked(join(runtime, "hooksd", "hooksd.sock"));
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

/**
 * Rejects when somebody else may have put his own socket at this path: what is asked and shown must not go there, and what
 * is answered there is no verdict. The socket, its folder and, where the path is a link, the folder that it leads to have to
 * be this user's or the superuser's, and nobody else may write into a folder. Node does not tell who listens, so that is
 * all: folders further up are not looked at, and what is put in the socket's place after this look is not noticed.
 *
 * @param {string} path
 */
export async function checkOwner(path) {
  const other = "choose another socket with HOOKSD_SOCKET";
  const real = await realpath(path);
  const folders = new Set([dirname(path), dirname(real)]);
  for (const place of [real, ...folders]) {
    const { uid, mode } = await stat(place);
    if (uid !== process.geteuid?.() && uid !== 0) {
      throw new Error(`${place} belongs to user ${uid}, not to you: ${other}`);
    }
    // Who may write into the socket itself may ask, and not answer.
    if (folders.has(place) && (mode & 0o022) !== 0) {
      const shown = (mode & 0o7777).toString(8);
      throw new Error(`${place} can be written by others (mode ${shown}): chmod 700 it, or ${other}`);
    }
  }
}
