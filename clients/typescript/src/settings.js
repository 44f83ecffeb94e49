// `socket` of hooksd.toml, the daemon's own settings in the config dir. A file that cannot be read, is no TOML or says
// nothing of the socket says nothing here: the daemon tells what is wrong with it when it is started. The same rule as of
// hooksd's own client (crates/client/src/lib.rs).

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** The daemon's own settings, in the config dir. */
const SETTINGS_FILE = "hooksd.toml";

/** How much of the file is looked at. Bytes. The daemon refuses larger ones. */
const MAX_SETTINGS = 64 * 1024;

/**
 * The absolute path that the settings name as the socket, if they do.
 *
 * @param {string} configDir
 * @returns {string | undefined}
 */
export function socketOf(configDir) {
  let file;
  try {
    // What is no regular file must not block.
    file = openSync(join(configDir, SETTINGS_FILE), constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) return undefined;
    const bytes = Buffer.alloc(MAX_SETTINGS);
    let length = 0;
    for (let read = -1; read !== 0 && length < MAX_SETTINGS; length += read) {
      read = readSync(file, bytes, length, MAX_SETTINGS - length, null);
    }
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length));
    const path = topLevelSocket(text);
    return path !== undefined && isAbsolute(path) ? path : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const NAME = String.raw`(?:[A-Za-z0-9_-]+|"[^"\\\n]*"|'[^'\n]*')`;
const SPACE = /(?:[ \t]|\r?\n|#[^\n]*)*/y;
const KEY = new RegExp(String.raw`(${NAME})((?:[ \t]*\.[ \t]*${NAME})*)[ \t]*=[ \t]*`, "y");
// eslint-disable-next-line no-control-regex
const STRING = /"(?!"")((?:[^"\\\n\r\x00-\x08\x0b-\x1f\x7f]|\\[^\n\r])*)"|'(?!'')([^'\n\r\x00-\x08\x0b-\x1f\x7f]*)'/y;
const PLAIN = /[A-Za-z0-9_+.:-]+(?: [0-9:.]+)?/y;
const END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const ESCAPE = /\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^])/g;
/** @type {Record<string, string>} */
const ESCAPES = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", '"': '"', "\\": "\\" };

/**
 * `socket` among the keys before the first table. Knows what hooksd.toml may hold there: keys with a string, a number or a
 * switch, one a line. Whatever else stands before the first table, and a key that stands twice, makes it say nothing.
 *
 * @param {string} text
 * @returns {string | undefined}
 */
export function topLevelSocket(text) {
  let at = 0;
  /** @type {string | undefined} */
  let found;
  const keys = new Set();
  const match = (/** @type {RegExp} */ expression) => {
    expression.lastIndex = at;
    const matched = expression.exec(text);
    if (matched) at = expression.lastIndex;
    return matched;
  };
  for (;;) {
    match(SPACE);
    if (at === text.length || text[at] === "[") return found;
    const key = match(KEY);
    if (!key) return undefined;
    const string = match(STRING);
    if ((!string && !match(PLAIN)) || !match(END)) return undefined;
    if (key[2]) continue; // Of a table, in dots.
    const name = key[1].replace(/^["']|["']$/g, "");
    if (keys.has(name)) return undefined;
    keys.add(name);
    if (name !== "socket") continue;
    if (!string) return undefined;
    found = string[1] === undefined ? string[2] : unescaped(string[1]);
    if (found === undefined) return undefined;
  }
}

/** @param {string} text @returns {string | undefined} */
function unescaped(text) {
  let isRight = true;
  const result = text.replace(ESCAPE, (_, /** @type {string} */ code) => {
    const number = code.length > 1 ? Number.parseInt(code.slice(1), 16) : -1;
    const isCharacter = code.length > 1 ? number <= 0x10ffff && !(number >= 0xd800 && number < 0xe000) : code in ESCAPES;
    if (isCharacter) return number < 0 ? ESCAPES[code] : String.fromCodePoint(number);
    isRight = false;
    return "";
  });
  return isRight ? result : undefined;
}
