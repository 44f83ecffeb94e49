//! Puts a decision, or the reason why there is none, into an agent's own words: stdout, stderr and exit status.
//!
//! Guarantees: stdout is the answer and nothing else, and is short enough for the agent to read it whole. A deny is
//! always said, by the strongest means that the agent has. What the agent cannot be told is in the notes.

use hooksd_protocol::decision::Decision;
use hooksd_protocol::event::EventName;
use hooksd_protocol::methods::Mode;

use crate::dialect::{Dialect, How, Neutral, Put, Wish};
use crate::document::Document;
use crate::request::{Request, Trouble};
use crate::rewrite::{own_input, quoted};
use crate::wishes::{Content, Wanted, wishes};

/// What an agent gets when there is no decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The agent goes on as if there were no hooks.
    Open,
    /// What can be stopped is stopped: tools are denied and prompts are blocked. Everything else goes on.
    Closed,
}

/// What there is to say to an agent.
#[derive(Debug, Clone, Copy)]
pub enum Given<'a> {
    /// A decision.
    Decision(&'a Decision),
    /// Nobody had to be asked, and there is no opinion.
    Nothing,
    /// There is no decision, for this reason.
    Failure(&'a str),
}

/// The answer of a hook to its agent: what it prints and how it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// What it prints on standard output.
    pub stdout: String,
    /// What it prints on standard error.
    pub stderr: String,
    /// Its exit status.
    pub status: u8,
    /// What the agent cannot be told, in a sentence each. The agent does not get these; they are for a journal.
    pub notes: Vec<String>,
}

/// What an answer is for: the event, by its names, and whether a person is there.
#[derive(Debug, Clone)]
pub struct Occasion {
    event: Option<EventName>,
    own_event: String,
    own_tool: Option<String>,
    is_attended: bool,
}

impl Occasion {
    /// The event; `None` when hooksd does not know it.
    #[must_use]
    pub fn event(&self) -> Option<EventName> {
        self.event
    }
}

impl From<&Request> for Occasion {
    fn from(request: &Request) -> Occasion {
        Occasion {
            event: request.event,
            own_event: request.own_event.clone(),
            own_tool: request.own_tool.clone(),
            is_attended: request.mode == Mode::Interactive,
        }
    }
}

impl From<&Trouble> for Occasion {
    fn from(trouble: &Trouble) -> Occasion {
        let own_event = trouble.own_event.clone();
        Occasion { event: trouble.event, own_event, own_tool: None, is_attended: false }
    }
}

/// What a text ends with that was cut.
const CUT: &str = " [cut: longer than this agent reads]";

/// How much room is left for everything around the texts of an answer that has to be cut. Bytes.
const AROUND_TEXTS: usize = 2048;

/// Makes the answer to an agent: puts what there is to say into its words.
#[must_use]
pub fn answer(dialect: &Dialect, occasion: &Occasion, given: Given<'_>, failing: Failing) -> Answer {
    match (given, occasion.event) {
        (Given::Decision(decision), Some(event)) => {
            say(dialect, occasion, event, wishes(event, decision), failing)
        }
        (Given::Decision(_) | Given::Nothing, _) => neutral(dialect, occasion.event, failing),
        (Given::Failure(why), event) => failure(dialect, occasion, event, why, failing),
    }
}

fn failure(
    dialect: &Dialect,
    occasion: &Occasion,
    event: Option<EventName>,
    why: &str,
    failing: Failing,
) -> Answer {
    let closed = format!("no hook could be asked, and this bridge is set to fail closed: {why}");
    let wish = match event {
        Some(EventName::PreToolUse | EventName::PermissionRequest) => Some(Wish::Deny),
        Some(EventName::UserPromptSubmit) => Some(Wish::BlockPrompt),
        _ => None,
    };
    let mut answer = match (failing, event, wish) {
        (Failing::Closed, Some(event), Some(wish)) => {
            say(dialect, occasion, event, vec![(wish, Content::Text(closed))], failing)
        }
        // The event may have been a tool. Every agent stops a tool at exit status 2 with a text on stderr.
        (Failing::Closed, None, _) if occasion.own_event.is_empty() => {
            Answer { stderr: closed, status: 2, ..Answer::default() }
        }
        _ => neutral(dialect, event, failing),
    };
    answer.notes.push(format!("no decision: {why}"));
    with_notes(dialect, answer)
}

fn neutral(dialect: &Dialect, event: Option<EventName>, failing: Failing) -> Answer {
    let allows = failing == Failing::Closed && event == Some(EventName::PreToolUse);
    let stdout = match dialect.neutral {
        Neutral::Object => "{}",
        Neutral::EmptyOrAllow if allows => r#"{"decision":"allow"}"#,
        Neutral::Empty | Neutral::EmptyOrAllow => "",
    };
    Answer { stdout: stdout.to_owned(), ..Answer::default() }
}

/// Prints the notes on stderr too, for agents to which text there means nothing.
fn with_notes(dialect: &Dialect, mut answer: Answer) -> Answer {
    if dialect.notes_on_stderr && answer.status == 0 {
        answer.stderr = answer.notes.iter().map(|note| format!("hooksctl: {note}\n")).collect();
    }
    answer
}

fn say(
    dialect: &Dialect,
    occasion: &Occasion,
    event: EventName,
    mut wanted: Vec<Wanted>,
    failing: Failing,
) -> Answer {
    let mut said = build(dialect, occasion, event, &wanted);
    let length = |said: &Answer| said.stdout.len().max(said.stderr.len());
    if length(&said) > dialect.longest {
        shorten(&mut wanted, dialect.longest);
        said = build(dialect, occasion, event, &wanted);
        said.notes.push(format!("the answer was cut to the {} bytes this agent reads", dialect.longest));
    }
    if length(&said) > dialect.longest {
        // What makes it too long is JSON, and a part of JSON is worse than nothing.
        let rewrites = wanted.iter().any(|(wish, _)| *wish == Wish::UpdatedInput);
        wanted.retain(|(_, content)| matches!(content, Content::Text(_)));
        if rewrites {
            let reason = "the rewritten input is longer than this agent reads".to_owned();
            wanted.insert(0, (Wish::Deny, Content::Text(reason)));
        }
        said = build(dialect, occasion, event, &wanted);
        said.notes.push("a part of the answer was longer than this agent reads".to_owned());
    }
    if said.stdout.is_empty() && said.status == 0 {
        said.stdout = neutral(dialect, Some(event), failing).stdout;
    }
    with_notes(dialect, said)
}

/// Cuts texts so that all of them together fit into this many bytes.
fn shorten(wanted: &mut [Wanted], longest: usize) {
    let texts = wanted.iter().filter(|(_, content)| matches!(content, Content::Text(_))).count().max(1);
    let room = longest.saturating_sub(AROUND_TEXTS + texts * CUT.len()) / texts;
    for (_, content) in wanted {
        if let Content::Text(text) = content
            && quoted(text).len() > room
        {
            *text = format!("{}{CUT}", prefix(text, room));
        }
    }
}

/// The longest beginning of a text that takes at most `room` bytes as a JSON string.
fn prefix(text: &str, room: usize) -> &str {
    let mut used = 2;
    let end = text.char_indices().find(|(_, c)| {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if c.is_control() && c.len_utf8() == 1 => 6,
            c => c.len_utf8(),
        };
        used > room
    });
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// An answer that is being put together.
#[derive(Default)]
struct AnswerBuilder {
    /// The JSON for stdout.
    document: Document,
    /// The text for stderr, which goes with exit status 2.
    stderr: String,
    /// The text for stdout, where there is no JSON.
    plain: String,
    /// What the agent cannot be told.
    notes: Vec<String>,
    /// Whether the tool is denied, so that an allow and a rewritten input are of no use any more.
    denied: bool,
}

fn build(dialect: &Dialect, occasion: &Occasion, event: EventName, wanted: &[Wanted]) -> Answer {
    let mut builder = AnswerBuilder::default();
    let rewrites = wanted.iter().any(|(wish, _)| *wish == Wish::UpdatedInput);
    for (wish, content) in wanted {
        let mut how = dialect.how(event, *wish, occasion.is_attended);
        let mut wish = *wish;
        if let Some(How::Instead(other)) = how {
            let (agent, why) = (dialect.name, wish.words());
            builder.notes.push(format!("{agent} cannot {why} on {event}: {} instead", other.words()));
            (how, wish) = (dialect.how(event, other, occasion.is_attended), other);
        }
        if builder.denied && matches!(wish, Wish::UpdatedInput | Wish::Allow) {
            continue;
        }
        builder.denied |= wish == Wish::Deny;
        match how {
            Some(How::Json(members)) => {
                let content = match (wish, &occasion.own_tool) {
                    (Wish::UpdatedInput, Some(tool)) => {
                        Content::Json(own_input(dialect, tool, content.text()))
                    }
                    _ => content.clone(),
                };
                for (path, put) in members {
                    builder.put(path, *put, &content);
                }
            }
            Some(How::Exit2) => append(&mut builder.stderr, content.text()),
            Some(How::Plain) => append(&mut builder.plain, content.text()),
            Some(How::Anyway) => {}
            // An allow is said together with the rewritten input.
            None if wish == Wish::Allow && rewrites => {}
            Some(How::Instead(_)) | None => {
                builder.notes.push(format!("{} cannot {} on {event}: left out", dialect.name, wish.words()));
            }
        }
    }
    builder.finish(dialect, occasion)
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

impl AnswerBuilder {
    fn put(&mut self, path: &str, put: Put, content: &Content) {
        match put {
            Put::It if content.text().is_empty() => {}
            Put::It => self.document.put(path, content.clone()),
            Put::Word(word) => self.document.put(path, Content::Json(quoted(word))),
            Put::Flag(flag) => self.document.put(path, Content::Json(flag.to_string())),
        }
    }

    fn finish(mut self, dialect: &Dialect, occasion: &Occasion) -> Answer {
        if !self.stderr.is_empty() {
            if !self.document.is_empty() || !self.plain.is_empty() {
                let note = format!("{} reads nothing else beside exit status 2: left out", dialect.name);
                self.notes.push(note);
            }
            return Answer { stderr: self.stderr, status: 2, notes: self.notes, ..Answer::default() };
        }
        if self.document.has("hookSpecificOutput") {
            self.document.put_first("hookSpecificOutput", "hookEventName", &occasion.own_event);
        }
        let stdout = if self.document.is_empty() { self.plain } else { self.document.json() };
        Answer { stdout, notes: self.notes, ..Answer::default() }
    }
}
