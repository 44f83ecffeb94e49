//! Documents of every shape with and without our entries.

use proptest::prelude::*;

use super::json_document::{entries, with_ours, without_ours};
use super::known::{ALL, Agent, Shape, named};

const PROGRAM: &str = "/opt/bin/hooksctl";

fn json_agents() -> impl Iterator<Item = &'static Agent> {
    ALL.into_iter().filter(|agent| agent.shape != Shape::Toml && !agent.events.is_empty())
}

fn agent(name: &str) -> &'static Agent {
    named(name)[0]
}

#[test]
fn every_event_gets_one_entry_and_a_second_time_none() {
    for agent in json_agents() {
        let installed = with_ours(None, agent, PROGRAM).unwrap();
        serde_json::from_str::<serde_json::Value>(&installed).unwrap();
        let found: Vec<String> =
            entries(&installed, agent).unwrap().into_iter().map(|entry| entry.event).collect();
        let wanted: Vec<&str> = agent.events.iter().map(|event| event.name).collect();
        assert_eq!(found, wanted, "{}", agent.name);
        assert_eq!(with_ours(Some(&installed), agent, PROGRAM).unwrap(), installed, "{}", agent.name);
        assert_eq!(without_ours(&installed, agent, &[]), Ok(None), "{}", agent.name);
    }
}

#[test]
fn an_entry_has_the_agents_shape_and_unit() {
    let entry = |name: &str, at: &str| {
        let installed = with_ours(None, agent(name), PROGRAM).unwrap();
        serde_json::from_str::<serde_json::Value>(&installed).unwrap().pointer(at).unwrap().to_string()
    };
    let command = |name: &str| format!(r#""command":"{PROGRAM} hook --agent {name} --deadline 599"#);
    let claude = command("claude-code");
    assert_eq!(
        entry("claude-code", "/hooks/PreToolUse/0"),
        format!(r#"{{"hooks":[{{{claude}","timeout":600,"type":"command"}}]}}"#)
    );
    assert_eq!(entry("codex", "/hooks/SessionEnd/0/hooks/0/timeout"), "3");
    let gemini = command("gemini-cli");
    assert_eq!(
        entry("gemini-cli", "/hooks/BeforeTool/0/hooks/0"),
        format!(r#"{{{gemini}","name":"hooksd","timeout":600000,"type":"command"}}"#)
    );
    let cursor = command("cursor");
    assert_eq!(entry("cursor", "/hooks/preToolUse/0"), format!(r#"{{{cursor}","timeout":600}}"#));
    assert_eq!(entry("cursor", "/version"), "1");
    let copilot = format!(r#""command":"{PROGRAM} hook --agent auto --event Stop --deadline 599"#);
    assert_eq!(
        entry("copilot-cli", "/hooks/Stop/0"),
        format!(r#"{{{copilot}","timeoutSec":600,"type":"command"}}"#)
    );
    let kiro = command("kiro-cli");
    assert_eq!(entry("kiro-cli", "/hooks/stop/0"), format!(r#"{{{kiro}","timeout_ms":600000}}"#));
    let ide = command("kiro-ide");
    assert_eq!(
        entry("kiro-ide", "/hooks/2"),
        format!(
            r#"{{"action":{{{ide}","type":"command"}},"enabled":true,"name":"hooksd-PreToolUse","timeout":600,"trigger":"PreToolUse"}}"#
        )
    );
}

#[test]
fn an_older_entry_is_updated_where_it_stands_and_a_second_one_goes() {
    let claude = agent("claude");
    let current = with_ours(None, claude, PROGRAM).unwrap();
    let older = with_ours(None, claude, "/old place/hooksctl").unwrap();
    assert!(older.contains("'/old place/hooksctl' hook"), "{older}");
    assert_eq!(with_ours(Some(&older), claude, PROGRAM).unwrap(), current);
    // The person's own settings of an entry stay; only the command is ours.
    let edited = older.replacen("\"timeout\": 600", "\"timeout\": 7, \"onFailure\": \"block\"", 1);
    let expected = current.replacen("\"timeout\": 600", "\"timeout\": 7, \"onFailure\": \"block\"", 1);
    assert_eq!(with_ours(Some(&edited), claude, PROGRAM).unwrap(), expected);
    // So do the options of the bridge that are the person's choice.
    let closed = older.replacen("--deadline 599", "--fail closed --deadline 5", 1);
    let expected = current.replacen("--deadline 599", "--fail closed --deadline 5", 1);
    assert_eq!(with_ours(Some(&closed), claude, PROGRAM).unwrap(), expected);
    // Somebody else's entries that look a little like ours stay; an entry for an event we never asked for goes.
    let other = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo hooksctl hook"}]}]}}"#;
    let twice = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo hooksctl hook"}]}], "Setup": [{"hooks": [{"type": "command", "command": "hooksctl hook --agent claude"}]}]}}"#;
    assert_eq!(without_ours(twice, claude, &[]).unwrap().as_deref(), Some(other));
    assert!(!with_ours(Some(twice), claude, PROGRAM).unwrap().contains("Setup"));
}

#[test]
fn what_was_empty_before_us_is_empty_after_us() {
    let claude = agent("claude");
    for before in [
        "{}",
        "{ }\n",
        "{\n}",
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {\n  }\n}",
        "{\"hooks\": {\"Stop\": [ ]}}",
        "",
        "\n",
    ] {
        let installed = with_ours(Some(before), claude, PROGRAM).unwrap();
        let earlier = [before.to_owned()];
        assert_eq!(without_ours(&installed, claude, &earlier).unwrap().as_deref(), Some(before));
        // Edited meanwhile: the containers still stay.
        if before.contains("hooks") {
            let edited = installed.replacen('{', "{\"a\": 1, ", 1);
            let out = without_ours(&edited, claude, &earlier).unwrap().unwrap();
            let hooks = serde_json::from_str::<serde_json::Value>(&out).unwrap()["hooks"].take();
            assert_eq!(hooks, serde_json::from_str::<serde_json::Value>(before).unwrap()["hooks"], "{out}");
        }
    }
}

#[test]
fn what_cannot_be_understood_is_refused_with_its_place() {
    let claude = agent("claude");
    for (text, error) in [
        ("{\"hooks\": 5}", "line 1, column 11: \"hooks\" should be an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "line 1, column 20: the event's hooks should be a list"),
        ("[]", "line 1, column 1: the document should be an object"),
        ("{\n// no\n}", "line 2, column 1: a comment, which this agent does not read"),
    ] {
        assert_eq!(with_ours(Some(text), claude, PROGRAM).unwrap_err().to_string(), error);
    }
}

#[test]
fn droid_also_keeps_events_at_the_top() {
    let droid = agent("droid");
    let before = "{\n  \"Stop\": [\n    {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}\n  ]\n}\n";
    let installed = with_ours(Some(before), droid, PROGRAM).unwrap();
    let value: serde_json::Value = serde_json::from_str(&installed).unwrap();
    assert_eq!(value["Stop"].as_array().unwrap().len(), 2);
    assert!(value.get("hooks").is_none() && value["PreToolUse"].is_array());
    assert_eq!(without_ours(&installed, droid, &[]).unwrap().as_deref(), Some(before));
}

/// Copilot CLI and VS Code read one file: whoever is installed first, the other finds it there.
#[test]
fn a_file_for_two_agents_has_one_entry_an_event() {
    let (copilot, vscode) = (agent("copilot-cli"), agent("vscode"));
    let first = with_ours(None, copilot, PROGRAM).unwrap();
    assert_eq!(with_ours(Some(&first), vscode, PROGRAM).unwrap(), first);
    let both = with_ours(Some(&with_ours(None, vscode, PROGRAM).unwrap()), copilot, PROGRAM).unwrap();
    assert_eq!(entries(&both, vscode).unwrap().len(), copilot.events.len());
}

#[test]
fn odd_paths_are_quoted_and_read_back() {
    let claude = agent("claude");
    for program in
        ["/a b/hooksctl", "/a'b/hooksctl", "/a\"b$HOME`x`\\/hooksctl", "/ä;|&/hooksctl", "/a'\"!/hooksctl"]
    {
        let installed = with_ours(None, claude, program).unwrap();
        let found = entries(&installed, claude).unwrap();
        assert!(found.iter().all(|entry| entry.program == program), "{program}: {found:?}");
    }
}

/// A document as people have them: other keys around, other hooks beside ours, in any layout.
fn configuration(agent: &'static Agent) -> impl Strategy<Value = String> {
    let space = prop_oneof![
        3 => Just("\n    "), 2 => Just(" "), 2 => Just(""), 1 => Just("\r\n\t"), 1 => Just("\n\n  ")
    ];
    let other = r#"{"hooks": [{"type": "command", "command": "x", "timeout": 1}], "command": "y"}"#;
    let event = agent.events[0].name;
    (prop::collection::vec(0..3_usize, 1..4), space.clone(), space, any::<bool>()).prop_map(
        move |(kinds, before, after, bom)| {
            let mut members = Vec::new();
            for (at, kind) in kinds.into_iter().enumerate() {
                members.push(match kind {
                    0 => format!("\"key{at}\": {{\"hooks\": []}}"),
                    1 => format!("\"key{at}\":\"hooksctl hook\""),
                    _ if agent.shape == Shape::Listed => format!("\"hooks\": [{other}]"),
                    _ => format!("\"hooks\": {{{before}\"{event}\": [{before}{other}{after}]{after}}}"),
                });
            }
            // Of repeated keys only the last would count.
            let mut seen = false;
            members.retain(|member| !member.starts_with("\"hooks\"") || !std::mem::replace(&mut seen, true));
            let mark = if bom { "\u{feff}" } else { "" };
            format!("{mark}{{{before}{}{after}}}{after}", members.join(&format!(",{before}")))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn uninstalling_is_the_inverse_of_installing(
        (index, text) in (0..11_usize).prop_flat_map(|index| {
            (Just(index), configuration(json_agents().nth(index).unwrap()))
        })
    ) {
        let agent = json_agents().nth(index).unwrap();
        let installed = with_ours(Some(&text), agent, PROGRAM).unwrap();
        prop_assert_eq!(entries(&installed, agent).unwrap().len(), agent.events.len());
        prop_assert_eq!(with_ours(Some(&installed), agent, PROGRAM).unwrap(), installed.clone());
        prop_assert_eq!(without_ours(&installed, agent, &[]).unwrap(), Some(text));
    }
}
