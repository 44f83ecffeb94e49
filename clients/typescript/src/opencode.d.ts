/** Options of the plugin, as in `"plugin": [["hooksd-client/opencode", { "fail": "closed" }]]`. */
export interface HooksdOptions {
  /** The daemon's socket; default: where the daemon is. */
  socket?: string;
  /** What happens without a decision: opencode goes on (the default), or what can be stopped is. */
  fail?: "open" | "closed";
  /** Whether a person is there: decides if persisted trust counts. Default: whether stdout is a terminal. */
  mode?: "interactive" | "headless";
}

/** The part of opencode's plugin input that is used. */
export interface OpencodeInput {
  directory: string;
  client?: any;
}

/** The part of opencode's hooks that is filled. */
export interface OpencodeHooks {
  "tool.execute.before"(
    input: { tool: string; sessionID: string; callID: string },
    output: { args: any },
  ): Promise<void>;
  "tool.execute.after"(
    input: { tool: string; sessionID: string; callID: string; args?: any },
    output: { title?: string; output: string; metadata?: any },
  ): Promise<void>;
  "chat.message"(input: { sessionID: string }, output: { message?: any; parts: any[] }): Promise<void>;
  "experimental.session.compacting"(input: { sessionID: string }, output?: any): Promise<void>;
  event(input: { event: { type: string; properties?: any } }): Promise<void>;
  dispose(): Promise<void>;
}

export type HooksdPlugin = (input: OpencodeInput, options?: HooksdOptions) => Promise<OpencodeHooks>;
export const HooksdPlugin: HooksdPlugin;
