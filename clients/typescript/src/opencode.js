// An opencode plugin: opencode's tool calls, prompts and sessions as events of hooksd, without starting a process.
//
// opencode takes every export of a plugin's file for a plugin, so there is one.

import { fromArgs, toCall } from "./tools.js";
import { SessionChanged } from "./errors.js";
import { Sessions } from "./sessions.js";

/** @type {import("./opencode.d.ts").HooksdPlugin} */
export const HooksdPlugin = async ({ client, directory }, options = {}) => {
  const interactive = options.mode ?? (process.stdout.isTTY ? "interactive" : "headless");
  const sessions = new Sessions(
    { cwd: directory, mode: interactive, env: environment(), accepts: ["updated_input"], follow: true },
    options.socket,
  );
  /** @type {Map<string, Thread>} */
  const threads = new Map();
  /** @type {Set<string>} sessions of subagents: their tool calls are events, their prompts and ends are not */
  const children = new Set();

  /** @param {string} id @returns {Thread} */
  const thread = (id) => {
    let found = threads.get(id);
    if (!found) threads.set(id, (found = { context: [], calls: new Map(), assistant: "", said: "", continued: 0 }));
    return found;
  };

  /** @param {string} message */
  const log = async (message) => {
    const body = { service: "hooksd", level: "warn", message };
    await client?.app?.log?.({ body })?.catch?.(() => {});
  };

  /**
   * The decision on an event. Without a daemon there is none: then opencode goes on, or with `fail: "closed"` what can
   * be stopped is. A daemon that was started anew with less trust would decide less: what can be stopped is, whatever
   * `fail` says, until the trust is back or a new session of opencode has begun.
   *
   * @param {string} id
   * @param {Record<string, any>} event
   */
  const decide = async (id, event) => {
    try {
      const decision = await sessions.decide(id, event);
      for (const notice of decision.user_notices) await log(notice);
      return decision;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await log(`hooksd gave no decision on ${event.event}: ${why}`);
      if (error instanceof SessionChanged || options.fail === "closed") throw new Error(`hooksd gave no decision: ${why}`);
      return null;
    }
  };

  return {
    "tool.execute.before": async (input, output) => {
      const call = toCall(input.callID, input.tool, output.args);
      const decision = await decide(input.sessionID, { event: "PreToolUse", call });
      if (!decision) return;
      const { behavior, reason } = decision.permission;
      if (behavior === "deny") throw new Error(reason ?? "a hook has denied this");
      // A plugin has no way to ask; going on without the question would be an answer to it.
      if (behavior === "ask") throw new Error(`a hook wants a person to be asked about this: ${reason ?? "no reason"}`);
      if (!decision.continue_processing) throw new Error(decision.stop_reason ?? "a hook has stopped this");
      if (decision.updated_input) {
        for (const key of Object.keys(output.args)) delete output.args[key];
        Object.assign(output.args, fromArgs(input.tool, decision.updated_input));
      }
      // There is no place for context before a call; it is read with the call's result.
      thread(input.sessionID).calls.set(input.callID, { context: decision.context, started: Date.now() });
    },

    "tool.execute.after": async (input, output) => {
      const calls = thread(input.sessionID).calls;
      const before = calls.get(input.callID);
      calls.delete(input.callID);
      const call = toCall(input.callID, input.tool, input.args ?? {});
      const event = { event: "PostToolUse", call, result: output.output };
      if (before) Object.assign(event, { duration_ms: Date.now() - before.started });
      // The call is done: there is nothing to stop any more.
      const decision = await decide(input.sessionID, event).catch(() => null);
      const more = [...(before?.context ?? []), ...(decision?.feedback ?? []), ...(decision?.context ?? [])];
      if (more.length > 0) output.output = [output.output, ...more].join("\n\n");
    },

    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return;
      const state = thread(input.sessionID);
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const prompt = texts.map((part) => part.text).join("\n");
      // What we have said ourselves to make the agent go on is no prompt of a person.
      if (state.ours !== undefined && prompt === state.ours) {
        state.ours = undefined;
        return;
      }
      state.continued = 0;
      const decision = await decide(input.sessionID, { event: "UserPromptSubmit", prompt });
      if (decision && !decision.continue_processing) throw new Error(decision.stop_reason ?? "a hook has blocked this prompt");
      const context = [...state.context.splice(0), ...(decision?.context ?? [])];
      const like = texts.at(-1);
      if (context.length > 0 && like) {
        output.parts.push({ ...like, id: `${like.id}hooksd`, text: context.join("\n\n"), synthetic: true });
      }
    },

    "experimental.session.compacting": async (input) => {
      await decide(input.sessionID, { event: "PreCompact", trigger: "auto", custom_instructions: "" });
    },

    event: async ({ event }) => {
      const { type, properties } = event;
      if (type === "session.created" && properties.info.parentID) {
        children.add(properties.info.id);
      } else if (type === "session.created") {
        const decision = await decide(properties.info.id, { event: "SessionStart", cause: "startup" }).catch(() => null);
        thread(properties.info.id).context.push(...(decision?.context ?? []));
      } else if (type === "message.updated" && properties.info.role === "assistant") {
        thread(properties.info.sessionID).assistant = properties.info.id;
      } else if (type === "message.part.updated") {
        await part(properties.part);
      } else if (type === "session.idle" && !children.has(properties.sessionID)) {
        await idle(properties.sessionID);
      } else if (type === "permission.asked" || type === "permission.updated") {
        const message = properties.title ?? properties.permission ?? "permission is needed";
        const notification = { type: "permission_prompt", message: String(message) };
        await decide(properties.sessionID, { event: "Notification", notification }).catch(() => null);
      } else if (type === "session.deleted") {
        const id = properties.info.id;
        if (!children.delete(id)) await decide(id, { event: "SessionEnd", cause: "other" }).catch(() => null);
        threads.delete(id);
        await sessions.forget(id).catch(() => {});
      }
    },

    dispose: async () => sessions.close(),
  };

  /** @param {any} part */
  async function part(part) {
    const state = thread(part.sessionID);
    if (part.type === "text" && part.messageID === state.assistant) state.said = part.text;
    const failed = part.type === "tool" && part.state?.status === "error";
    // It is told again and again; the first time counts, and a call that a hook has denied was never made.
    if (!failed || !state.calls.delete(part.callID)) return;
    const call = toCall(part.callID, part.tool, part.state.input ?? {});
    const event = { event: "PostToolUseFailure", call, error: String(part.state.error), is_interrupt: false };
    await decide(part.sessionID, event).catch(() => null);
  }

  /** @param {string} id */
  async function idle(id) {
    const state = thread(id);
    const decision = await decide(id, {
      event: "Stop",
      continuation_count: state.continued,
      last_assistant_message: state.said,
      background_tasks: [],
      session_crons: [],
    }).catch(() => null);
    if (!decision?.continue_loop || !decision.continue_processing) return;
    state.continued += 1;
    state.ours = decision.feedback?.join("\n\n") || "A hook wants you to go on.";
    await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: state.ours }] } });
  }
};

/**
 * What is known of one of opencode's sessions.
 *
 * @typedef {object} Thread
 * @property {string[]} context what SessionStart has said, for the next prompt
 * @property {Map<string, { context?: string[], started: number }>} calls calls that were let through and have not ended
 * @property {string} assistant the id of its last message
 * @property {string} said the text of that
 * @property {number} continued how often it was made to go on since a person's last prompt
 * @property {string} [ours] the prompt by which it was
 */

/** The environment for handlers. @returns {Record<string, string>} */
function environment() {
  /** @type {[string, string][]} */
  const set = [];
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) set.push([name, value]);
  return Object.fromEntries(set);
}
