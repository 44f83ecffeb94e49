// A daemon that is overrun, scripted: it is asked again on the same connection, and no longer than the call may take.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { Client, Refused } from "hooksd-client";

import { PATIENCE, until } from "./world.js";

const BUSY = { error: { code: -32005, message: "busy", data: { retry_after_ms: 30 } } };
const FULL = { error: { code: -32005, message: "full" } };
const OTHER = { error: { code: -32002, message: "other", data: { retry_after_ms: 30 } } };
const DONE = { result: "done" };

/** Calls a daemon that gives these answers, each of which is taken out of the script. */
const ask = async (script, options) => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  const server = createServer((connection) => {
    createInterface({ input: connection }).on("line", (line) => {
      const { id } = JSON.parse(line);
      if (id !== undefined) connection.write(JSON.stringify({ jsonrpc: "2.0", id, ...script.shift() }) + "\n");
    });
  });
  await new Promise((ready) => server.listen(join(folder, "s"), ready));
  const hooksd = await Client.connect(join(folder, "s"));
  try {
    return await hooksd.call("x", {}, options);
  } finally {
    hooksd.close();
    server.close();
    rmSync(folder, { recursive: true });
  }
};

test("what it refused is asked again", async () => {
  const script = [BUSY, FULL, BUSY, DONE];
  assert.equal(await ask(script, { timeout: PATIENCE }), "done");
  assert.deepEqual(script, []);
});

test("another refusal is told at once", async () => {
  const script = [BUSY, OTHER, DONE];
  await assert.rejects(ask(script, { timeout: PATIENCE }), (error) => error instanceof Refused && error.code === -32002);
  assert.deepEqual(script, [DONE]);
});

test("nothing is asked after the deadline", async () => {
  const script = Array.from({ length: 64 }, () => BUSY);
  const began = performance.now();
  await assert.rejects(ask(script, { timeout: 100 }), (error) => error instanceof Refused && error.code === -32005);
  assert.ok(script.length >= 59 && script.length < 64, String(script.length));
  assert.ok(performance.now() - began < 10_000);
});

test("an abort ends the wait", async () => {
  const late = { error: { ...BUSY.error, data: { retry_after_ms: 5_000 } } };
  const abort = new AbortController();
  const script = [late, DONE];
  const asked = ask(script, { timeout: PATIENCE, signal: abort.signal });
  asked.catch(() => {});
  await until(() => script.length === 1);
  abort.abort();
  await assert.rejects(asked, { name: "AbortError" });
  assert.deepEqual(script, [DONE]);
});

test("what a daemon that takes nothing is asked has a bound", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  const server = createServer({ pauseOnConnect: true });
  await new Promise((ready) => server.listen(join(folder, "s"), ready));
  const hooksd = await Client.connect(join(folder, "s"));
  const params = { long: "x".repeat(4_000_000) };
  const asked = Array.from({ length: 8 }, () => hooksd.call("x", params, { timeout: 50 }).catch((error) => error));
  const told = (await Promise.all(asked)).map((error) => error.constructor.name);
  const many = told.indexOf("HooksdError");
  assert.ok(many >= 4 && many <= 6, told.join());
  assert.deepEqual(new Set(told.slice(0, many)), new Set(["CallTimeout"]));
  assert.deepEqual(new Set(told.slice(many)), new Set(["HooksdError"]));
  hooksd.close();
  server.close();
  rmSync(folder, { recursive: true });
});
