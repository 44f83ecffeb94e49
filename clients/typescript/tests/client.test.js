// The client against the real daemon; subscriptions against a scripted one as well.

import assert from "node:assert/strict";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { CallTimeout, Client, ConnectionEnded, MAX_SOCKET_PATH, NotRunning, Refused, SocketPathError, socketPath } from "hooksd-client";

import { topLevelSocket } from "../src/settings.js";
import { PATIENCE, PROJECT, SOCKET, beforeTool, daemon, hooks, opening, runs, until, user } from "./world.js";

const connected = async (work) => {
  const hooksd = await Client.connect(undefined, { timeout: PATIENCE });
  try {
    return await work(hooksd);
  } finally {
    hooksd.close();
  }
};

test("the socket is where hooksd says it is", () => {
  const every = { HOOKSD_SOCKET: "/s", XDG_RUNTIME_DIR: "/run/user/1", HOOKSD_CONFIG_DIR: "/c", HOME: "/h" };
  assert.equal(socketPath(every), "/s");
  for (const [name, expected] of [
    ["HOOKSD_SOCKET", "/run/user/1/hooksd/hooksd.sock"],
    ["XDG_RUNTIME_DIR", "/c/.state/hooksd/hooksd.sock"],
    ["HOOKSD_CONFIG_DIR", "/h/.deepagents/.state/hooksd/hooksd.sock"],
  ]) {
    every[name] = "";
    assert.equal(socketPath(every), expected);
  }
  for (const [variables, part] of [
    [{}, /set HOOKSD_SOCKET/],
    [{ HOOKSD_SOCKET: "s" }, /not an absolute path: s/],
    [{ HOOKSD_SOCKET: `/${"x".repeat(MAX_SOCKET_PATH)}` }, /the system allows/],
  ]) {
    assert.throws(() => socketPath(variables), (error) => error instanceof SocketPathError && part.test(error.message));
  }
});

test("the settings come after the variable and before the runtime dir", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  const every = { HOOKSD_SOCKET: "", XDG_RUNTIME_DIR: "/run/user/1", HOOKSD_CONFIG_DIR: folder };
  const otherwise = "/run/user/1/hooksd/hooksd.sock";
  const file = join(folder, "hooksd.toml");
  for (const [text, expected] of [
    ['socket = "/a"', "/a"],
    ["# x\npoll = true\nsocket = '/a\\b' # c\n[limits]\nhandlers = 5\n", "/a\\b"],
    ['"socket" = "/q"\r\n', "/q"],
    ['limits.handlers = 5\nsocket="/a\\u00e9\\U0001f600"', "/a\u00e9\u{1f600}"],
    ['log = "socket = 1 # \\" [x]"\ndrain_seconds = 1_0\nsocket = "/a"', "/a"],
    ['socket = ""', ""],
    ["", undefined],
    ['[limits]\nsocket = "/z"', undefined],
    ["socket = 5", undefined],
    ['socket = "/a"\nsocket = "/b"', undefined],
    ['socket "/a"', undefined],
    ['socket = "/a" x', undefined],
    ['socket = "/\\q"', undefined],
    ['socket = "/\\ud800"', undefined],
    ['socket = "/a', undefined],
    ['poll = \nsocket = "/a"', undefined],
  ]) {
    writeFileSync(file, text);
    assert.equal(topLevelSocket(text), expected, text);
    assert.equal(socketPath(every), expected || otherwise, text);
    assert.equal(socketPath({ ...every, HOOKSD_SOCKET: "/s" }), "/s");
  }
  writeFileSync(file, 'socket = "relative"');
  assert.equal(socketPath(every), otherwise);
  writeFileSync(file, Buffer.from('socket = "/\xff"', "latin1"));
  assert.equal(socketPath(every), otherwise);
  writeFileSync(file, `socket = "/${"x".repeat(MAX_SOCKET_PATH)}"`);
  assert.throws(() => socketPath(every), SocketPathError);
  rmSync(folder, { recursive: true });
  await daemon(
    async (one) => {
      assert.equal(socketPath(one.variables), one.socket);
      (await Client.connect(socketPath(one.variables))).close();
    },
    { settings: true },
  );
});

test("an event goes in and its decision comes out", async () => {
  user(hooks(["PreToolUse", "echo no >&2; exit 2"]));
  await connected(async (hooksd) => {
    assert.equal(hooksd.path, SOCKET);
    const { session } = await hooksd.call("session/open", opening("t"));
    const { decision } = await hooksd.invoke(session, { invocation: beforeTool() });
    assert.deepEqual(decision, {
      event: "PreToolUse",
      continue_processing: true,
      stop_reason: null,
      user_notices: [],
      terminal_sequences: [],
      diagnostics: [],
      permission: { behavior: "deny", reason: "no", interrupt: false },
      context: [],
    });
  });
});

test("answers of any length come in any order to whoever waits", async () => {
  const go = join(PROJECT, "go");
  const word = "\u00e9\u{1f600}".repeat(10_000);
  const say = JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", additionalContext: word } });
  writeFileSync(join(PROJECT, "say"), say);
  user(hooks(["PreToolUse", `read p; case $p in *slow*) until [ -e ${go} ]; do sleep 0.02; done;; esac; cat say`]));
  await connected(async (hooksd) => {
    const { session } = await hooksd.call("session/open", opening("t"));
    let slowIsDone = false;
    const slow = hooksd.invoke(session, { invocation: beforeTool("slow") }).then((result) => {
      slowIsDone = true;
      return result;
    });
    const quick = await Promise.all(
      Array.from({ length: 20 }, () => hooksd.invoke(session, { invocation: beforeTool("quick") })),
    );
    for (const { decision } of quick) assert.deepEqual(decision.context, [word]);
    assert.equal(slowIsDone, false);
    writeFileSync(go, "");
    assert.deepEqual((await slow).decision.context, [word]);
  });
  rmSync(go);
});

for (const how of ["a deadline", "an abort"]) {
  test(`${how} ends the wait and the handler`, async () => {
    const pid = join(PROJECT, "pid");
    rmSync(pid, { force: true });
    user(hooks(["PreToolUse", `echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 600`]));
    await connected(async (hooksd) => {
      const { session } = await hooksd.call("session/open", opening("t"));
      const abort = new AbortController();
      const options = how === "an abort" ? { signal: abort.signal } : { timeout: 2000 };
      const asked = hooksd.invoke(session, { invocation: beforeTool() }, options);
      asked.catch(() => {});
      await until(() => existsSync(pid));
      abort.abort();
      await assert.rejects(asked, how === "an abort" ? { name: "AbortError" } : CallTimeout);
      const number = Number(readFileSync(pid, "utf8"));
      await until(() => !runs(number));
      assert.equal((await hooksd.call("daemon/status")).protocol_version, 1);
    });
  });
}

test("errors have code and data, and the end is told", async () => {
  const hooksd = await Client.connect();
  const refusal = await hooksd.call("session/open", { ...opening("t"), cwd: "x" }).catch((error) => error);
  assert.ok(refusal instanceof Refused);
  assert.deepEqual([refusal.code, refusal.data.field], [-32602, "cwd"]);
  hooksd.close();
  assert.equal(hooksd.closed, true);
  await assert.rejects(hooksd.call("daemon/status"), ConnectionEnded);
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  await assert.rejects(Client.connect(join(folder, "s")), NotRunning);
  rmSync(folder, { recursive: true });
});

test("a socket that somebody else may have put there is not spoken to", async () => {
  const top = mkdtempSync(join(tmpdir(), "hooksd-"));
  const folder = join(top, "folder");
  const path = join(folder, "s");
  mkdirSync(folder);
  let heard = 0;
  const server = createServer((connection) => (heard++, connection.end()));
  await new Promise((ready) => server.listen(path, ready));
  (await Client.connect(path)).close();
  await until(() => heard === 1);
  const refused = (place, why) =>
    assert.rejects(Client.connect(place), (error) => error instanceof NotRunning && why.test(error.message));

  for (const mode of [0o777, 0o770, 0o1777]) {
    chmodSync(folder, mode);
    await refused(path, /folder can be written by others \(mode 1?77[07]\): chmod 700 it/);
    symlinkSync(path, join(top, "link"));
    await refused(join(top, "link"), /folder can be written by others/);
    rmSync(join(top, "link"));
  }
  chmodSync(folder, 0o755);
  // Only the superuser can be another user.
  if (process.geteuid() === 0) {
    for (const place of [path, folder]) {
      chownSync(place, 65534, 65534);
      await refused(path, /belongs to user 65534, not to you: choose another socket with HOOKSD_SOCKET/);
      chownSync(place, 0, 0);
    }
  }
  (await Client.connect(path)).close();
  await until(() => heard === 2);
  server.close();
  rmSync(top, { recursive: true });
});

test("notifications are heard", async () => {
  user(hooks(["SessionStart", "true"]));
  await connected(async (hooksd) => {
    const invocation = { ...beforeTool(), event: { event: "SessionStart", cause: "startup" } };
    await hooksd.invoke(opening("t"), { invocation, progress: true });
    const heard = [];
    for await (const { method, params } of hooksd.notifications()) {
      heard.push([method, params.active]);
      if (heard.length === 2) break;
    }
    assert.deepEqual(heard, [["hook/progress", true], ["hook/progress", false]]);
  });
});

test("a subscription has its own items, also those before its answer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  const early = { subscription: 7, seq: 1, kind: "session" };
  const gap = { subscription: 7, lost: 3 };
  const dropped = { subscription: 7, reason: "slow", lost: 9 };
  const server = createServer((connection) => {
    const send = (message) => connection.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
    createInterface({ input: connection }).once("line", (line) => {
      const request = JSON.parse(line);
      send({ method: "events/item", params: early });
      send({ id: request.id, result: { subscription: 7, asked: request.params } });
      send({ method: "events/item", params: { ...early, subscription: 8 } });
      send({ method: "events/gap", params: gap });
      send({ method: "events/dropped", params: dropped });
    });
  });
  await new Promise((ready) => server.listen(join(folder, "s"), ready));
  const hooksd = await Client.connect(join(folder, "s"));
  const subscription = await hooksd.subscribe({ kinds: ["session"] });
  assert.deepEqual(subscription.info, { subscription: 7, asked: { kinds: ["session"] } });
  const items = [];
  for await (const item of subscription) items.push(item);
  assert.deepEqual(items, [
    { ...early, method: "events/item" },
    { ...gap, method: "events/gap" },
    { ...dropped, method: "events/dropped" },
  ]);
  hooksd.close();
  server.close();
  rmSync(folder, { recursive: true });
});

test("what the daemon does is heard as it does it", async () => {
  await connected(async (hooksd) => {
    user(hooks(["PreToolUse", "exit 2"]));
    const { session } = await hooksd.call("session/open", opening("t"));
    const subscription = await hooksd.subscribe({ kinds: ["decision"], sessions: [session] });
    await hooksd.invoke(session, { invocation: beforeTool() });
    for await (const item of subscription) {
      assert.deepEqual([item.method, item.kind, item.event], ["events/item", "decision", "PreToolUse"]);
      break;
    }
    await subscription.close();
  });
});
