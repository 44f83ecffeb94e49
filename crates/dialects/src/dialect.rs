//! What the table of an agent consists of. Everything that differs between agents is data in such a table.

use hooksd_json::Value;
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::{Capability, Part};

/// One thing a decision may want of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// The agent stops what it is doing.
    StopAgent,
    /// The tool is not called.
    Deny,
    /// The agent stops as well. This goes with a deny.
    Interrupt,
    /// The person is asked.
    Ask,
    /// The tool is called without asking.
    Allow,
    /// The tool is called with another input.
    UpdatedInput,
    /// The prompt does not reach the model.
    BlockPrompt,
    /// The context is not compacted.
    BlockCompact,
    /// The model reads this.
    Context,
    /// The model reads this about a tool's result.
    Feedback,
    /// The agent goes on instead of stopping.
    GoOn,
    /// The person reads this.
    Notice,
    /// The person's terminal gets this.
    Terminal,
    /// The person's prompt is not shown.
    SuppressPrompt,
    /// Rules of permission change.
    UpdatedPermissions,
    /// The model sees another result of the tool.
    UpdatedToolOutput,
    /// The model sees another result of a tool of an MCP server.
    UpdatedMcpToolOutput,
    /// The session gets a title.
    SessionTitle,
    /// The session begins with this message.
    InitialUserMessage,
    /// The agent watches these files.
    WatchPaths,
    /// The agent reads its skills anew.
    ReloadSkills,
}

impl Wish {
    /// The output fields that only some agents apply (D10): their names in a decision, and the wish that each of them
    /// is.
    pub(crate) const FIELDS: [(Capability, &'static str, Wish); 8] = [
        (Capability::UpdatedInput, "updated_input", Wish::UpdatedInput),
        (Capability::UpdatedPermissions, "updated_permissions", Wish::UpdatedPermissions),
        (Capability::UpdatedToolOutput, "updated_tool_output", Wish::UpdatedToolOutput),
        (Capability::UpdatedMcpToolOutput, "updated_mcp_tool_output", Wish::UpdatedMcpToolOutput),
        (Capability::SessionTitle, "session_title", Wish::SessionTitle),
        (Capability::InitialUserMessage, "initial_user_message", Wish::InitialUserMessage),
        (Capability::WatchPaths, "watch_paths", Wish::WatchPaths),
        (Capability::ReloadSkills, "reload_skills", Wish::ReloadSkills),
    ];

    /// What an agent does to fulfil the wish, for notes and for docs/agents.md.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Wish::StopAgent => "stop the agent",
            Wish::Deny => "deny the tool",
            Wish::Interrupt => "interrupt with a deny",
            Wish::Ask => "ask the person",
            Wish::Allow => "allow without asking",
            Wish::UpdatedInput => "rewrite the input",
            Wish::BlockPrompt => "block the prompt",
            Wish::BlockCompact => "block compaction",
            Wish::Context => "add context",
            Wish::Feedback => "give feedback",
            Wish::GoOn => "go on instead of stopping",
            Wish::Notice => "show a notice",
            Wish::Terminal => "write to the terminal",
            Wish::SuppressPrompt => "hide the prompt",
            Wish::UpdatedPermissions => "change permissions",
            Wish::UpdatedToolOutput => "rewrite the result",
            Wish::UpdatedMcpToolOutput => "rewrite an MCP result",
            Wish::SessionTitle => "set the title",
            Wish::InitialUserMessage => "set the first message",
            Wish::WatchPaths => "watch files",
            Wish::ReloadSkills => "reload skills",
        }
    }
}

/// What a member of the answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The text or JSON that came with the wish.
    It,
    /// This word.
    Word(&'static str),
    /// `true` or `false`.
    Flag(bool),
}

/// Members of the answer: the path of each, whose dots lead inwards, and what it holds.
pub(crate) type Members = &'static [(&'static str, Put)];

/// How an agent is told of a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By members of the JSON on stdout.
    Json(Members),
    /// By exit status 2, with the text on stderr.
    Exit2,
    /// By the text on stdout, where nothing else is printed then.
    Plain,
    /// It cannot be told. It is told this other wish instead, and a note says so.
    Instead(Wish),
    /// It need not be told, because it does so anyway.
    Anyway,
}

/// When a row of the table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The row always counts.
    Always,
    /// The row counts while a person is there.
    Attended,
}

/// One row of the table: how an agent is told of a wish on some events. The first row that fits counts. Where none
/// fits, the agent cannot be told.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The events on which the row counts.
    pub on: &'static [EventName],
    /// The wish that the row is about.
    pub wish: Wish,
    /// When the row counts.
    pub when: When,
    /// How the agent is told.
    pub how: How,
}

/// A row that always counts.
pub(crate) const fn row(on: &'static [EventName], wish: Wish, how: How) -> Row {
    Row { on, wish, when: When::Always, how }
}

/// A row that counts while a person is there.
pub(crate) const fn attended(on: &'static [EventName], wish: Wish, how: How) -> Row {
    Row { on, wish, when: When::Attended, how }
}

/// A tool: the agent's name for it, the name that handlers know, and the arguments that have another name, each with
/// the agent's name first.
pub(crate) type Tool = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What "no opinion" looks like on stdout. It is never an allow, which would answer for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neutral {
    /// Nothing is printed.
    Empty,
    /// `{}` is printed.
    Object,
    /// Nothing is printed, except on PreToolUse where failures are closed. There an allow is printed, because this
    /// agent takes silence for a failure.
    EmptyOrAllow,
}

/// How an agent shows that a person is there. Where it does not show it, nobody is taken to be there, and only
/// explicit trust counts.
#[derive(Debug, Clone, Copy)]
pub enum Attendance {
    /// A person is there when this variable has one of these values.
    Variable(&'static str, &'static [&'static str]),
    /// The agent has a window, so that a person is there unless one of these members is true or one of these
    /// variables is set.
    Window(&'static [&'static str], &'static [&'static str]),
    /// The agent does not show it.
    Unknown,
}

/// What tells one action from the next, so that an action which is delivered twice runs its handlers once. Without it,
/// nothing is taken for a repetition.
#[derive(Debug, Clone, Copy)]
pub enum Identity {
    /// The first of these members that is there, on events that are about a tool.
    Call(&'static [&'static str]),
    /// The turn, which this member names, and the content of the action, for a short time. The agent fires two events
    /// for one action and gives neither an id.
    Turn(&'static str),
    /// Nothing tells actions apart.
    None,
}

/// Members of the payload that are made from others: the name and the JSON of each.
pub(crate) type Derived = Vec<(&'static str, String)>;

/// The table of one agent.
#[derive(Debug)]
pub struct Dialect {
    /// The agent's name on the command line.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// The names of its events, each with the name that handlers know. Other events keep their names.
    pub events: &'static [(&'static str, &'static str)],
    /// The members of its payload that handlers know by another name, each with the agent's name first.
    pub fields: &'static [(&'static str, &'static str)],
    /// Its tools. Other tools keep their names.
    pub tools: &'static [Tool],
    /// Makes the name by which handlers know a tool of an MCP server, from the payload and the agent's name for the
    /// tool. `None` for other tools.
    pub mcp: fn(&Value<'_>, &str) -> Option<String>,
    /// Tells the event of a payload that does not name one.
    pub unnamed: fn(&Value<'_>) -> Option<&'static str>,
    /// Makes members that handlers expect and the payload does not have. They replace what is there under the same
    /// name.
    pub derive: fn(&Value<'_>, event: &str) -> Derived,
    /// Names the members to keep of an event that the agent fires beside another one for the same action, so that
    /// both look the same.
    pub twins: fn(event: &str) -> Option<&'static [&'static str]>,
    /// Says why nobody needs to be asked about a payload; `None` when somebody has to be.
    pub skip: fn(&Value<'_>) -> Option<&'static str>,
    /// Variables that hold the project's folder, for payloads that do not name one.
    pub folders: &'static [&'static str],
    /// How the agent is told of wishes.
    pub rows: &'static [Row],
    /// What "no opinion" looks like on stdout.
    pub neutral: Neutral,
    /// The longest answer that the agent reads whole. Bytes.
    pub longest: usize,
    /// Whether text on stderr means nothing to the agent when the exit status is 0, so that notes can be printed there.
    pub notes_on_stderr: bool,
    /// How the agent shows that a person is there.
    pub attendance: Attendance,
    /// What tells one action from the next.
    pub identity: Identity,
    /// How long the agent waits for a hook whose entry has no timeout. Milliseconds.
    pub patience_ms: u64,
    /// How long the agent waits for such a hook on SessionEnd. Milliseconds.
    pub patience_at_end_ms: u64,
}

/// For [`Dialect::mcp`] of an agent whose names for MCP servers' tools are those that handlers know.
pub(crate) fn no_name(_: &Value<'_>, _: &str) -> Option<String> {
    None
}

/// For [`Dialect::unnamed`] of an agent whose payloads always name their event.
pub(crate) fn no_event(_: &Value<'_>) -> Option<&'static str> {
    None
}

/// For [`Dialect::derive`] of an agent whose payloads have what handlers expect.
pub(crate) fn no_members(_: &Value<'_>, _: &str) -> Derived {
    Vec::new()
}

/// For [`Dialect::twins`] of an agent that fires one event for each action.
pub(crate) fn no_twins(_: &str) -> Option<&'static [&'static str]> {
    None
}

/// For [`Dialect::skip`] of an agent whose events all count.
pub(crate) fn no_reason(_: &Value<'_>) -> Option<&'static str> {
    None
}

impl Dialect {
    /// How the agent is told of a wish on an event; `None` when it cannot be told.
    #[must_use]
    pub fn how(&self, event: EventName, wish: Wish, is_attended: bool) -> Option<How> {
        let fits = |row: &&Row| {
            row.wish == wish && row.on.contains(&event) && (row.when == When::Always || is_attended)
        };
        self.rows.iter().find(fits).map(|row| row.how)
    }

    /// The output fields that the agent can apply (D10).
    #[must_use]
    pub fn accepts(&self) -> Vec<Capability> {
        let has = |wish: Wish| self.rows.iter().any(|row| row.wish == wish);
        Wish::FIELDS.into_iter().filter(|(_, _, wish)| has(*wish)).map(|(field, _, _)| field).collect()
    }

    /// The parts of a decision on this event that the agent cannot follow. The daemon keeps them with the decision.
    #[must_use]
    pub fn cannot(&self, event: EventName, is_attended: bool) -> Vec<Part> {
        let stop = match event {
            EventName::UserPromptSubmit => Wish::BlockPrompt,
            EventName::PreCompact => Wish::BlockCompact,
            _ => Wish::StopAgent,
        };
        let parts = [
            (Part::Ask, Wish::Ask),
            (Part::Allow, Wish::Allow),
            (Part::Deny, Wish::Deny),
            (Part::Context, Wish::Context),
            (Part::Feedback, Wish::Feedback),
            (Part::Continue, Wish::GoOn),
            (Part::Stop, stop),
            (Part::Notice, Wish::Notice),
        ];
        let is_said = |wish| !matches!(self.how(event, wish, is_attended), None | Some(How::Instead(_)));
        let exists = |part: &Part| *part != Part::Stop || event != EventName::Stop;
        parts
            .into_iter()
            .filter(|(part, wish)| exists(part) && !is_said(*wish))
            .map(|(part, _)| part)
            .collect()
    }

    /// The agent's own name for an event, which its answers use.
    #[must_use]
    pub fn own_event(&self, event: EventName) -> &'static str {
        let known = event.as_str();
        self.events.iter().find(|(_, name)| *name == known).map_or(known, |(own, _)| *own)
    }
}
