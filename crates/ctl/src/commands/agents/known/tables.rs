//! The tables. Lists of events are those an agent fires and hooksd knows; paths are below home or the project's root.

use super::super::json::Dialect;
use super::{Agent, COMMON, ConfigPlace, Constant, Event, SHORT_SECONDS, Shape, Unit, event, within};

/// The events of agents that took over Claude Code's names.
const CLAUDE_EVENTS: &[Event] = &[
    event("SessionStart"),
    within("UserPromptSubmit", SHORT_SECONDS),
    event("PreToolUse"),
    event("PermissionRequest"),
    event("PostToolUse"),
    event("PostToolUseFailure"),
    event("PreCompact"),
    event("Stop"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("Notification"),
    within("SessionEnd", SHORT_SECONDS),
];

const COMMITTED: &str =
    "the project's file is usually shared: the entries hold a path of this machine, so do not commit them";

pub(super) static CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    aliases: &["claude"],
    events: CLAUDE_EVENTS,
    user: ConfigPlace::File(&[".claude/settings.json"]),
    // The file that is not shared: entries hold a path of this machine.
    project: ConfigPlace::File(&[".claude/settings.local.json"]),
    also: [&[], &[".claude/settings.json"]],
    home: Some(("CLAUDE_CONFIG_DIR", ".claude")),
    programs: &["claude"],
    ..COMMON
};

/// SessionEnd: Codex gives it 3 seconds at most, whatever the entry says.
const CODEX_END_SECONDS: u64 = 3;

pub(super) static CODEX: Agent = Agent {
    name: "codex",
    events: &[
        event("SessionStart"),
        within("UserPromptSubmit", SHORT_SECONDS),
        event("PreToolUse"),
        event("PermissionRequest"),
        event("PostToolUse"),
        event("PreCompact"),
        event("Stop"),
        event("SubagentStart"),
        event("SubagentStop"),
        within("SessionEnd", CODEX_END_SECONDS),
    ],
    user: ConfigPlace::File(&[".codex/hooks.json"]),
    project: ConfigPlace::File(&[".codex/hooks.json"]),
    home: Some(("CODEX_HOME", ".codex")),
    approvals: Some((".codex/config.toml", &["hooks", "state"])),
    notes: &[
        "Codex runs hooks it was told to trust only; ours are approved in config.toml, changed ones it skips silently",
        "Codex reads a project's .codex folder only if it trusts the project",
    ],
    programs: &["codex"],
    ..COMMON
};

pub(super) static GEMINI_CLI: Agent = Agent {
    name: "gemini-cli",
    aliases: &["gemini"],
    // Not BeforeModel, AfterModel and BeforeToolSelection: they fire for every piece of every answer.
    events: &[
        event("SessionStart"),
        within("BeforeAgent", SHORT_SECONDS),
        event("BeforeTool"),
        event("AfterTool"),
        event("AfterAgent"),
        event("Notification"),
        event("PreCompress"),
        within("SessionEnd", SHORT_SECONDS),
    ],
    dialect: Dialect::Comments,
    timeout: ("timeout", Unit::Milliseconds),
    entry: &[("name", "hooksd"), ("type", "command")],
    user: ConfigPlace::File(&[".gemini/settings.json"]),
    project: ConfigPlace::File(&[".gemini/settings.json"]),
    notes: &["older builds of Gemini CLI also need \"tools\": {\"enableHooks\": true} in the same file"],
    programs: &["gemini"],
    ..COMMON
};

/// dcode and the daemon read the same hooks.json. An entry of ours there would make dcode run every handler a second
/// time, through the daemon, and the daemon would drop it with `self_reference`.
const SHARED_DOCUMENT: &str = "dcode runs the handlers of hooks.json itself, the same file that hooksd reads: an entry of \
     ours in it would run every handler twice, so nothing is installed. To have hooksd run them, use the adapter in \
     clients/python (docs/clients.md)";

pub(super) static DEEPAGENTS: Agent = Agent {
    name: "deepagents",
    aliases: &["dcode", "deepagents-code"],
    user: ConfigPlace::Nowhere(SHARED_DOCUMENT),
    project: ConfigPlace::Nowhere(SHARED_DOCUMENT),
    also: [&[".deepagents/hooks.json"], &[".deepagents/hooks.json"]],
    reads_with_us: true,
    programs: &["dcode", "deepagents-code"],
    distribution: Some("deepagents_code"),
    ..COMMON
};

pub(super) static CURSOR: Agent = Agent {
    name: "cursor",
    // beforeShellExecution and beforeMCPExecution fire beside preToolUse, for the same call: there Cursor also asks. The
    // bridge makes one event of both.
    events: &[
        event("sessionStart"),
        within("beforeSubmitPrompt", SHORT_SECONDS),
        event("preToolUse"),
        event("beforeShellExecution"),
        event("beforeMCPExecution"),
        event("postToolUse"),
        event("postToolUseFailure"),
        event("subagentStart"),
        event("subagentStop"),
        event("preCompact"),
        event("stop"),
        within("sessionEnd", SHORT_SECONDS),
    ],
    shape: Shape::Flat,
    dialect: Dialect::Relaxed,
    entry: &[],
    document: &[("version", Constant::Number(1))],
    user: ConfigPlace::File(&[".cursor/hooks.json"]),
    project: ConfigPlace::File(&[".cursor/hooks.json"]),
    notes: &[
        "Cursor also reads Claude Code's settings: with both installed it may run hooksd twice for an event",
    ],
    programs: &["cursor", "cursor-agent"],
    ..COMMON
};

const SHARED_FOLDER: &str = "Copilot CLI and VS Code read the same file: hooksd is there for both, or for none, and tells them apart by what they \
     send";

pub(super) static COPILOT_CLI: Agent = Agent {
    name: "copilot-cli",
    aliases: &["copilot"],
    events: CLAUDE_EVENTS,
    shape: Shape::Flat,
    dialect: Dialect::Relaxed,
    timeout: ("timeoutSec", Unit::Seconds),
    document: &[("version", Constant::Number(1))],
    user: ConfigPlace::File(&[".copilot/hooks/hooksd.json"]),
    project: ConfigPlace::File(&[".github/hooks/hooksd.json"]),
    home: Some(("COPILOT_HOME", ".copilot")),
    argument: Some("auto"),
    // Some of its payloads do not say their event, also under these names.
    names_event: true,
    notes: &[SHARED_FOLDER],
    programs: &["copilot"],
    ..COMMON
};

pub(super) static VSCODE: Agent = Agent {
    name: "vscode",
    aliases: &["code"],
    events: &[
        event("SessionStart"),
        within("UserPromptSubmit", SHORT_SECONDS),
        event("PreToolUse"),
        event("PostToolUse"),
        event("PreCompact"),
        event("Stop"),
        event("SubagentStart"),
        event("SubagentStop"),
    ],
    shape: Shape::Flat,
    dialect: Dialect::Relaxed,
    user: ConfigPlace::File(&[".copilot/hooks/hooksd.json"]),
    project: ConfigPlace::File(&[".github/hooks/hooksd.json"]),
    argument: Some("auto"),
    names_event: true,
    notes: &[
        SHARED_FOLDER,
        "VS Code also reads Claude Code's settings: with both installed it may run hooksd twice for an event",
    ],
    programs: &["code", "code-insiders"],
    ..COMMON
};

pub(super) static QWEN_CODE: Agent = Agent {
    name: "qwen-code",
    aliases: &["qwen"],
    events: CLAUDE_EVENTS,
    dialect: Dialect::Comments,
    timeout: ("timeout", Unit::Milliseconds),
    entry: &[("type", "command"), ("name", "hooksd")],
    user: ConfigPlace::File(&[".qwen/settings.json"]),
    project: ConfigPlace::File(&[".qwen/settings.json"]),
    programs: &["qwen"],
    ..COMMON
};

pub(super) static DROID: Agent = Agent {
    name: "droid",
    aliases: &["factory", "factory-droid"],
    events: &[
        event("SessionStart"),
        within("UserPromptSubmit", SHORT_SECONDS),
        event("PreToolUse"),
        event("PostToolUse"),
        event("PreCompact"),
        event("Stop"),
        event("SubagentStop"),
        event("Notification"),
        within("SessionEnd", SHORT_SECONDS),
    ],
    dialect: Dialect::Relaxed,
    // Where hooks.json exists, newer ones read no other; all read settings.json where it does not.
    user: ConfigPlace::File(&[".factory/hooks.json", ".factory/settings.json"]),
    project: ConfigPlace::File(&[".factory/hooks.json", ".factory/settings.json"]),
    also: [&[".factory/settings.json"], &[".factory/settings.json"]],
    bare_events: true,
    notes: &["Droid reads hooks when it starts, and asks to review changes in /hooks"],
    programs: &["droid"],
    ..COMMON
};

pub(super) static KIRO_CLI: Agent = Agent {
    name: "kiro-cli",
    aliases: &["kiro"],
    events: &[
        event("agentSpawn"),
        within("userPromptSubmit", SHORT_SECONDS),
        event("preToolUse"),
        event("postToolUse"),
        event("stop"),
    ],
    shape: Shape::Flat,
    dialect: Dialect::Relaxed,
    timeout: ("timeout_ms", Unit::Milliseconds),
    entry: &[],
    user: ConfigPlace::Each(".kiro/agents"),
    project: ConfigPlace::Each(".kiro/agents"),
    notes: &["Kiro CLI keeps hooks in each agent's file: install again after adding an agent"],
    programs: &["kiro-cli", "q"],
    ..COMMON
};

pub(super) static KIRO_IDE: Agent = Agent {
    name: "kiro-ide",
    aliases: &["kiro", "kiro3"],
    events: &[
        event("SessionStart"),
        within("UserPromptSubmit", SHORT_SECONDS),
        event("PreToolUse"),
        event("PostToolUse"),
        event("Stop"),
        within("SessionEnd", SHORT_SECONDS),
    ],
    shape: Shape::Listed,
    dialect: Dialect::Relaxed,
    document: &[("version", Constant::Word("v1"))],
    user: ConfigPlace::Nowhere("Kiro reads hook files of a project only: use --project"),
    project: ConfigPlace::File(&[".kiro/hooks/hooksd.json"]),
    notes: &["Kiro before 1.0 reads other files and is not served"],
    programs: &["kiro"],
    ..COMMON
};

pub(super) static GOOSE: Agent = Agent {
    name: "goose",
    events: &[
        event("SessionStart"),
        within("UserPromptSubmit", SHORT_SECONDS),
        event("PreToolUse"),
        event("PostToolUse"),
        event("PostToolUseFailure"),
        event("Stop"),
        within("SessionEnd", SHORT_SECONDS),
    ],
    user: ConfigPlace::File(&[".agents/plugins/hooksd/hooks/hooks.json"]),
    project: ConfigPlace::File(&[".agents/plugins/hooksd/hooks/hooks.json"]),
    beside: Some((
        ".agents/plugins/hooksd/plugin.json",
        "{\n  \"name\": \"hooksd\",\n  \"version\": \"1.0.0\",\n  \"description\": \"Hands events to hooksd\"\n}\n",
    )),
    own_folder: Some(".agents/plugins/hooksd"),
    programs: &["goose"],
    ..COMMON
};

pub(super) static KIMI: Agent = Agent {
    name: "kimi",
    aliases: &["kimi-code", "kimi-cli"],
    events: &[
        event("SessionStart"),
        within("UserPromptSubmit", SHORT_SECONDS),
        event("PreToolUse"),
        event("PostToolUse"),
        event("PostToolUseFailure"),
        event("PreCompact"),
        event("Stop"),
        event("SubagentStart"),
        event("SubagentStop"),
        event("Notification"),
        within("SessionEnd", SHORT_SECONDS),
    ],
    shape: Shape::Toml,
    entry: &[],
    // The older program has the older folder, and only one of them is there.
    user: ConfigPlace::File(&[".kimi/config.toml", ".kimi-code/config.toml"]),
    also: [&[".kimi-code/config.toml"], &[]],
    project: ConfigPlace::Nowhere("Kimi Code reads the user's configuration only: use --user"),
    names_event: true,
    programs: &["kimi"],
    distribution: Some("kimi_cli"),
    ..COMMON
};

/// What to know about an installation into a project, whatever the agent.
pub(crate) fn project_note(agent: &Agent) -> Option<&'static str> {
    (agent.name != "claude-code").then_some(COMMITTED)
}
