// Sessions that outlive their connections, against real daemons that end and are started anew.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { CallTimeout, Client, ConnectionEnded, NotRunning, Refused, Session, SessionChanged } from "hooksd-client";
import { HooksdPlugin } from "hooksd-client/opencode";

import { Again, differences } from "../src/lost.js";
import { EVENTS, PATIENCE, daemon, hooks, until } from "./world.js";

const DENY = "echo no >&2; exit 2";

/** Runs until there is a file `go`. */
const WAITS = "echo x >> began; until [ -e go ]; do sleep 0.02; done; exit 2";

/** Opens a session of a daemon, and closes it afterwards. */
const opened = async (one, work, opening = one.opening(), options = {}) => {
  const session = await Session.open(opening, { socket: one.socket, ...options });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
};

const behavior = async (one, session, options) => (await session.run(one.before(), options)).permission.behavior;

const connected = async (one, work) => {
  const hooksd = await Client.connect(one.socket);
  try {
    return await work(hooksd);
  } finally {
    hooksd.close();
  }
};

/** Waits until new sessions have handlers for these events: the daemon has noticed an edit. */
const untilOpened = (one, events) =>
  connected(one, (hooksd) =>
    until(async () => {
      const { snapshot } = await hooksd.call("session/open", one.opening({ trust: "explicit" }));
      return snapshot.events.join() === events.join();
    }),
  );

test("a daemon started anew has the same session, or it is opened again", () =>
  daemon(async (one) => {
    one.user(hooks(["PreToolUse", DENY]));
    await opened(one, async (session) => {
      const before = session.info;
      for (const end of ["kill", "stop"]) {
        await one[end]();
        await one.start();
        assert.equal(await behavior(one, session), "deny");
      }
      assert.equal(session.info.snapshot.id, before.snapshot.id);
      assert.notEqual(session.info.session, before.session);
    });
  }));

test("a daemon that comes back a moment later is waited for", () =>
  daemon(async (one) => {
    one.user(hooks(["PreToolUse", DENY]));
    await opened(one, async (session) => {
      await one.kill();
      const asked = behavior(one, session);
      await new Promise((turn) => setImmediate(turn));
      await one.start();
      assert.equal(await asked, "deny");
    });
  }));

test("a changed document of the project is an error and no quieter session", () =>
  daemon(async (one) => {
    const guard = hooks(["PreToolUse", DENY]);
    one.ofProject(guard);
    const opening = one.opening({ trust: "explicit" });
    await opened(
      one,
      async (session) => {
        assert.equal(await behavior(one, session), "deny");
        await one.kill();
        one.ofProject(hooks(["SessionStart", "true"]));
        await one.start();
        const document = join(one.project, ".deepagents", "hooks.json");
        for (let time = 0; time < 2; time += 1) {
          const changed = await behavior(one, session).catch((error) => error);
          assert.ok(changed instanceof SessionChanged, String(changed));
          assert.equal(changed.name, "SessionChanged");
          assert.deepEqual(changed.differences.slice(0, 2), [
            `${document} has changed`,
            "there are no handlers any more for PreToolUse",
          ]);
          assert.match(changed.message, /hooks\.json has changed; there are no handlers any more for PreToolUse/);
          assert.deepEqual(changed.after.snapshot.events, ["SessionStart"]);
        }
        // Who accepts it opens a session.
        assert.equal(await opened(one, (anew) => behavior(one, anew), opening), "none");
        // Who undoes it goes on; a daemon notices within a second.
        one.ofProject(guard);
        await untilOpened(one, ["PreToolUse"]);
        assert.equal(await behavior(one, session), "deny");
      },
      opening,
    );
  }));

/** Trusts the project for good, and takes that back once the daemon was started anew. */
const trusted = async (one, work) => {
  one.ofProject(hooks(["PreToolUse", DENY]));
  await connected(one, async (hooksd) => {
    const { fingerprint } = await hooksd.call("trust/status", { cwd: one.project });
    await hooksd.call("trust/grant", { cwd: one.project, fingerprint });
  });
  await work(async () => {
    await one.stop();
    await one.start();
    await connected(one, (hooksd) => hooksd.call("trust/revoke", { cwd: one.project }));
  });
};

test("a project that is no longer trusted is an error", () =>
  daemon((one) =>
    trusted(one, async (revoked) => {
      const session = await Session.open(one.opening(), { socket: one.socket });
      const follows = await Session.open(one.opening({ follow: true }), { socket: one.socket });
      assert.equal(await behavior(one, session), "deny");
      await revoked();
      for (const each of [session, follows]) {
        const changed = await behavior(one, each).catch((error) => error);
        assert.ok(changed instanceof SessionChanged, String(changed));
        assert.match(changed.message, /the project is no longer trusted/);
        assert.deepEqual([changed.before.project.trusted, changed.after.project.trusted], [true, false]);
        await each.close();
      }
    }),
  ));

test("opencode refuses what a daemon with less trust would let through, until a new session begins", () =>
  daemon((one) =>
    trusted(one, async (revoked) => {
      const opencode = await HooksdPlugin({ directory: one.project }, { mode: "interactive", socket: one.socket });
      const before = (sessionID) =>
        opencode["tool.execute.before"]({ tool: "bash", sessionID, callID: "c" }, { args: { command: "ls" } });
      await assert.rejects(before("s1"), { message: "no" });
      await revoked();
      await assert.rejects(before("s1"), /gave no decision: .*the project is no longer trusted/);
      await before("s2");
      await opencode.dispose();
    }),
  ));

test("a session that a living daemon has closed has to be the same too", () =>
  daemon(async (one) => {
    one.user(hooks(["PreToolUse", DENY]));
    const session = await Session.open(one.opening(), { socket: one.socket });
    const follows = await Session.open(one.opening({ follow: true }), { socket: one.socket });
    const forget = (each) => connected(one, (hooksd) => hooksd.call("session/close", { session: each.info.session }));
    await forget(session);
    assert.equal(await behavior(one, session), "deny");
    await forget(session);
    await forget(follows);
    one.user({ hooks: {} });
    await untilOpened(one, []);
    await assert.rejects(behavior(one, session), /there are no handlers any more for PreToolUse/);
    // Who follows the documents has asked for their edits.
    assert.equal(await behavior(one, follows), "none");
    await session.close();
    await follows.close();
  }));

test("a write that fails is a lost connection", () =>
  daemon(async (one) => {
    one.user(hooks(["PreToolUse", DENY]));
    await opened(one, async (session) => {
      // The write comes before this process has heard of the end.
      one.killUnheard();
      const asked = behavior(one, session);
      await one.start();
      assert.equal(await asked, "deny");
    });
  }));

test("progress ends for each handler that began", () =>
  daemon(async (one) => {
    one.user(hooks(["PreToolUse", WAITS]));
    await opened(one, async (session) => {
      let told = [];
      const heard = () => told.map(({ active }) => active);
      const ask = (options = {}) => {
        told = [];
        const asked = session.run(one.before(), { onProgress: (progress) => void told.push(progress), ...options });
        asked.catch(() => {});
        return asked;
      };
      await assert.rejects(ask({ timeout: 1_000 }), CallTimeout);
      assert.deepEqual(heard(), [true, false]);
      assert.deepEqual(new Set(told.map((progress) => progress.handler_id)), new Set(["PreToolUse:0:0"]));
      const abort = new AbortController();
      let asked = ask({ signal: abort.signal });
      await until(() => heard().join() === "true");
      abort.abort();
      await assert.rejects(asked, { name: "AbortError" });
      assert.deepEqual(heard(), [true, false]);
      const ran = one.lines("began");
      asked = ask();
      // Until a handler has begun by itself, it holds what the daemon holds, its socket among that: no other daemon could
      // take its place.
      await until(() => heard().join() === "true" && one.lines("began") > ran);
      await one.kill();
      await one.start();
      await until(() => heard().length === 3);
      one.touch("go");
      assert.equal((await asked).permission.behavior, "deny");
      assert.deepEqual(heard(), [true, false, true, false]);
      rmSync(join(one.project, "go"));
      asked = ask({ timeout: 1_000 });
      await until(() => heard().join() === "true");
      await one.kill();
      one.touch("go");
      await assert.rejects(asked, (error) => error instanceof NotRunning || error instanceof CallTimeout);
      assert.deepEqual(heard(), [true, false]);
    });
  }));

test("a callback for progress that throws decides nothing", (context) =>
  daemon(async (one) => {
    const warned = context.mock.method(console, "warn", () => {});
    one.user(hooks(["PreToolUse", DENY]));
    const onProgress = () => {
      throw new Error("a broken display");
    };
    await opened(one, async (session) => assert.equal(await behavior(one, session, { onProgress }), "deny"));
    assert.equal(warned.mock.callCount(), 2);
  }));

test("opening and running have timeouts, which are of all attempts together", () =>
  daemon(async (one) => {
    const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
    // Takes connections, and answers nothing.
    const stuck = (path) => new Promise((ready) => {
      const server = createServer({ pauseOnConnect: true });
      const connections = [];
      server.on("connection", (connection) => connections.push(connection));
      const end = () => (connections.forEach((connection) => connection.destroy()), server.close());
      server.listen(path, () => ready(end));
    });
    let end = await stuck(join(folder, "s"));
    const message = "no session within 200 ms";
    await assert.rejects(Session.open(one.opening(), { socket: join(folder, "s"), timeout: 200 }), { name: "CallTimeout", message });
    end();
    one.user(hooks(["PreToolUse", WAITS]));
    await opened(
      one,
      async (session) => {
        for (const [options, milliseconds] of [[{}, 300], [{ timeout: 200 }, 200]]) {
          const late = { name: "CallTimeout", message: `no decision on PreToolUse within ${milliseconds} ms` };
          await assert.rejects(behavior(one, session, options), late);
        }
        one.touch("go");
        await one.kill();
        rmSync(one.socket);
        end = await stuck(one.socket);
        const began = performance.now();
        const late = { name: "CallTimeout", message: "no decision on PreToolUse within 500 ms" };
        await assert.rejects(behavior(one, session, { timeout: 500 }), late);
        assert.ok(performance.now() - began < 10_000);
        end();
      },
      one.opening(),
      { runTimeout: 300 },
    );
    rmSync(folder, { recursive: true });
  }));

test("an event may have an environment of its own", () =>
  daemon(async (one) => {
    one.user(hooks(["SessionStart", 'echo "$MINE"']));
    const { PATH } = process.env;
    const start = { context: one.before().context, event: { event: "SessionStart", cause: "startup" } };
    await opened(
      one,
      async (session) => {
        const context = async (env) => (await session.run(start, { env })).context;
        const asked = ["a", "b", "c"].map((MINE) => context({ PATH, MINE }));
        assert.deepEqual(await Promise.all([...asked, context()]), [["a"], ["b"], ["c"], ["the session's"]]);
        // It reads the documents anew: they have to be those of the session.
        one.user({ hooks: {} });
        await untilOpened(one, []);
        await assert.rejects(context({ PATH }), (error) => error instanceof SessionChanged && /changed since/.test(error.message));
        assert.deepEqual(await context(), ["the session's"]);
      },
      one.opening({ env: { PATH, MINE: "the session's" } }),
    );
  }));

test("the decision on each event has the fields of its type", () =>
  daemon((one) =>
    opened(one, async (session) => {
      const types = readFileSync(new URL("../src/index.d.ts", import.meta.url), "utf8");
      const members = (name) => types.match(new RegExp(`export interface ${name} \\{\n(.*?)\n\\}`, "s"))[1];
      const required = (text) => [...text.matchAll(/(?:^|[{;])\s*(\w+): /gm)].map((found) => found[1]);
      const common = required(members("CommonDecision").replace(/\{[^}]*\}/g, ""));
      const fields = Object.fromEntries(
        [...members("DecisionFields").matchAll(/^ {2}(\w+): (\{.*\});$/gm)].map(([, name, text]) => [name, required(text)]),
      );
      assert.deepEqual(Object.keys(fields), EVENTS.map(({ event }) => event));
      for (const event of EVENTS) {
        const invocation = { context: one.before().context, event };
        const decision = await session.run(invocation, { agent_transcript_path: "/t.jsonl" });
        assert.deepEqual(new Set(Object.keys(decision)), new Set(["event", ...common, ...fields[event.event]]), event.event);
      }
      const payload = { hook_event_name: "PreToolUse", session_id: "t", cwd: "/", tool_name: "x", tool_input: {} };
      assert.equal((await session.run(payload)).permission.behavior, "none");
    }),
  ));

test("what was not run is asked until it is, and what may have been once more", () => {
  const [stops, cut] = [new Refused(-32006, "stops"), new Refused(-32006, "cut", { cut: true })];
  const [gone, absent, unknown] = [new ConnectionEnded("x"), new NotRunning("/s", "x"), new Refused(-32002, "x")];
  for (const [asked, expected] of [
    [[stops, absent, stops, absent], [20, 20, 20, 20]],
    [[gone, stops, cut], [20, 20, null]],
    [[cut, gone], [20, null]],
    [[unknown, gone, unknown], [0, 20, null]],
    [[new Refused(-32602, "x"), new Error("x")], [null, null]],
  ]) {
    const again = new Again();
    assert.deepEqual(asked.map((error) => again.pause(error, 1_000, true)), expected);
  }
  const again = new Again();
  assert.deepEqual([1, 2, 3].map(() => again.pause(gone, 1_000, false)), [20, 20, 20]);
  assert.equal(again.pause(absent, 10, false), null);
});

test("every difference is named", () => {
  const info = (root, trusted, environment, id, events, sources) => ({
    project: { root, trusted, hooks_present: true },
    environment,
    snapshot: { id, events, sources: sources.map(([path, loaded, fingerprint]) => ({ path, loaded, fingerprint })) },
  });
  const documents = [["/a", true, "1"], ["/b", true, "1"], ["/c", false, "1"], ["/d", true, "1"]];
  const before = info("/p", true, "session", "a".repeat(64), ["Stop", "PreToolUse"], documents);
  assert.deepEqual(differences(before, before, false), []);
  const others = [["/a", true, "2"], ["/b", false, "1"], ["/c", true, "1"], ["/e", true, "1"]];
  const after = info("/q", false, "daemon", "b".repeat(64), ["PreToolUse"], others);
  const always = [
    "the project's root was /p and is /q",
    "the project is no longer trusted (/q)",
    "its environment was the session's and is the daemon's",
  ];
  assert.deepEqual(differences(before, after, true), always);
  assert.deepEqual(differences(before, after, false), [
    ...always,
    "/a has changed",
    "/b counted and does not any more",
    "/c did not count and does",
    "/d counted and does not any more",
    "/e is new",
    "there are no handlers any more for Stop",
    "its snapshot was aaaaaaaaaaaa and is bbbbbbbbbbbb",
  ]);
});
