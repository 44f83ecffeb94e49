"""Events and the decisions on them, typed: what may be sent, and what is in the answer (docs/schema/openrpc.json).

Which fields a decision has depends on its event; `run` and `invoke` know it where the event's name is a literal.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Behavior = Literal["none", "allow", "ask", "deny"]


class Permission(TypedDict):
    """What handlers say about a tool call. Deny beats ask, ask beats allow, allow beats none."""

    behavior: Behavior
    reason: str | None
    interrupt: bool


class _DiagnosticFields(TypedDict):
    code: str
    severity: Literal["debug", "warning", "error"]
    message: str


class Diagnostic(_DiagnosticFields, total=False):
    """One remark about a document, a handler or its answer."""

    handler_id: str | None
    field: str | None


class Accepted(TypedDict, total=False):
    """Fields of a decision that are there when the session `accepts` them and a handler has said so."""

    updated_input: Any
    updated_permissions: Any
    updated_tool_output: Any
    updated_mcp_tool_output: Any
    session_title: Any
    initial_user_message: Any
    watch_paths: Any
    reload_skills: Any


class _Base(TypedDict):
    continue_processing: bool
    stop_reason: str | None
    user_notices: list[str]
    terminal_sequences: list[str]
    diagnostics: list[Diagnostic]


class ContextDecision(_Base, Accepted):
    """On SessionStart, SubagentStart and SubagentStop."""

    event: Literal["SessionStart", "SubagentStart", "SubagentStop"]
    context: list[str]


class PromptDecision(_Base, Accepted):
    """On UserPromptSubmit."""

    event: Literal["UserPromptSubmit"]
    context: list[str]
    suppress_original_prompt: bool


class PermissionDecision(_Base, Accepted):
    """On PermissionRequest."""

    event: Literal["PermissionRequest"]
    permission: Permission


class ToolDecision(_Base, Accepted):
    """On PreToolUse."""

    event: Literal["PreToolUse"]
    permission: Permission
    context: list[str]


class FeedbackDecision(_Base, Accepted):
    """On PostToolUse and PostToolUseFailure."""

    event: Literal["PostToolUse", "PostToolUseFailure"]
    feedback: list[str]
    context: list[str]


class StopDecision(_Base, Accepted):
    """On Stop."""

    event: Literal["Stop"]
    continue_loop: bool
    feedback: list[str]


class PlainDecision(_Base, Accepted):
    """On SessionEnd, Notification and PreCompact."""

    event: Literal["SessionEnd", "Notification", "PreCompact"]


class Decision(_Base, Accepted, total=False):
    """On an event whose name is not known when the program is checked: look at `event` first."""

    event: str
    context: list[str]
    suppress_original_prompt: bool
    permission: Permission
    feedback: list[str]
    continue_loop: bool


#: The decision on each event.
DECISIONS: dict[str, type[Any]] = {
    "SessionStart": ContextDecision,
    "UserPromptSubmit": PromptDecision,
    "SessionEnd": PlainDecision,
    "PermissionRequest": PermissionDecision,
    "Notification": PlainDecision,
    "PreToolUse": ToolDecision,
    "PostToolUse": FeedbackDecision,
    "PostToolUseFailure": FeedbackDecision,
    "PreCompact": PlainDecision,
    "Stop": StopDecision,
    "SubagentStart": ContextDecision,
    "SubagentStop": ContextDecision,
}


class Agent(TypedDict):
    """A subagent."""

    id: str
    name: str


class _ContextFields(TypedDict):
    thread_id: str
    cwd: str
    approval_mode: Literal["manual", "auto", "yolo"]


class Context(_ContextFields, total=False):
    """What is the same for every event of a session."""

    prompt_id: str | None
    effort: Literal["none", "low", "medium", "high", "xhigh", "max"] | None
    agent: Agent | None
    transcript_revision: str | None


class _CallFields(TypedDict):
    id: str
    name: str
    args: Any


class Call(_CallFields, total=False):
    """A tool call."""

    mcp_server: str | None


class _ContextEvent(TypedDict):
    event: Literal["SessionStart", "SubagentStart", "SubagentStop"]


class ContextEvent(_ContextEvent, total=False):
    """SessionStart has cause and model, SubagentStart agent, SubagentStop agent and the fields of Stop."""

    cause: Literal["startup", "resume", "clear", "compact"]
    model: str | None
    agent: Agent
    continuation_count: int
    last_assistant_message: str
    background_tasks: list[Any]
    session_crons: list[Any]
    transcript_revision: str | None


class PromptEvent(TypedDict):
    """A person's prompt."""

    event: Literal["UserPromptSubmit"]
    prompt: str


class PermissionEvent(TypedDict):
    """The agent would ask a person about this call."""

    event: Literal["PermissionRequest"]
    call: Call


class ToolEvent(TypedDict):
    """A tool is about to be called."""

    event: Literal["PreToolUse"]
    call: Call


class _FeedbackEvent(TypedDict):
    event: Literal["PostToolUse", "PostToolUseFailure"]
    call: Call


class FeedbackEvent(_FeedbackEvent, total=False):
    """PostToolUse has result, PostToolUseFailure error and is_interrupt."""

    result: Any
    error: str
    is_interrupt: bool
    duration_ms: int | None


class _StopEvent(TypedDict):
    event: Literal["Stop"]
    continuation_count: int
    last_assistant_message: str


class StopEvent(_StopEvent, total=False):
    """The agent is about to stop."""

    background_tasks: list[Any]
    session_crons: list[Any]


class _PlainEvent(TypedDict):
    event: Literal["SessionEnd", "Notification", "PreCompact"]


class PlainEvent(_PlainEvent, total=False):
    """SessionEnd has cause, Notification notification, PreCompact trigger and custom_instructions."""

    cause: Literal["clear", "resume", "prompt_input_exit", "other"]
    notification: dict[str, Any]
    trigger: Literal["manual", "auto"]
    custom_instructions: str


class ContextInvocation(TypedDict):
    context: Context
    event: ContextEvent


class PromptInvocation(TypedDict):
    context: Context
    event: PromptEvent


class PermissionInvocation(TypedDict):
    context: Context
    event: PermissionEvent


class ToolInvocation(TypedDict):
    context: Context
    event: ToolEvent


class FeedbackInvocation(TypedDict):
    context: Context
    event: FeedbackEvent


class StopInvocation(TypedDict):
    context: Context
    event: StopEvent


class PlainInvocation(TypedDict):
    context: Context
    event: PlainEvent
