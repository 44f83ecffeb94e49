// The daemon that the tests talk to. `cargo test -p hooksd-tests --test clients` starts it and says where it is.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const variable = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests by cargo test -p hooksd-tests --test clients`);
  return value;
};

export const SOCKET = variable("HOOKSD_SOCKET");
export const PROJECT = variable("HOOKSD_TEST_PROJECT");
const CONFIG = variable("HOOKSD_CONFIG_DIR");

/** The daemon's program, for tests that start one of their own. */
const PROGRAM = variable("HOOKSD_TEST_PROGRAM");

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

export const beforeTool = (command = "ls", cwd = PROJECT) => ({
  context: { thread_id: "t", cwd, approval_mode: "manual" },
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

/** A daemon of a test's own, with a config dir and a project of its own: it can be ended and started anew. */
export class Daemon {
  #process;
  #exited;
  #arguments;

  constructor({ settings = false } = {}) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "hooksd-")));
    this.socket = join(this.folder, "run", "s");
    this.project = join(this.folder, "project");
    for (const name of ["config", "home", "project/.deepagents"]) mkdirSync(join(this.folder, name), { recursive: true });
    // Where it listens is either said by its settings, or to it alone.
    this.#arguments = settings ? [] : ["--socket", this.socket];
    if (settings) writeFileSync(join(this.folder, "config", "hooksd.toml"), `socket = ${JSON.stringify(this.socket)}\n`);
  }

  /** Its environment. */
  get variables() {
    const config = join(this.folder, "config");
    return { PATH: process.env.PATH, HOME: join(this.folder, "home"), HOOKSD_CONFIG_DIR: config };
  }

  /** Starts it, and comes back when it listens. */
  async start() {
    this.#process = spawn(PROGRAM, this.#arguments, { env: this.variables, stdio: "ignore" });
    this.#exited = new Promise((exited) => this.#process.once("exit", exited));
    await until(() => new Promise((told) => {
      const probe = connect(this.socket);
      probe.once("connect", () => (probe.destroy(), told(true)));
      probe.once("error", () => told(false));
    }));
  }

  /** Ends it at once, as a crash does, and waits until it has. */
  async kill() {
    this.#process.kill("SIGKILL");
    await this.#exited;
  }

  /** The same without this process hearing of anything meanwhile. */
  killUnheard() {
    const { pid } = this.#process;
    process.kill(pid, "SIGKILL");
    // Its connections are gone when it is a zombie, which it stays until this process hears of it.
    const gone = `until ! ps -o stat= -p ${pid} | grep -qv Z; do :; done`;
    spawnSync("sh", ["-c", gone], { timeout: PATIENCE });
  }

  /** Tells it to end, and waits until it has. */
  async stop() {
    this.#process?.kill("SIGTERM");
    await this.#exited;
  }

  user(document) {
    writeFileSync(join(this.folder, "config", "hooks.json"), JSON.stringify(document));
  }

  ofProject(document) {
    writeFileSync(join(this.project, ".deepagents", "hooks.json"), JSON.stringify(document));
  }

  opening(more = {}) {
    return { thread_id: "t", cwd: this.project, mode: "interactive", ...more };
  }

  before(command) {
    return beforeTool(command, this.project);
  }

  /** Whether a handler has made this file in the project. */
  has(name) {
    return existsSync(join(this.project, name));
  }

  /** How many lines a file of the project has. */
  lines(name) {
    return this.has(name) ? readFileSync(join(this.project, name), "utf8").split("\n").length - 1 : 0;
  }

  touch(name) {
    writeFileSync(join(this.project, name), "");
  }
}

/** Does something with a daemon of its own, which is gone afterwards. */
export const daemon = async (work, options) => {
  const one = new Daemon(options);
  try {
    await one.start();
    return await work(one);
  } finally {
    await one.stop();
    rmSync(one.folder, { recursive: true });
  }
};

/** One of each event. */
const toolCall = { id: "c", name: "execute", args: {} };
const agent = { id: "a", name: "n" };
const stopping = { continuation_count: 0, last_assistant_message: "x" };
export const EVENTS = [
  { event: "SessionStart", cause: "startup" },
  { event: "UserPromptSubmit", prompt: "hi" },
  { event: "SessionEnd", cause: "other" },
  { event: "PermissionRequest", call: toolCall },
  { event: "Notification", notification: { type: "permission_prompt", message: "m" } },
  { event: "PreToolUse", call: toolCall },
  { event: "PostToolUse", call: toolCall, result: "ok" },
  { event: "PostToolUseFailure", call: toolCall, error: "e" },
  { event: "PreCompact", trigger: "auto" },
  { event: "Stop", ...stopping },
  { event: "SubagentStart", agent },
  { event: "SubagentStop", agent, ...stopping },
];
