//! docs/agents.md: the table of what each agent gets is made here.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use hooksd_dialects::agents;

use crate::UPDATE;
use crate::effects::{Effect, WANTED, effect};

const BEGIN: &str = "<!-- made by tests/dialects: begin -->\n";
const END: &str = "<!-- made by tests/dialects: end -->\n";

fn table() -> String {
    let mut page = String::from("| on the event, a hook wants to |");
    for dialect in agents::ALL {
        write!(page, " {} |", dialect.name).unwrap();
    }
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(agents::ALL.len()));
    page.push('\n');
    for wanted in &WANTED {
        write!(page, "| {}: {} |", wanted.event, wanted.title).unwrap();
        for dialect in agents::ALL {
            let cell = match effect(dialect, wanted) {
                Effect::Recorded(_) => "**yes**",
                Effect::Documented => "yes",
                Effect::Lesser(note) if note.contains("deny the tool instead") => "denied",
                Effect::Lesser(_) => "partly",
                Effect::Nothing => "–",
            };
            write!(page, " {cell} |").unwrap();
        }
        page.push('\n');
    }
    page
}

fn limits() -> String {
    let mut page = String::from(
        "| agent | waits for a hook | answered within | SessionEnd within | answer cut at | a person is there when |\n\
         |---|---|---|---|---|---|\n",
    );
    for dialect in agents::ALL {
        let seconds = |ms: u64| format!("{} s", ms as f64 / 1000.0);
        let attendance = match dialect.attendance {
            hooksd_dialects::Attendance::Variable(name, values) => {
                format!("`{name}` is {}", values.map_words())
            }
            hooksd_dialects::Attendance::Window([], []) => "always".to_owned(),
            hooksd_dialects::Attendance::Window(members, variables) => {
                format!("unless {}", [members, variables].concat().as_slice().map_words())
            }
            hooksd_dialects::Attendance::Unknown => "`--mode interactive` says so".to_owned(),
        };
        writeln!(
            page,
            "| {} | {} | {} | {} | {} bytes | {attendance} |",
            dialect.name,
            seconds(dialect.patience_ms),
            seconds(dialect.patience_ms - 500),
            seconds(dialect.patience_at_end_ms - 500),
            dialect.longest,
        )
        .unwrap();
    }
    page
}

trait Words {
    fn map_words(&self) -> String;
}

impl Words for [&str] {
    fn map_words(&self) -> String {
        self.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
    }
}

#[test]
fn the_page_says_what_each_agent_gets() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/agents.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the tables");
    let (_, after) = rest.split_once(END).expect("the place has an end");
    let expected = format!("{before}{BEGIN}{}\n{}{END}{after}", table(), limits());
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "docs/agents.md is stale: run the tests once with {UPDATE}=1");
    }
}

#[test]
fn the_page_describes_every_agent() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/agents.md")).unwrap();
    for dialect in agents::ALL {
        assert!(page.contains(&format!("--agent {}", dialect.name)), "no entry for {}", dialect.name);
    }
}
