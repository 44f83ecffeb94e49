//! Kind 4: reading what a handler printed: its amount, its encoding, its noise.

use std::time::{Duration, Instant};

use hooksd_tests::harness::{Agent, World, alone, decision, deny, events, no_opinion, processes, world};
use serde_json::{Value, json};

/// An agent whose handlers print the file `out` of the world, on these events.
pub(crate) async fn reader(world: &World, of: &[&str]) -> Agent {
    let groups: serde_json::Map<String, Value> = of
        .iter()
        .map(|event| {
            ((*event).to_owned(), json!([{ "hooks": [{ "type": "command", "command": "cat $W/out" }] }]))
        })
        .collect();
    world.agent_of(&json!({ "hooks": groups })).await
}

/// The decision when the handlers print this.
pub(crate) async fn printed(
    world: &World,
    agent: &mut Agent,
    event: &Value,
    output: impl AsRef<[u8]>,
) -> Value {
    world.write("out", output);
    agent.invoke(event).await.decision()
}

pub(crate) fn pre_with(codes: &[&str]) -> Value {
    let diagnostics: Vec<String> =
        codes.iter().map(|code| code.replacen(' ', " PreToolUse:0:0 ", 1)).collect();
    let diagnostics: Vec<String> = diagnostics
        .into_iter()
        .map(|line| if line.contains(' ') { line } else { format!("{line} PreToolUse:0:0") })
        .collect();
    decision("PreToolUse", json!({ "diagnostics": diagnostics }))
}

pub(crate) fn denied(reason: Option<&str>, codes: &[&str]) -> Value {
    let mut denied = pre_with(codes);
    denied["permission"] = deny("");
    denied["permission"]["reason"] = json!(reason);
    denied
}

/// Noise around an answer is not searched for a brace: the whole output is not JSON, and the remark shows its start.
#[test]
fn b24_noise_around_the_json_is_not_json() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse", "SessionStart"]).await;
        let deny_json = hooksd_tests::harness::DENY;
        let start_of_deny = r#""{"hookSpecificOutput""#;
        for (output, shown) in [
            (format!("Welcome\n{deny_json}"), r#""Welcome\n{"#),
            (format!("{deny_json}\nbye"), start_of_deny),
            (format!("{deny_json}\n{deny_json}"), start_of_deny),
            (format!("\u{1b}[0m{deny_json}"), r#""\u{1b}[0m{"#),
            (format!("{deny_json}\0"), start_of_deny),
        ] {
            world.write("out", &output);
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.decision(), pre_with(&["malformed_json"]), "{output:?}");
            let message = answer.message("malformed_json");
            assert!(message.contains(shown) && !message.contains(['\n', '\u{1b}', '\0']), "{message}");
            let expected = json!({ "context": [output] });
            assert_eq!(
                agent.invoke(&events::session_start()).await.decision(),
                decision("SessionStart", expected)
            );
        }
        // Line ends around it, and pretty printing, are no noise.
        let pretty =
            serde_json::to_string_pretty(&serde_json::from_str::<Value>(deny_json).unwrap()).unwrap();
        for output in [format!("\r\n\r\n{deny_json}\r\n\r\n"), pretty.replace('\n', "\r\n")] {
            assert_eq!(printed(world, &mut agent, &events::pre(), output).await, denied(Some("no"), &[]));
        }
    });
}

/// The shell is neither a login shell nor interactive: start-up files do not print into an answer.
#[test]
fn b24_the_shell_reads_no_startup_file() {
    world(async |world| {
        for name in [".profile", ".bashrc", ".bash_profile", ".shrc"] {
            world.write(&format!("home/{name}"), "echo Welcome\n");
        }
        let mut agent = world.agent_of(&events::shell("PreToolUse", "cat $DENY")).await;
        assert_eq!(agent.invoke(&events::pre()).await.decision(), denied(Some("no"), &[]));
    });
}

/// D6 and the reference: a byte order mark on stdout, UTF-16 too, is read; in hooks.json it is accepted.
#[test]
fn b25_byte_order_marks_are_read() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse"]).await;
        let deny_json = hooksd_tests::harness::DENY;
        let utf16: Vec<u8> =
            "\u{feff}".chars().chain(deny_json.chars()).flat_map(|c| (c as u16).to_le_bytes()).collect();
        for output in [[b"\xEF\xBB\xBF", deny_json.as_bytes()].concat(), utf16] {
            assert_eq!(printed(world, &mut agent, &events::pre(), output).await, denied(Some("no"), &[]));
        }
        let document = events::shell("PreToolUse", "cat $DENY").to_string();
        world.user_text([b"\xEF\xBB\xBF", document.as_bytes()].concat());
        let mut agent = world.agent().await;
        assert_eq!(agent.load_diagnostics(), [""; 0]);
        assert_eq!(agent.invoke(&events::pre()).await.decision(), denied(Some("no"), &[]));
    });
}

/// The first 100,000 bytes of each stream count, and a cut is always said.
#[test]
fn b26_output_is_kept_up_to_the_cap() {
    world(async |world| {
        let mut agent = reader(world, &["PreToolUse", "SessionStart"]).await;
        let deny_json = hooksd_tests::harness::DENY;
        let long = format!(r#"{{"zzz":"{}"}}"#, "x".repeat(150_000));
        let cut = &["stdout_truncated", "malformed_json"];
        assert_eq!(printed(world, &mut agent, &events::pre(), &long).await, pre_with(cut));
        let padded = format!("{deny_json}{}", " ".repeat(100_000));
        let expected = denied(Some("no"), &["stdout_truncated"]);
        assert_eq!(printed(world, &mut agent, &events::pre(), padded).await, expected);
        let exact = format!("{deny_json}{}", " ".repeat(100_000 - deny_json.len()));
        assert_eq!(exact.len(), 100_000);
        assert_eq!(printed(world, &mut agent, &events::pre(), exact).await, denied(Some("no"), &[]));

        let answer = printed(world, &mut agent, &events::session_start(), &long).await;
        let expected =
            json!({ "context": [long[..100_000]], "diagnostics": ["stdout_truncated SessionStart:0:0"] });
        assert_eq!(answer, decision("SessionStart", expected));

        let flood = "head -c 200000 /dev/zero | tr '\\0' e >&2; exit 2";
        let answer = world.agent_of(&events::shell("PreToolUse", flood)).await.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), denied(Some(&"e".repeat(100_000)), &["stderr_truncated"]));
    });
}

/// A flood is read to its end and thrown away: it neither blocks the handler nor fills the daemon.
#[test]
fn b27_a_flood_of_output_is_drained_in_bounded_memory() {
    alone(async |world| {
        let document = events::shell_within("PreToolUse", "head -c 300000000 /dev/zero", 20.0);
        let mut agent = world.agent_of(&document).await;
        let before = processes::resident(world.pid());
        let mut ids = Vec::new();
        for _ in 0..8 {
            ids.push(agent.start(&events::pre()).await);
        }
        for id in ids {
            let answer = agent.answer(id).await;
            assert_eq!(answer.decision(), pre_with(&["stdout_truncated", "malformed_json"]));
            assert_eq!(answer.0["handlers"][0]["stdout_bytes"], 300_000_000);
        }
        let grown = processes::resident(world.pid()).saturating_sub(before);
        assert!(grown < 10_000_000, "the daemon has grown by {grown} bytes");

        let mut agent = world.agent_of(&events::shell_within("PreToolUse", "yes", 1.0)).await;
        let start = Instant::now();
        let answer = agent.invoke(&events::pre()).await;
        assert_eq!(answer.decision(), pre_with(&["timeout"]));
        assert!(
            (Duration::from_secs(1)..Duration::from_secs(3)).contains(&start.elapsed()),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(no_opinion(), answer.decision()["permission"]);
    });
}
