// The daemon that the tests talk to. `cargo test -p hooksd-tests --test clients` starts it and says where it is.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

const variable = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests by cargo test -p hooksd-tests --test clients`);
  return value;
};

export const SOCKET = variable("HOOKSD_SOCKET");
export const PROJECT = variable("HOOKSD_TEST_PROJECT");
const CONFIG = variable("HOOKSD_CONFIG_DIR");

/** How long anything here may take. Milliseconds of a busy machine. */
export const PATIENCE = 60_000;

/** Writes the user's hooks.json; sessions that are opened from now on have it. */
export const user = (document) => writeFileSync(join(CONFIG, "hooks.json"), JSON.stringify(document));

export const hooks = (...pairs) => {
  const events = {};
  for (const [event, command, matcher] of pairs) {
    (events[event] ??= []).push({ matcher, hooks: [{ type: "command", command }] });
  }
  return { hooks: events };
};

export const opening = (thread_id) => ({ thread_id, cwd: PROJECT, mode: "interactive" });

export const beforeTool = (command = "ls") => ({
  context: { thread_id: "t", cwd: PROJECT, approval_mode: "manual" },
  event: { event: "PreToolUse", call: { id: "c", name: "execute", args: { command } } },
});

/** Waits until something holds. */
export const until = async (condition) => {
  const deadline = Date.now() + PATIENCE;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("waited in vain");
    await new Promise((wake) => setTimeout(wake, 20));
  }
};

export const runs = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
