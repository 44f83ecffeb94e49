// The opencode plugin against the real daemon, with the calls that opencode makes.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import * as plugin from "hooksd-client/opencode";

import { PROJECT, hooks, until, user } from "./world.js";

const seen = (name) => JSON.parse(readFileSync(join(PROJECT, name), "utf8"));

/** A plugin as opencode loads it, and what it has asked opencode for. */
const loaded = async (document, options = { mode: "interactive" }) => {
  if (document) user(document);
  const asked = { prompts: [], logs: [] };
  const client = {
    app: { log: async ({ body }) => void asked.logs.push(body.message) },
    session: { prompt: async (prompt) => void asked.prompts.push(prompt) },
  };
  const hooks = await plugin.HooksdPlugin({ directory: PROJECT, client }, options);
  return { ...hooks, asked };
};

const call = { tool: "bash", sessionID: "s1", callID: "c1" };

test("opencode finds one plugin in the file", () => {
  assert.deepEqual(Object.keys(plugin), ["HooksdPlugin"]);
});

test("a deny throws, and a call without objection goes on", async () => {
  const guard = "cat > seen.json; if grep -q 'rm -rf /' seen.json; then echo refused >&2; exit 2; fi";
  const opencode = await loaded(hooks(["PreToolUse", guard, "Bash"]));
  const before = opencode["tool.execute.before"];
  await assert.rejects(before(call, { args: { command: "rm -rf /" } }), { message: "refused" });
  const args = { command: "ls", description: "list" };
  await before(call, { args });
  assert.deepEqual(args, { command: "ls", description: "list" });
  const { tool_name, tool_input, tool_use_id, session_id, cwd } = seen("seen.json");
  assert.deepEqual({ tool_name, tool_input, tool_use_id, session_id, cwd }, {
    tool_name: "Bash",
    tool_input: args,
    tool_use_id: "c1",
    session_id: "s1",
    cwd: PROJECT,
  });
  await before({ ...call, tool: "docs_search" }, { args: { q: "rm -rf /" } });
  await opencode.dispose();
});

test("ask and stop throw as well", async () => {
  const answer = (fields) => `echo '${JSON.stringify(fields)}'`;
  const ask = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask", permissionDecisionReason: "why" } };
  const opencode = await loaded(
    hooks(["PreToolUse", answer(ask), "Bash"], ["PreToolUse", answer({ continue: false, stopReason: "enough" }), "Read"]),
  );
  const before = opencode["tool.execute.before"];
  await assert.rejects(before(call, { args: {} }), /a person to be asked about this: why/);
  await assert.rejects(before({ ...call, tool: "read" }, { args: { filePath: "/x" } }), { message: "enough" });
  await opencode.dispose();
});

test("a rewritten input comes back in opencode's terms, context with the result", async () => {
  const rewritten = {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: { file_path: "/safe", content: "b" },
      additionalContext: "rewritten",
    },
  };
  const feedback = { decision: "block", reason: "look again" };
  const opencode = await loaded(
    hooks(
      ["PreToolUse", `cat > before.json; echo '${JSON.stringify(rewritten)}'`, "Write"],
      ["PostToolUse", `cat > after.json; echo '${JSON.stringify(feedback)}'`, "Write"],
    ),
  );
  const output = { args: { filePath: "/etc/passwd", content: "a" } };
  await opencode["tool.execute.before"]({ ...call, tool: "write" }, output);
  assert.deepEqual(output.args, { filePath: "/safe", content: "b" });
  assert.deepEqual(seen("before.json").tool_input, { file_path: "/etc/passwd", content: "a" });
  const result = { title: "", output: "written", metadata: {} };
  await opencode["tool.execute.after"]({ ...call, tool: "write", args: output.args }, result);
  assert.equal(result.output, "written\n\nrewritten\n\nlook again");
  const after = seen("after.json");
  assert.deepEqual([after.tool_input.file_path, after.tool_response], ["/safe", "written"]);
  assert.equal(typeof after.duration_ms, "number");
  await opencode.dispose();
});

test("a failed call is told once, a denied one never", async () => {
  const opencode = await loaded(hooks(["PostToolUseFailure", "cat >> failures.json; echo >> failures.json"]));
  rmSync(join(PROJECT, "failures.json"), { force: true });
  const failed = (callID) => ({
    type: "message.part.updated",
    properties: {
      part: { type: "tool", sessionID: "s1", callID, tool: "bash", state: { status: "error", input: { command: "x" }, error: "boom" } },
    },
  });
  await opencode["tool.execute.before"](call, { args: { command: "x" } });
  for (const id of ["c1", "c1", "denied"]) await opencode.event({ event: failed(id) });
  const lines = readFileSync(join(PROJECT, "failures.json"), "utf8").trim().split("\n");
  assert.equal(lines.length, 1);
  assert.equal(JSON.parse(lines[0]).error, "boom");
  await opencode.dispose();
});

test("prompts are blocked, or get the context of the session's start and their own", async () => {
  const opencode = await loaded(
    hooks(["SessionStart", "echo begun"], ["UserPromptSubmit", "if grep -q secret; then echo no >&2; exit 2; fi; echo asked"]),
  );
  await opencode.event({ event: { type: "session.created", properties: { info: { id: "s2" } } } });
  const text = (text) => ({ id: "prt_1", sessionID: "s2", messageID: "m", type: "text", text });
  await assert.rejects(opencode["chat.message"]({ sessionID: "s2" }, { parts: [text("a secret")] }), { message: "no" });
  const parts = [text("hello")];
  await opencode["chat.message"]({ sessionID: "s2" }, { parts });
  assert.deepEqual(parts.map((part) => [part.text, part.synthetic]), [["hello", undefined], ["begun\n\nasked", true]]);
  // What the start has said comes once, with the first prompt that was not blocked.
  const more = [text("more")];
  await opencode["chat.message"]({ sessionID: "s2" }, { parts: more });
  assert.deepEqual(more.map((part) => part.text), ["more", "asked"]);
  await opencode.dispose();
});

test("stopping goes on while a hook wants it to, at most 8 times", async () => {
  const opencode = await loaded(hooks(["Stop", "cat > stop.json; echo 'run the tests' >&2; exit 2"]));
  const idle = { event: { type: "session.idle", properties: { sessionID: "s3" } } };
  await opencode.event({ event: { type: "message.updated", properties: { info: { role: "assistant", id: "m1", sessionID: "s3" } } } });
  await opencode.event({
    event: { type: "message.part.updated", properties: { part: { type: "text", sessionID: "s3", messageID: "m1", text: "done" } } },
  });
  for (let round = 0; round < 10; round += 1) {
    const before = opencode.asked.prompts.length;
    await opencode.event(idle);
    // opencode tells the plugin of the prompt that the plugin has sent.
    const sent = opencode.asked.prompts.slice(before);
    for (const { body } of sent) await opencode["chat.message"]({ sessionID: "s3" }, { parts: [{ id: "prt_2", ...body.parts[0] }] });
  }
  assert.equal(opencode.asked.prompts.length, 8);
  assert.deepEqual(opencode.asked.prompts[0], { path: { id: "s3" }, body: { parts: [{ type: "text", text: "run the tests" }] } });
  assert.deepEqual([seen("stop.json").last_assistant_message, seen("stop.json").stop_hook_active], ["done", true]);
  // A person's prompt begins anew.
  await opencode["chat.message"]({ sessionID: "s3" }, { parts: [{ id: "prt_3", type: "text", text: "more" }] });
  await opencode.event(idle);
  assert.equal(opencode.asked.prompts.length, 9);
  await opencode.dispose();
});

test("subagents have tool calls, but no prompts and ends", async () => {
  const opencode = await loaded(hooks(["Stop", "exit 2"], ["UserPromptSubmit", "exit 2"], ["PreToolUse", "exit 2"]));
  await opencode.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "s1" } } } });
  await opencode["chat.message"]({ sessionID: "child" }, { parts: [{ type: "text", text: "x" }] });
  await opencode.event({ event: { type: "session.idle", properties: { sessionID: "child" } } });
  assert.deepEqual(opencode.asked.prompts, []);
  await assert.rejects(opencode["tool.execute.before"]({ ...call, sessionID: "child" }, { args: {} }));
  await opencode.dispose();
});

test("a session's end and its notifications are events", async () => {
  const opencode = await loaded(
    hooks(["Notification", "cat > note.json"], ["SessionEnd", "cat > end.json"], ["PreCompact", "cat > compact.json"]),
  );
  await opencode.event({ event: { type: "permission.asked", properties: { sessionID: "s4", title: "run it?" } } });
  await opencode["experimental.session.compacting"]({ sessionID: "s4" });
  await opencode.event({ event: { type: "session.deleted", properties: { info: { id: "s4" } } } });
  await until(() => seen("end.json"));
  assert.deepEqual([seen("note.json").message, seen("note.json").notification_type], ["run it?", "permission_prompt"]);
  assert.equal(seen("compact.json").trigger, "auto");
  assert.deepEqual([seen("end.json").reason, seen("end.json").session_id], ["other", "s4"]);
  await opencode.dispose();
});

test("without a daemon opencode goes on, or refuses if that is wanted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  const socket = join(folder, "s");
  const open = await loaded(null, { socket });
  await open["tool.execute.before"](call, { args: {} });
  assert.match(open.asked.logs[0], /gave no decision on PreToolUse: no daemon answers/);
  const closed = await loaded(null, { socket, fail: "closed" });
  await assert.rejects(closed["tool.execute.before"](call, { args: {} }), /hooksd gave no decision/);
  await closed["tool.execute.after"]({ ...call, args: {} }, { output: "x" });
  rmSync(folder, { recursive: true });
});

test("a connection that ends is made anew", async () => {
  const opencode = await loaded(hooks(["PreToolUse", "exit 2"]));
  const before = () => opencode["tool.execute.before"](call, { args: {} });
  await assert.rejects(before());
  await opencode.dispose();
  await assert.rejects(before(), { message: "Hook blocked the operation" });
  await opencode.dispose();
});
