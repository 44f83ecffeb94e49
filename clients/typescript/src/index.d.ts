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
/** The daemon's error answer. */
export class Refused extends HooksdError {
  /** One of docs/protocol.md. */
  readonly code: number;
  /** What belongs to it, for example `{ field }`. */
  readonly data: unknown;
}

/** The longest path of a socket here. Bytes. */
export const MAX_SOCKET_PATH: number;
/** Where the daemon's socket is: HOOKSD_SOCKET, XDG_RUNTIME_DIR, HOOKSD_CONFIG_DIR, HOME. */
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

/** The one decision on an event; which of the optional fields are there depends on the event. */
export interface Decision {
  event: string;
  continue_processing: boolean;
  stop_reason: string | null;
  user_notices: string[];
  terminal_sequences: string[];
  diagnostics: { code: string; severity: "debug" | "warning" | "error"; message: string }[];
  permission?: Permission;
  context?: string[];
  feedback?: string[];
  continue_loop?: boolean;
  suppress_original_prompt?: boolean;
  [accepted: string]: unknown;
}

export interface InvokeResult {
  protocol_version: 1;
  invocation_id: string;
  snapshot_id: string;
  decision: Decision;
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
  static connect(path?: string, options?: { timeout?: number }): Promise<Client>;
  readonly path: string;
  readonly closed: boolean;
  readonly dropped: number;
  /** What a daemon that is overrun (-32005) has refused is asked again, within the deadline. */
  call(method: string, params?: Record<string, any>, options?: CallOptions): Promise<any>;
  invoke(
    session: string | Record<string, any>,
    params: Record<string, any>,
    options?: CallOptions,
  ): Promise<InvokeResult>;
  notify(method: string, params?: Record<string, any>): void;
  notifications(): AsyncGenerator<Notification, void, void>;
  listen(listener: (notification: Notification | null) => boolean): () => void;
  subscribe(params?: Record<string, any>): Promise<Subscription>;
  close(): void;
  unref(): void;
}
