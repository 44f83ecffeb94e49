//! What handlers find around them: the session's variables without secrets, ours, and nothing of the daemon's own.

use hooksd_tests::harness::{Agent, Setup, World, decision, events, processes, world, world_with};
use serde_json::{Value, json};

/// The whole environment of a handler, without a shell that adds to it.
async fn environment(agent: &mut Agent) -> Vec<String> {
    let context = agent.invoke(&events::session_start()).await.context();
    let mut variables: Vec<String> = context[0].lines().map(str::to_owned).collect();
    variables.sort();
    variables
}

fn prints_environment() -> Value {
    events::program("SessionStart", &["/usr/bin/env"])
}

fn ours(world: &World, agent: &Agent, id: &str, depth: u32) -> Vec<String> {
    let project = world.text_at("project");
    vec![
        format!("CLAUDE_PROJECT_DIR={project}"),
        format!("DEEPAGENTS_PROJECT_DIR={project}"),
        format!("HOOKSD_DEPTH={depth}"),
        format!("HOOKSD_INVOCATION={id}"),
        format!("HOOKSD_SESSION={}", agent.session()),
        format!("HOOKSD_SOCKET={}", world.text_at("run/hooksd.sock")),
    ]
}

/// B51, D12, D14: a session's handlers get exactly what it has sent, without secrets, and the seven variables of ours.
#[test]
fn the_sessions_variables_without_secrets_and_ours() {
    world(async |world| {
        world.user(&prints_environment());
        let sent = json!({
            "PATH": "/usr/bin:/bin", "EMPTY": "", "ÜMLAUT": "ß = 😀", "MULTI": "a", "SSH_AUTH_SOCK": "/s",
            "OPENAI_API_KEY": "x", "my_token": "x", "Password_File": "x", "MONKEY": "x", "aSECRETb": "x",
            // What a hook's agent would have inherited, and must not be believed.
            "HOOKSD_SESSION": "forged", "HOOKSD_SOCKET": "/forged", "CLAUDE_PROJECT_DIR": "/forged",
            // What no process can be given is left out rather than kept from starting.
            "A=B": "x", "": "x", "NUL": "a\u{0}b",
        });
        let mut agent = world.agent_with(json!({ "env": sent })).await;
        let own_id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let answer =
            agent.invoke_with(&events::session_start(), json!({ "invocation_id": own_id })).await.unwrap();
        let mut found: Vec<String> = answer.context()[0].lines().map(str::to_owned).collect();
        found.sort();
        // The mark that finds what has run away is another one for each run.
        let marks = found.iter().filter(|line| line.starts_with("HOOKSD_RUN=")).count();
        found.retain(|line| !line.starts_with("HOOKSD_RUN="));
        assert_eq!(marks, 1);
        let mut expected = ours(world, &agent, own_id, 1);
        expected.extend(
            ["PATH=/usr/bin:/bin", "EMPTY=", "ÜMLAUT=ß = 😀", "MULTI=a", "SSH_AUTH_SOCK=/s"]
                .map(str::to_owned),
        );
        expected.sort();
        assert_eq!(found, expected);
    });
}

/// D14: what a session does not send falls back to the daemon's environment, without secrets either, and visibly.
#[test]
fn without_its_own_a_session_gets_the_daemons() {
    let variables =
        [("GH_PAT", "kept"), ("DB_PASSWORD", "x")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    world_with(Setup { environment: variables.into(), ..Setup::default() }, async |world| {
        world.user(&prints_environment());
        let mut agent = world.agent().await;
        assert_eq!(agent.info["environment"], "daemon");
        let found = environment(&mut agent).await;
        let names: Vec<&str> = found.iter().map(|line| line.split('=').next().unwrap()).collect();
        assert_eq!(
            names,
            [
                "CLAUDE_PROJECT_DIR",
                "DEEPAGENTS_PROJECT_DIR",
                "DENY",
                "GH_PAT",
                "HOME",
                "HOOKSD_DEPTH",
                "HOOKSD_INVOCATION",
                "HOOKSD_RUN",
                "HOOKSD_SESSION",
                "HOOKSD_SOCKET",
                "PATH",
                "W",
                processes::MARK,
            ]
        );
        // An empty environment is one, too.
        let mut bare = world.agent_with(json!({ "env": {} })).await;
        assert_eq!(bare.info["environment"], "session");
        assert_eq!(environment(&mut bare).await.len(), 7);
    });
}

/// D14 for the real program: variables of its own life stay with it.
#[test]
fn the_daemons_own_variables_stay_with_it() {
    let own = [
        "NOTIFY_SOCKET",
        "LISTEN_FDS",
        "LISTEN_PID",
        "WATCHDOG_USEC",
        "HOOKSD_LOG",
        "HOOKSD_SESSION",
        "HOOKSD_DEPTH",
    ];
    let environment_of_daemon = own.map(|name| (name.to_owned(), "1".to_owned()));
    let setup = Setup { program: true, environment: environment_of_daemon.into(), ..Setup::default() };
    world_with(setup, async |world| {
        world.user(&prints_environment());
        let mut agent = world.agent().await;
        let found = environment(&mut agent).await;
        for name in own {
            let values: Vec<&String> =
                found.iter().filter(|line| line.starts_with(&format!("{name}="))).collect();
            let expected = match name {
                "HOOKSD_SESSION" => vec![format!("HOOKSD_SESSION={}", agent.session())],
                "HOOKSD_DEPTH" => vec!["HOOKSD_DEPTH=1".to_owned()],
                _ => vec![],
            };
            assert_eq!(values, expected.iter().collect::<Vec<_>>());
        }
    });
}

/// D12: hooks that start agents that have hooks end at depth three.
#[test]
fn d12_hooks_end_at_depth_three() {
    world(async |world| {
        world.user(&events::shell("SessionStart", "echo x >> $W/runs; echo depth $HOOKSD_DEPTH"));
        for (depth, seen) in [("0", "1"), ("1", "2"), ("2", "3"), (" 2", "3"), ("", "1")] {
            let mut agent =
                world.agent_with(json!({ "env": { "W": world.text_at(""), "HOOKSD_DEPTH": depth } })).await;
            assert_eq!(
                agent.invoke(&events::session_start()).await.context(),
                [format!("depth {seen}")],
                "{depth:?}"
            );
        }
        let runs = world.read("runs");
        for depth in ["3", " 3", "4", "4000000000", "99999999999", "-1", "x"] {
            let mut agent =
                world.agent_with(json!({ "env": { "W": world.text_at(""), "HOOKSD_DEPTH": depth } })).await;
            let answer = agent.invoke(&events::session_start()).await;
            assert_eq!(
                answer.decision(),
                decision("SessionStart", json!({ "diagnostics": ["recursion_limit"] }))
            );
            assert_eq!(answer.0["handlers"], json!([]));
        }
        assert_eq!(world.read("runs"), runs);
    });
}

/// D12 for real: a handler can use the daemon it runs under, as a nested agent would.
#[test]
fn a_handler_can_call_the_daemon_it_runs_under() {
    world(async |world| {
        let ctl = hooksd_tests::harness::program::path("hooksctl");
        world.write("inner.json", events::prompt().to_string());
        let nested = format!("'{}' --json invoke \"$W/inner.json\" > $W/inner.out && exit 2", ctl.display());
        world.user(&json!({ "hooks": {
            "PreToolUse": [{ "hooks": [{ "type": "command", "command": nested }] }],
            "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "echo depth $HOOKSD_DEPTH" }] }],
        }}));
        let mut agent = world.agent().await;
        let answer = agent.invoke(&events::pre()).await;
        assert_eq!(answer.behavior(), "deny", "{answer:?}");
        let inner: Value = serde_json::from_str(&world.read("inner.out").unwrap()).unwrap();
        assert_eq!(inner["decision"]["context"], json!(["depth 2"]));
    });
}
