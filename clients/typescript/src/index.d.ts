/// <reference types="node" />

/** The daemon could not be asked, or said no. */
export class HooksdError extends Error {}
/** There is no usable path of a socket; the message says which variable to set. */
export class SocketPathError extends HooksdError {}
/** Nobody listens on the socket, or somebody else may. */
export class NotRunning extends HooksdError {
  readonly path: string;
}
/** The connection ended before the answer came; whether the daemon has acted is not known. */
export class ConnectionEnded extends HooksdError {}
/** No answer came in time. The daemon was told to stop what it was doing. */
export class CallTimeout extends HooksdError {}
/** The request is longer than a line of the daemon may be. It was not sent. */
export class RequestTooLong extends HooksdError {
  readonly method: string;
  /** Bytes. */
  readonly size: number;
  /** Bytes. */
  readonly limit: number;
}
/**
 * The daemon no longer has the session, and the one it would open now is another: other hooks, or other trust. There is no
 * decision, for it might be a quieter one. Who accepts that opens a new session.
 */
export class SessionChanged extends HooksdError {
  /** What is not the same, in words. */
  readonly differences: string[];
  /** The answers of session/open then and now. */
  readonly before: SessionInfo;
  readonly after: SessionInfo | null;
}
/** The daemon's error answer. */
export class Refused extends HooksdError {
  /** One of docs/protocol.md. */
  readonly code: number;
  /** What belongs to it, for example `{ field }`. */
  readonly data: unknown;
}

/** The longest path of a socket here. Bytes. */
export const MAX_SOCKET_PATH: number;
/** Where the daemon's socket is: HOOKSD_SOCKET, `socket` in hooksd.toml, XDG_RUNTIME_DIR, HOOKSD_CONFIG_DIR, HOME. */
export function socketPath(environment?: Record<string, string | undefined>): string;

export interface Notification {
  method: string;
  params: Record<string, any>;
}

export interface CallOptions {
  /** How long the call may take. Milliseconds. */
  timeout?: number;
  /** Cancels the request when it is aborted. */
  signal?: AbortSignal;
}

export interface Permission {
  behavior: "allow" | "deny" | "ask" | "none";
  reason: string | null;
  interrupt: boolean;
}

/** A subagent. */
export interface Agent {
  id: string;
  name: string;
}

/** A tool call. */
export interface Call {
  id: string;
  name: string;
  args: unknown;
  mcp_server?: string | null;
}

interface Stopping {
  continuation_count: number;
  last_assistant_message: string;
  background_tasks?: unknown[];
  session_crons?: unknown[];
}

/** What belongs to each event (docs/schema/openrpc.json). */
export interface EventFields {
  SessionStart: { cause: "startup" | "resume" | "clear" | "compact"; model?: string | null };
  UserPromptSubmit: { prompt: string };
  SessionEnd: { cause: "clear" | "resume" | "prompt_input_exit" | "other" };
  PermissionRequest: { call: Call };
  Notification: { notification: { type: string; message: string; title?: string | null } };
  PreToolUse: { call: Call };
  PostToolUse: { call: Call; result: unknown; duration_ms?: number | null };
  PostToolUseFailure: { call: Call; error: string; is_interrupt?: boolean; duration_ms?: number | null };
  PreCompact: { trigger: "manual" | "auto"; custom_instructions?: string };
  Stop: Stopping;
  SubagentStart: { agent: Agent };
  SubagentStop: Stopping & { agent: Agent; transcript_revision?: string | null };
}

export type EventName = keyof EventFields;

/** What is the same for every event of a session. */
export interface Context {
  thread_id: string;
  cwd: string;
  approval_mode: "manual" | "auto" | "yolo";
  prompt_id?: string | null;
  effort?: "none" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  agent?: Agent | null;
  transcript_revision?: string | null;
}

/** An event with its context. */
export interface Invocation<E extends EventName = EventName> {
  context: Context;
  event: { event: E } & EventFields[E];
}

/** An event as the JSON that agents hand to command hooks. */
export interface Payload<E extends string = string> {
  hook_event_name: E;
  [field: string]: unknown;
}

/** What every decision has. */
export interface CommonDecision {
  continue_processing: boolean;
  stop_reason: string | null;
  user_notices: string[];
  terminal_sequences: string[];
  diagnostics: {
    code: string;
    severity: "debug" | "warning" | "error";
    message: string;
    handler_id?: string | null;
    field?: string | null;
  }[];
  // Fields that are there when the session accepts them and a handler has said so.
  updated_input?: any;
  updated_permissions?: any;
  updated_tool_output?: any;
  updated_mcp_tool_output?: any;
  session_title?: any;
  initial_user_message?: any;
  watch_paths?: any;
  reload_skills?: any;
}

/** What the decision on each event has besides. */
export interface DecisionFields {
  SessionStart: { context: string[] };
  UserPromptSubmit: { context: string[]; suppress_original_prompt: boolean };
  SessionEnd: {};
  PermissionRequest: { permission: Permission };
  Notification: {};
  PreToolUse: { permission: Permission; context: string[] };
  PostToolUse: { feedback: string[]; context: string[] };
  PostToolUseFailure: { feedback: string[]; context: string[] };
  PreCompact: {};
  Stop: { continue_loop: boolean; feedback: string[] };
  SubagentStart: { context: string[] };
  SubagentStop: { context: string[] };
}

/** The decision on an event whose name is known: `DecisionOf<"PreToolUse">` has a permission. */
export type DecisionOf<E extends string> = E extends EventName
  ? CommonDecision & { event: E } & DecisionFields[E]
  : Decision;

/** The decision on an event whose name is not known: which of the optional fields are there depends on the event. */
export interface Decision extends CommonDecision {
  event: string;
  permission?: Permission;
  context?: string[];
  feedback?: string[];
  continue_loop?: boolean;
  suppress_original_prompt?: boolean;
}

/** The answer of session/open. */
export interface SessionInfo {
  session: string;
  snapshot: {
    id: string;
    events: EventName[];
    server_events: EventName[];
    sources: { scope: string; path: string; loaded: boolean; fingerprint: string | null }[];
    diagnostics: CommonDecision["diagnostics"];
  };
  project: { root: string; hooks_present: boolean; trusted: boolean; fingerprint: string | null };
  environment: string;
}

/** The params of session/open. */
export interface Opening {
  thread_id: string;
  cwd: string;
  mode: "interactive" | "headless";
  trust?: "explicit" | { fingerprint: string };
  env?: Record<string, string>;
  umask?: number;
  rlimits?: Record<string, number>;
  plugins?: "none" | "discover" | { id: string; root: string }[];
  accepts?: string[];
  follow?: boolean;
}

/** A handler begins or ends. */
export interface HookProgress {
  invocation_id: string;
  handler_id: string;
  event: EventName;
  active: boolean;
  message: string;
}

export interface RunOptions {
  /** How long all of it may take, a connection made anew and a second attempt included. Milliseconds. */
  timeout?: number;
  /** Stops the event's handlers when it is aborted. */
  signal?: AbortSignal;
  /** The environment of this event's handlers instead of the session's. */
  env?: Record<string, string>;
  /** Told of handlers that begin and end, and of the end of each that began. */
  onProgress?: (progress: HookProgress) => void;
  transcript_path?: string;
  agent_transcript_path?: string;
  invocation_id?: string;
  run_id?: string;
  deadline?: string | number;
  agent?: { name: string; cannot?: string[] };
}

export interface InvokeResult<E extends string = string> {
  protocol_version: 1;
  invocation_id: string;
  snapshot_id: string;
  decision: DecisionOf<E>;
  handlers: { id: string; source: string; status: string; exit_code: number | null; duration_ms: number }[];
  duration_ms: number;
}

/** What the daemon does, as it does it; ends with `close`, with the connection, or when the daemon drops it. */
export interface Subscription extends AsyncIterable<Record<string, any>> {
  /** The answer of events/subscribe. */
  readonly info: Record<string, any>;
  /** How many items were not taken in time. */
  readonly dropped: number;
  close(): Promise<void>;
}

/** A connection to the daemon: any number of calls at once, each with a deadline. */
export class Client {
  private constructor();
  /** `timeout` is that of each call, `connectTimeout` how long connecting may take. Milliseconds. */
  static connect(path?: string, options?: { timeout?: number; connectTimeout?: number }): Promise<Client>;
  readonly path: string;
  readonly closed: boolean;
  readonly dropped: number;
  /** What a daemon that is overrun (-32005) has refused is asked again, within the deadline. */
  call(method: string, params?: Record<string, any>, options?: CallOptions): Promise<any>;
  invoke<E extends EventName>(
    session: string | Opening,
    params: { invocation: Invocation<E>; [option: string]: any },
    options?: CallOptions,
  ): Promise<InvokeResult<E>>;
  invoke<E extends string>(
    session: string | Opening,
    params: { payload: Payload<E>; [option: string]: any },
    options?: CallOptions,
  ): Promise<InvokeResult<E>>;
  notify(method: string, params?: Record<string, any>): void;
  notifications(): AsyncGenerator<Notification, void, void>;
  listen(listener: (notification: Notification | null) => boolean): () => void;
  subscribe(params?: Record<string, any>): Promise<Subscription>;
  close(): void;
  unref(): void;
}

/**
 * A session of the daemon that outlives its connections. One that ends is made anew, and the event sent again under its id.
 * A session that the daemon no longer has is opened again, and has to be the same: SessionChanged otherwise.
 */
export class Session {
  private constructor();
  /**
   * `timeout` bounds the connection and the opening together (30,000 unless given), `runTimeout` each run that has no
   * timeout of its own (630,000). Milliseconds.
   */
  static open(
    opening: Opening,
    options?: { socket?: string; timeout?: number; runTimeout?: number },
  ): Promise<Session>;
  readonly info: SessionInfo;
  /** Runs an event's handlers; the decision, whose fields are those of the event. */
  run<E extends EventName>(invocation: Invocation<E>, options?: RunOptions): Promise<DecisionOf<E>>;
  run<E extends string>(payload: Payload<E>, options?: RunOptions): Promise<DecisionOf<E>>;
  close(): Promise<void>;
}
