//! What a table of an agent can say. Everything that differs between agents is here as data.

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
    /// Together with a deny: the agent stops as well.
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
    /// The same for a tool of an MCP server.
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
    /// Output fields that only some agents apply (D10), with the wish each is.
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

    /// What the agent does to fulfil it, for notes and for docs/agents.md.
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

/// What is put at a place of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The wish's own text or JSON.
    It,
    /// This word.
    Word(&'static str),
    /// `true` or `false`.
    Flag(bool),
}

/// Members of the answer: where (dots lead inwards) and what.
pub(crate) type Members = &'static [(&'static str, Put)];

/// How an agent is told of a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Members of the JSON on stdout.
    Json(Members),
    /// Exit status 2, with the text on stderr.
    Exit2,
    /// The text on stdout, which is otherwise empty.
    Plain,
    /// As if it were that wish, with a note.
    Instead(Wish),
    /// There is no need to say it: the agent does it anyway.
    Anyway,
}

/// When a row counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// While a person is there.
    Attended,
}

/// How an agent is told of a wish on some events. The first row that fits counts; without one it cannot be told.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The events.
    pub on: &'static [EventName],
    /// The wish.
    pub wish: Wish,
    /// When.
    pub when: When,
    /// How.
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

/// A tool: the agent's name, the name handlers know, and the arguments that are called otherwise, agent's name first.
pub(crate) type Tool = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What "no opinion" looks like. Never an allow: that would answer for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neutral {
    /// Nothing at all.
    Empty,
    /// `{}`.
    Object,
    /// Nothing; an allow on PreToolUse where failures are closed, because this agent takes silence for a failure.
    EmptyOrAllow,
}

/// How an agent shows that a person is there. Without a sign nobody is: then only explicit trust counts.
#[derive(Debug, Clone, Copy)]
pub enum Attendance {
    /// This variable has one of these values.
    Variable(&'static str, &'static [&'static str]),
    /// It has a window; unless one of these members is true or one of these variables is set.
    Window(&'static [&'static str], &'static [&'static str]),
    /// It shows nothing.
    Unknown,
}

/// What tells one action from the next, for exactly-once. Without it nothing is ever taken for a repetition.
#[derive(Debug, Clone, Copy)]
pub enum Identity {
    /// The first of these members that is there, on events about a tool.
    Call(&'static [&'static str]),
    /// The turn and the action itself, for a short time: the agent fires two events for one action and names neither.
    Turn(&'static str),
    /// Nothing does.
    None,
}

/// Members of the payload that are made of others: name and JSON.
pub(crate) type Derived = Vec<(&'static str, String)>;

/// An agent.
#[derive(Debug)]
pub struct Dialect {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// Its events, with the names handlers know. Others keep their names.
    pub events: &'static [(&'static str, &'static str)],
    /// Its members that are called otherwise in the payload handlers know, agent's name first.
    pub fields: &'static [(&'static str, &'static str)],
    /// Its tools.
    pub tools: &'static [Tool],
    /// The name of an MCP server's tool as handlers know it, from the payload and the agent's name of it.
    pub mcp: fn(&Value<'_>, &str) -> Option<String>,
    /// The event of a payload that does not say it.
    pub unnamed: fn(&Value<'_>) -> Option<&'static str>,
    /// Members that handlers expect and that have to be made of others; they replace what is there.
    pub derive: fn(&Value<'_>, event: &str) -> Derived,
    /// The members that count, where two events are made for one action and have to look the same.
    pub twins: fn(event: &str) -> Option<&'static [&'static str]>,
    /// Why an event is none.
    pub skip: fn(&Value<'_>) -> Option<&'static str>,
    /// Variables that hold the project's folder, for payloads that say no folder.
    pub folders: &'static [&'static str],
    /// How wishes are said.
    pub rows: &'static [Row],
    /// What "no opinion" looks like.
    pub neutral: Neutral,
    /// The longest answer that is read whole. Bytes.
    pub longest: usize,
    /// Whether text on stderr beside a good answer does nothing.
    pub notes_on_stderr: bool,
    /// How a person shows.
    pub attendance: Attendance,
    /// What tells actions apart.
    pub identity: Identity,
    /// How long the agent waits for a hook whose entry has no timeout. Milliseconds.
    pub patience_ms: u64,
    /// The same for SessionEnd. Milliseconds.
    pub patience_at_end_ms: u64,
}

/// Nothing special: for the functions of [`Dialect`].
pub(crate) fn no_name(_: &Value<'_>, _: &str) -> Option<String> {
    None
}

/// The same.
pub(crate) fn no_event(_: &Value<'_>) -> Option<&'static str> {
    None
}

/// The same.
pub(crate) fn no_members(_: &Value<'_>, _: &str) -> Derived {
    Vec::new()
}

/// The same.
pub(crate) fn no_twins(_: &str) -> Option<&'static [&'static str]> {
    None
}

/// The same.
pub(crate) fn no_reason(_: &Value<'_>) -> Option<&'static str> {
    None
}

impl Dialect {
    /// The row for a wish.
    #[must_use]
    pub fn how(&self, event: EventName, wish: Wish, is_attended: bool) -> Option<How> {
        let fits = |row: &&Row| {
            row.wish == wish && row.on.contains(&event) && (row.when == When::Always || is_attended)
        };
        self.rows.iter().find(fits).map(|row| row.how)
    }

    /// The output fields it can apply (D10).
    #[must_use]
    pub fn accepts(&self) -> Vec<Capability> {
        let has = |wish: Wish| self.rows.iter().any(|row| row.wish == wish);
        Wish::FIELDS.into_iter().filter(|(_, _, wish)| has(*wish)).map(|(field, _, _)| field).collect()
    }

    /// What of a decision on this event it cannot follow, for the daemon to keep with the decision.
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

    /// The agent's own name of an event, as in an answer.
    #[must_use]
    pub fn own_event(&self, event: EventName) -> &'static str {
        let known = event.as_str();
        self.events.iter().find(|(_, name)| *name == known).map_or(known, |(own, _)| *own)
    }
}
