// What the types make of decisions: checked by tsc where it is installed.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const PROGRAM = `
import type { Client, Context, Payload, Permission, Session } from "hooksd-client";
declare const session: Session, client: Client, context: Context, unknown: Payload;
const call = { id: "1", name: "execute", args: {} };
const tool = await session.run({ context, event: { event: "PreToolUse", call } }, { timeout: 5, env: { A: "b" } });
const permission: Permission = tool.permission;
const event: "PreToolUse" = tool.event;
const stop = await session.run({ context, event: { event: "Stop", continuation_count: 0, last_assistant_message: "" } });
const goesOn: boolean = stop.continue_loop;
const prompt = await session.run({ hook_event_name: "UserPromptSubmit", prompt: "x" });
const suppress: boolean = prompt.suppress_original_prompt;
const perhaps: Permission | undefined = (await session.run(unknown)).permission;
const invoked: Permission = (await client.invoke("s", { invocation: { context, event: { event: "PreToolUse", call } } })).decision.permission;
const asked: Permission = (await client.invoke("s", { payload: { hook_event_name: "PermissionRequest" } })).decision.permission;
// @ts-expect-error
tool.continue_loop;
// @ts-expect-error
session.run({ context, event: { event: "PreToolUse" } });
// @ts-expect-error
session.run({ context, event: { event: "PreToolUse", call } }, { tiemout: 5 });
`;

const skip = spawnSync("tsc", ["--version"]).status === 0 ? false : "there is no tsc on this machine";

test("the decision is that of the event", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hooksd-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(folder, "node_modules", "hooksd-client"));
  writeFileSync(join(folder, "program.mts"), PROGRAM);
  // Node's own types need not be there: the client's need but a few of them, and declarations are not looked at.
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", ""];
  try {
    execFileSync("tsc", [...options, "program.mts"], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
