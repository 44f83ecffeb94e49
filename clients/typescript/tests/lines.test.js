// Lines that are too long, and errors without an id: no call waits for an answer that never comes.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { Client, Refused, RequestTooLong } from "hooksd-client";

import { LIMITS } from "../src/wire.js";
import { PATIENCE, daemon, hooks, until } from "./world.js";

const LIMIT = LIMITS.request;

/** Params with which the first request of a connection is so long. */
const long = (size) => {
  const bare = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/list", params: { x: "" } });
  return { x: "x".repeat(size - bare.length) };
};

const connected = async (path, work) => {
  const hooksd = await Client.connect(path, { timeout: PATIENCE });
  try {
    return await work(hooksd);
  } finally {
    hooksd.close();
  }
};

test("a request that is too long is not sent, and one byte less is read", () =>
  daemon((one) =>
    connected(one.socket, async (hooksd) => {
      const refused = await hooksd.call("session/list", long(LIMIT)).catch((error) => error);
      assert.deepEqual([refused.constructor, refused.code], [Refused, -32602]);
    }).then(() =>
      connected(one.socket, async (hooksd) => {
        const error = await hooksd.call("session/list", long(LIMIT + 1)).catch((error) => error);
        assert.ok(error instanceof RequestTooLong, String(error));
        assert.match(error.message, new RegExp(`the request session/list is ${LIMIT + 1} bytes long, hooksd takes ${LIMIT}`));
        assert.deepEqual([error.size, error.limit], [LIMIT + 1, LIMIT]);
        // Letters that take more than one byte count as what they take.
        await assert.rejects(hooksd.call("session/list", { x: "\u00e9".repeat(LIMIT / 2) }), RequestTooLong);
        assert.throws(() => hooksd.notify("x", long(LIMIT + 100)), RequestTooLong);
        assert.equal((await hooksd.call("daemon/status")).protocol_version, 1);
      }),
    ),
  ));

test("the daemon's error without an id ends the longest request and no other", (context) =>
  daemon((one) =>
    connected(one.socket, async (hooksd) => {
      // As if the daemon's limit were lower than what the client knows.
      LIMITS.request = 64 * 1024 * 1024;
      context.after(() => (LIMITS.request = LIMIT));
      one.user(hooks(["PreToolUse", "touch slow; until [ -e go ]; do sleep 0.02; done; exit 2"]));
      let isDone = false;
      const slow = hooksd.invoke(one.opening(), { invocation: one.before() }).finally(() => (isDone = true));
      await until(() => one.has("slow"));
      const refused = await hooksd.call("session/list", { x: "x".repeat(LIMIT + 1) }).catch((error) => error);
      assert.deepEqual([refused.constructor, refused.code], [Refused, -32001]);
      assert.match(refused.message, /longer than 16777216 bytes/);
      assert.equal(isDone, false);
      one.touch("go");
      assert.equal((await slow).decision.permission.behavior, "deny");
    }),
  ));

/** Asks a daemon that reads so many requests and then says this: the errors, and the lines that came later. */
const scripted = async (requests, answers, asked) => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  const lines = [];
  const server = createServer((connection) => {
    connection.on("error", () => {});
    const say = () => {
      for (const answer of answers) connection.write(JSON.stringify({ jsonrpc: "2.0", ...answer }) + "\n");
    };
    if (requests === 0) return (say(), connection.end());
    createInterface({ input: connection }).on("line", (line) => {
      lines.push(JSON.parse(line));
      if (lines.length === requests) say();
    });
  });
  await new Promise((ready) => server.listen(join(folder, "s"), ready));
  try {
    return await connected(join(folder, "s"), async (hooksd) => {
      const errors = asked.map((params) => hooksd.call("x", params, { timeout: 2_000 }).catch((error) => error.message));
      return { errors: await Promise.all(errors), later: lines.slice(requests) };
    });
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
};

const withoutId = (code, data) => ({ id: null, error: { code, message: "what", data } });

test("an error without an id ends the only request there is", async () => {
  assert.deepEqual((await scripted(1, [withoutId(-32700)], [{}])).errors, ["what (-32700)"]);
});

test("it ends every request that can be meant", async () => {
  const said = "what; it is about one of 2 requests and does not say which, so all of them end (-32700)";
  assert.deepEqual((await scripted(2, [withoutId(-32700)], [{}, {}])).errors, [said, said]);
});

test("a line that was cut is a long one and is sent again", async () => {
  const answers = [withoutId(-32005, { retry_after_ms: 20 }), { id: 2, result: "done" }, { id: 3, result: "again" }];
  const { errors, later } = await scripted(2, answers.slice(0, 2), [{ x: "x".repeat(100_000) }, {}]);
  assert.deepEqual(errors, ["no answer to x within 2000 ms", "done"]);
  assert.deepEqual(later.slice(0, 1).map(({ id, params }) => [id, params.x.length]), [[3, 100_000]]);
});

test("a connection too many says why it ends", async () => {
  const { errors } = await scripted(0, [withoutId(-32005)], [{}]);
  assert.match(errors[0], /^the connection to hooksd (has )?ended/);
});
