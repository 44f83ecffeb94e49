//! The engine alone and the daemon with real processes come to the same decision, in whatever order handlers end.

use std::fs;
use std::path::Path;

use arbitrary::Unstructured;
use hooksd_config::layers::load;
use hooksd_engine::reduce::reduce;
use hooksd_protocol::event::EventName;
use hooksd_protocol::outcome::{End, Outcome};
use hooksd_tests::fuzz::chosen;
use hooksd_tests::harness::{World, events, world};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use crate::mutate::Choices;

/// How many sets of outcomes are tried. Each starts up to six processes.
const SETS: usize = 60;

/// Reads all of its input, waits for its turn to end, says what it has to say, lets the next one end.
const HANDLER: &str =
    r#"cat > /dev/null; read _ < "$0.turn"; cat "$0.out"; cat "$0.err" >&2; echo > "$1"; exit "$2""#;

fn event(name: EventName, continuation_count: i64) -> Value {
    let about = |more: Value| {
        let mut event = json!({ "event": name.as_str() });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    match name {
        EventName::SessionStart => events::session_start(),
        EventName::UserPromptSubmit => events::prompt(),
        EventName::SessionEnd => events::session_end(),
        EventName::PermissionRequest | EventName::PreToolUse => {
            events::tool(name.as_str(), "execute", json!({}))
        }
        EventName::PostToolUse => events::post(),
        EventName::PostToolUseFailure => {
            let mut event = events::tool(name.as_str(), "execute", json!({}));
            event["error"] = json!("broken");
            event["is_interrupt"] = json!(false);
            event
        }
        EventName::Notification => {
            about(json!({ "notification": { "type": "agent_completed", "message": "x" } }))
        }
        EventName::PreCompact => about(json!({ "trigger": "manual", "custom_instructions": "" })),
        EventName::Stop => events::stop(u32::try_from(continuation_count).unwrap()),
        EventName::SubagentStart => about(json!({ "agent": { "id": "a1", "name": "explore" } })),
        EventName::SubagentStop => about(json!({
            "agent": { "id": "a1", "name": "explore" }, "continuation_count": continuation_count,
            "last_assistant_message": "x", "background_tasks": [], "session_crons": []
        })),
    }
}

/// Handlers that end one after the other, in the order of `ends`; the first is let go.
fn document(folder: &Path, event: EventName, outcomes: &[Outcome], ends: &[usize]) -> Value {
    fs::create_dir(folder).unwrap();
    let base = |index: usize| folder.join(index.to_string()).display().to_string();
    let turn = |index: usize| format!("{}.turn", base(index));
    let handlers: Vec<Value> = outcomes
        .iter()
        .enumerate()
        .map(|(index, outcome)| {
            fs::write(format!("{}.out", base(index)), &outcome.stdout.bytes).unwrap();
            fs::write(format!("{}.err", base(index)), &outcome.stderr.bytes).unwrap();
            let place = ends.iter().position(|end| *end == index).unwrap();
            match place {
                0 => fs::write(turn(index), "\n").unwrap(),
                _ => mkfifo(turn(index).as_str(), Mode::S_IRUSR | Mode::S_IWUSR).unwrap(),
            }
            let next = ends.get(place + 1).map_or_else(|| "/dev/null".to_owned(), |next| turn(*next));
            let End::Exited(status) = outcome.end else { panic!("an outcome that is no exit") };
            let on_failure = if index.is_multiple_of(2) { "ignore" } else { "block" };
            json!({
                "type": "command", "command": "of the test", "onFailure": on_failure,
                "argv": ["/bin/sh", "-c", HANDLER, base(index), next, status.to_string()]
            })
        })
        .collect();
    events::hooks(event.as_str(), json!(handlers))
}

async fn compare(world: &World, set: usize, choices: &mut Choices) {
    let bytes: Vec<u8> = (0..200).map(|_| choices.next() as u8).collect();
    let (facts, mut outcomes) = chosen(&mut Unstructured::new(&bytes));
    for outcome in &mut outcomes {
        // Ends by force have tests of their own, with times that no two runs share.
        if !matches!(outcome.end, End::Exited(_)) {
            outcome.end = End::Exited(3);
        }
    }
    let mut ends: Vec<usize> = (0..outcomes.len()).collect();
    for last in (1..ends.len()).rev() {
        ends.swap(last, choices.below(last + 1));
    }
    let document = document(&world.at(&format!("set-{set}")), facts.event, &outcomes, &ends);
    let mut agent = world.agent_of(&document).await;
    if facts.event == EventName::SubagentStop {
        // Its handlers are told where the subagent's transcript is: there must be one.
        let params = json!({ "session": agent.session(), "agent_id": "a1", "records": [{}] });
        agent.line.call("transcript/append", params).await.unwrap();
    }
    let answer = agent.invoke(&event(facts.event, facts.continuation_count)).await;
    let snapshot = load(&world.at("config/hooks.json"), None, &|_| false, &[]).snapshot;
    let ran: Vec<_> = snapshot.handlers().iter().zip(outcomes.iter().map(Some)).collect();
    assert_eq!(ran.len(), outcomes.len());
    let (expected, _) = reduce(&facts, &[], Vec::new(), &ran);
    assert_eq!(answer.0["decision"], serde_json::to_value(&expected).unwrap(), "set {set}, ends {ends:?}");
}

#[test]
fn the_engine_alone_and_the_daemon_decide_alike_in_any_order_of_ends() {
    world(async |world| {
        let mut choices = Choices::new("daemon");
        for set in 0..SETS {
            compare(world, set, &mut choices).await;
        }
        println!("{SETS} sets of outcomes");
    });
}
