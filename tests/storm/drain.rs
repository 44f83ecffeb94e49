//! B14, D11: what must finish finishes exactly once, whoever goes; at the end of the drain it is killed and named.

use serde_json::{Value, json};

use crate::support::{Daemon, commands, handlers_on, outcome, pre, until};

fn session_end() -> Value {
    json!({ "event": "SessionEnd", "cause": "other" })
}

/// A handler that leaves a line in `done` when it has run to its end, some time after it began.
const LASTING: &str = "echo x >>$W/begun; sleep 1; echo x >>$W/done";

fn lines(daemon: &Daemon, name: &str) -> usize {
    std::fs::read_to_string(daemon.path(name)).map_or(0, |text| text.lines().count())
}

async fn begun(daemon: &Daemon) {
    until("the handler began", || lines(daemon, "begun") == 1).await;
}

/// And ends the daemon: a test has one at a time.
async fn done_once(daemon: Daemon) {
    until("the handler is done", || lines(&daemon, "done") == 1).await;
    daemon.nothing_left().await;
    assert_eq!((lines(&daemon, "begun"), lines(&daemon, "done")), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d11_session_end_survives_its_client_its_session_and_the_drain() {
    let document = handlers_on("SessionEnd", vec![json!({ "type": "command", "command": LASTING })]);

    let daemon = Daemon::start("", &document).await;
    let agent = daemon.agent().await;
    let _ = agent.start(&session_end()).await;
    drop(agent);
    done_once(daemon).await;

    let daemon = Daemon::start("", &document).await;
    let agent = daemon.agent().await;
    let (_, answer) = agent.start(&session_end()).await;
    begun(&daemon).await;
    let closed = agent.client.call("session/close", json!({ "session": agent.session })).await;
    assert_eq!(closed, Ok(json!({})));
    assert_eq!(outcome(answer).await.unwrap()["handlers"][0]["status"], "ok");
    done_once(daemon).await;

    let daemon = Daemon::start("", &document).await;
    let agent = daemon.agent().await;
    let _ = agent.start(&session_end()).await;
    begun(&daemon).await;
    daemon.terminate();
    drop(agent);
    assert_eq!(daemon.ended().await, Some(0));
    assert_eq!((lines(&daemon, "begun"), lines(&daemon, "done"), daemon.alive()), (1, 1, vec![]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d11_the_end_of_the_drain_kills_and_names() {
    let line = "echo x >>$W/begun; (setsid sleep 77 &) ; sleep 77";
    let document = handlers_on(
        "SessionEnd",
        vec![json!({ "type": "command", "command": "true" }), json!({ "type": "command", "command": line })],
    );
    let daemon = Daemon::start("", &document).await;
    let agent = daemon.agent().await;
    let _ = agent.start(&session_end()).await;
    begun(&daemon).await;
    let _ = agent.client.call("daemon/shutdown", json!({ "drain_ms": 200 })).await;
    assert_eq!(daemon.ended().await, Some(0));
    assert_eq!(daemon.alive(), [""; 0]);
    let log = daemon.log();
    let named = log
        .lines()
        .find(|line| line.contains("the daemon stops: event cut"))
        .unwrap_or_else(|| panic!("{log}"));
    for part in [agent.session.as_str(), "event=\"SessionEnd\"", "handlers=[\"SessionEnd:0:1\"]"] {
        assert!(named.contains(part), "{part} in {named}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d11_handlers_of_the_older_form_finish_when_their_client_goes() {
    let document = json!({ "hooks": [{ "command": ["/bin/sh", "-c", LASTING], "events": ["user.prompt"] }] });
    let daemon = Daemon::start("", &document).await;
    let agent = daemon.agent().await;
    let _ = agent.start(&json!({ "event": "UserPromptSubmit", "prompt": "hi" })).await;
    begun(&daemon).await;
    drop(agent);
    done_once(daemon).await;

    // Everybody else's are cancelled.
    let daemon = Daemon::start("", &commands(&[LASTING])).await;
    let agent = daemon.agent().await;
    let _ = agent.start(&pre()).await;
    begun(&daemon).await;
    drop(agent);
    daemon.nothing_left().await;
    assert_eq!((lines(&daemon, "begun"), lines(&daemon, "done")), (1, 0));
}
