//! Statements of the guide that people who write hooks have read, in every way an event can come. What is left out of a
//! document, or done otherwise, is told when the document is loaded.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{World, daemon, events, until, world};
use serde_json::{Value, json};

/// The bridge of an agent; where there is no daemon, none is started.
async fn hook(world: &World, more: &[&str], payload: &Value) -> Done {
    let mut command = world.ctl(&[&["hook", "--agent", "claude-code"], more].concat());
    command.env("HOOKSD_AUTOSTART", "0");
    program::run_with(command, &payload.to_string()).await
}

fn payload(world: &World, event: &str, more: Value) -> Value {
    let mut payload = json!({ "hook_event_name": event, "session_id": "s", "cwd": world.text_at("project") });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

fn pre(world: &World) -> Value {
    payload(
        world,
        "PreToolUse",
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t" }),
    )
}

/// C88: hooks make an agent go on eight times in a row, whatever the form of the event; a prompt begins anew.
#[test]
fn c88_stop_ends_at_eight_in_payload_form_and_behind_the_bridge() {
    daemon(async |world| {
        world.user(&events::shell("Stop", "echo more >&2; exit 2"));
        let stop = payload(world, "Stop", json!({ "stop_hook_active": true }));
        let mut agent = world.agent().await;
        let params = json!({ "session": agent.session(), "payload": stop });
        let mut goes_on = Vec::new();
        for number in 0..14 {
            let answer = agent.line.call("hook/invoke", params.clone()).await.unwrap();
            goes_on.push(answer["decision"]["continue_loop"].as_bool().unwrap());
            let told = answer["decision"]["diagnostics"].to_string().contains("continuation_cap");
            assert_eq!(told, number >= 8, "{answer}");
            assert_eq!(
                answer["decision"]["user_notices"].as_array().unwrap().len(),
                usize::from(number >= 8)
            );
        }
        assert_eq!(goes_on, [[true; 8].as_slice(), &[false; 6]].concat());
        let prompt = payload(world, "UserPromptSubmit", json!({ "prompt": "hi" }));
        let prompt = json!({ "session": agent.session(), "payload": prompt });
        agent.line.call("hook/invoke", prompt).await.unwrap();
        let answer = agent.line.call("hook/invoke", params).await.unwrap();
        assert_eq!(answer["decision"]["continue_loop"], true);

        let stop = payload(world, "Stop", json!({ "session_id": "other", "stop_hook_active": true }));
        let mut blocks = 0;
        for _ in 0..10 {
            blocks += usize::from(hook(world, &[], &stop).await.stdout.contains("\"block\""));
        }
        assert_eq!(blocks, 8);
    });
}

/// C89: commands of the older form hold up no answer, by whatever way the event comes, and not a deny beside them.
#[test]
fn c89_d32_list_shaped_commands_hold_up_no_answer() {
    daemon(async |world| {
        world.user(&json!({ "hooks": [
            { "command": ["/bin/sh", "-c", "cat > $W/got; touch $W/began; exec sleep 20"], "events": ["user.prompt"] },
        ]}));
        world.project(&events::shell("UserPromptSubmit", "echo no >&2; exit 2"));
        let trust = json!({ "trust": "explicit" });
        let mut agent = world.agent_with(trust).await;
        let begun = Instant::now();
        let answer = agent.invoke(&events::prompt()).await;
        assert_eq!(answer.decision()["continue_processing"], false);
        assert_eq!(answer.handlers().len(), 1, "the older one is no part of the answer");
        let prompt = payload(world, "UserPromptSubmit", json!({ "prompt": "hi" }));
        let bridged = hook(world, &["--trust", "explicit"], &prompt).await;
        assert!(bridged.stdout.contains("no"), "{bridged:?}");
        assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
        world.appears("began").await;
        // It is killed after its own 5 s, and nothing of it is left.
        world.nothing_runs().await;
        assert!(world.read("got").unwrap().contains("user.prompt"));
    });
}

/// D32: commands of the older form take no places of guards, however many wait.
#[test]
fn d32_a_crowd_of_list_shaped_commands_stands_before_no_guard() {
    use hooksd_tests::harness::{Setup, world_with};
    let limited = Setup { program: true, limits: "ulimit -n 256".to_owned(), ..Setup::default() };
    world_with(limited, async |world| {
        let sleeper = json!({ "command": ["/bin/sh", "-c", "exec sleep 30"], "events": ["user.prompt"] });
        world.user(&json!({ "hooks": vec![sleeper; 20] }));
        world.project(&events::shell("PreToolUse", "echo guarded >&2; exit 2"));
        for number in 0..10 {
            let mut prompt = payload(world, "UserPromptSubmit", json!({ "prompt": "hi" }));
            prompt["session_id"] = json!(number.to_string());
            hook(world, &[], &prompt).await;
        }
        let begun = Instant::now();
        let answer = hook(world, &["--trust", "explicit", "--deadline", "4"], &pre(world)).await;
        assert!(answer.stdout.contains("guarded"), "{answer:?} after {:?}", begun.elapsed());
        world.tell_to_stop();
        assert_eq!(world.ended().await, Some(0));
    });
}

/// Bytes that somebody has named and that are not there are told, as a broken document is.
#[test]
fn trust_in_other_bytes_is_told() {
    daemon(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let others = "0".repeat(64);
        let told = hook(world, &["--trust", &others], &pre(world)).await;
        assert!(told.stdout.contains("not trusted"), "{told:?}");
        std::fs::create_dir(world.at("empty")).unwrap();
        let mut other = pre(world);
        other["cwd"] = json!(world.text_at("empty"));
        other["session_id"] = json!("other");
        let told = hook(world, &["--trust", &others], &other).await;
        assert!(told.stdout.contains("has no document"), "{told:?}");
    });
}

/// C90: each entry of a list that cannot be used is named with its place, and costs itself alone.
#[test]
fn c90_entries_of_a_list_that_cannot_be_used_are_named() {
    daemon(async |world| {
        world.user(&json!({ "hooks": [
            { "command": "notify-send hi", "events": ["session.end"] },
            { "command": [], "events": ["session.end"] },
            { "command": ["true"], "events": ["sesion.end"] },
            { "command": ["/usr/bin/touch", world.text_at("good")], "events": ["session.end"] },
        ]}));
        let mut agent = world.agent().await;
        let told = agent.load_diagnostics();
        for place in ["hooks[0].command", "hooks[1].command", "hooks[2].events[0]"] {
            let named = told.iter().filter(|told| told.as_str() == format!("invalid_config {place}")).count();
            assert_eq!(named, 1, "{place}: {told:?}");
        }
        let all = agent.info["snapshot"]["diagnostics"].to_string();
        assert!(all.contains("did you mean session.end?"), "{all}");
        for (command, word) in [("check", "hooks[2].events[0]"), ("doctor", "hooks.json: 5 problems")] {
            let mut asked = world.ctl(&[command]);
            asked.env("HOOKSD_CONFIG_DIR", world.at("config"));
            let said = program::run_with(asked, "").await;
            let said = said.stdout + &said.stderr;
            assert!(said.contains(word), "{command}: {said}");
        }
        agent.invoke(&events::session_end()).await;
        world.appears("good").await;

        world.user(&json!({ "hooks": [5, { "command": ["/usr/bin/touch", world.text_at("five")], "events": ["session.end"] }] }));
        let mut agent = world.agent().await;
        assert!(agent.load_diagnostics().contains(&"invalid_config hooks[0]".to_owned()));
        agent.invoke(&events::session_end()).await;
        world.appears("five").await;
    });
}

/// C91: a document that cannot be read is told in a conversation behind the bridge, once to the person and in each record.
#[test]
fn c91_invalid_json_is_told_behind_the_bridge() {
    daemon(async |world| {
        world.user_text("{\"hooks\": [");
        let start = payload(world, "SessionStart", json!({ "source": "startup" }));
        let first = hook(world, &[], &start).await;
        assert!(first.stdout.contains("hooks.json") && first.stdout.contains("systemMessage"), "{first:?}");
        let second = hook(world, &[], &pre(world)).await;
        assert!(!second.stdout.contains("systemMessage"), "a conversation is told once: {second:?}");
        let mut other = pre(world);
        other["session_id"] = json!("another");
        assert!(hook(world, &[], &other).await.stdout.contains("hooks.json"));
        let mut line = world.connect().await;
        let page = line.call("journal/query", json!({})).await.unwrap();
        let records = page["records"].as_array().unwrap();
        let told = |record: &&Value| record["diagnostics"].to_string().contains("config_read_failed");
        assert_eq!(records.iter().filter(told).count(), 3, "{page}");
    });
}

/// C92: a name that no event of today stands for is named, also beside one that has an equivalent.
#[test]
fn c92_names_without_an_equivalent_are_named() {
    world(async |world| {
        world.user(
            &json!({ "hooks": [{ "command": ["true"], "events": ["session.start", "permission.request"] }] }),
        );
        let agent = world.agent().await;
        let all = agent.info["snapshot"]["diagnostics"].as_array().unwrap().clone();
        let unmapped = all.iter().find(|told| told["code"] == "legacy_unmapped").expect("it is told");
        let message = unmapped["message"].as_str().unwrap();
        assert!(message.contains("permission.request") && !message.contains("session.start"), "{message}");
        world.user(&json!({ "hooks": [{ "command": ["true"] }] }));
        let agent = world.agent().await;
        let all = agent.info["snapshot"]["diagnostics"].to_string();
        assert!(all.contains("tool.error") && all.contains("user.name.set"), "{all}");
    });
}

/// C93: a command of the older form that fails leaves the same record by either way, and nothing of it in the decision.
#[test]
fn c93_failures_of_list_shaped_commands_are_recorded() {
    daemon(async |world| {
        world.user(&json!({ "hooks": [
            { "command": ["/bin/sh", "-c", "echo bad >&2; exit 3"], "events": ["user.prompt"] },
        ]}));
        let mut agent = world.agent().await;
        let answer = agent.invoke(&events::prompt()).await;
        assert_eq!(answer.diagnostics(), [] as [Value; 0]);
        world.nothing_runs().await;
        let params = json!({ "session": agent.session(), "event": "user.prompt" });
        agent.line.call("legacy/emit", params).await.unwrap();
        let mut line = world.connect().await;
        let mut records = Vec::new();
        let deadline = Instant::now() + Duration::from_secs(20);
        while records.len() < 2 && Instant::now() < deadline {
            let page = line.call("journal/query", json!({ "event": "user.prompt" })).await.unwrap();
            records = page["records"].as_array().unwrap().clone();
            tokio::task::yield_now().await;
        }
        assert_eq!(records.len(), 2, "{records:?}");
        for record in &records {
            let handler = &record["handlers"][0];
            assert_eq!(
                (&handler["status"], &handler["exit_code"]),
                (&json!("failed"), &json!(3)),
                "{record}"
            );
            assert_eq!(record["outcome"], "failed");
            assert!(record["diagnostics"].to_string().contains("bad"), "{record}");
        }
    });
}

/// The level of the log that a daemon with these variables and this `.env` has.
async fn level(world: &World, variables: &[(&str, &str)], file: &str) -> String {
    world.write("settings/.env", file);
    let (settings, socket) = (world.text_at("settings"), world.text_at("own.sock"));
    let (home, bin) = (world.text_at("home"), program::path("hooksd"));
    let ctl = |arguments: &[&str]| {
        let mut environment = vec![
            ("HOME", OsStr::new(&home)),
            ("HOOKSD_CONFIG_DIR", OsStr::new(&settings)),
            ("HOOKSD_SOCKET", OsStr::new(&socket)),
            ("HOOKSD_BIN", bin.as_os_str()),
        ];
        environment.extend(variables.iter().map(|(name, value)| (*name, OsStr::new(*value))));
        let mut command = program::command("hooksctl", &environment);
        command.args(arguments);
        command
    };
    let shown = program::run(ctl(&["show", "--settings", "--json"])).await;
    program::run(ctl(&["shutdown"])).await;
    until("its daemon has gone", || !world.at("own.sock").exists()).await;
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown:?}"));
    let log = shown["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == "log").unwrap();
    log["value"].as_str().unwrap().to_owned()
}

/// C95: only 1, true, yes and on switch debugging on, by either name, also in the config dir's `.env`.
#[test]
fn c95_values_that_mean_no_switch_nothing_on() {
    world(async |world| {
        for value in ["false", "no", "off", "0", "2"] {
            assert_eq!(level(world, &[("DEEPAGENTS_CODE_DEBUG", value)], "").await, "info", "{value}");
        }
        assert_eq!(level(world, &[("DEEPAGENTS_CODE_DEBUG", "YES")], "").await, "debug");
        assert_eq!(level(world, &[("DEEPAGENTS_CLI_DEBUG", "1")], "").await, "debug");
        assert_eq!(level(world, &[], "DEEPAGENTS_CODE_DEBUG=on\n").await, "debug");
        assert_eq!(
            level(world, &[("DEEPAGENTS_CODE_DEBUG", "0")], "DEEPAGENTS_CODE_DEBUG=1\n").await,
            "info"
        );
    });
}

/// C96: at `debug` the log has a line for each request with its method, time and error, and one for each handler's end.
#[test]
fn c96_the_debug_log_shows_requests_and_handlers() {
    use hooksd_tests::harness::{Setup, world_with};
    let setup = Setup {
        program: true,
        environment: vec![("HOOKSD_LOG".to_owned(), "debug".to_owned())],
        ..Setup::default()
    };
    world_with(setup, async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 3")).await;
        agent.invoke(&events::pre()).await;
        agent.line.refusal("no/method", json!({})).await;
        agent.line.send_line("no json").await;
        until("the log has them", || {
            let log = world.read("daemon.log").unwrap_or_default();
            let has = |words: &[&str]| log.lines().any(|line| words.iter().all(|word| line.contains(word)));
            has(&["session/open", "answered"])
                && has(&["hook/invoke", "answered", "ms="])
                && has(&["no/method", "error", "-32601"])
                && has(&["PreToolUse:0:0", "exited"])
                && has(&["no request"])
        })
        .await;
    });
}

/// C97, D36: the `.env` of the session's folder comes before the project's root's; both only reach the project's own
/// handlers.
#[test]
fn c97_d36_the_working_folders_env_file_reaches_the_projects_handlers_alone() {
    daemon(async |world| {
        std::fs::create_dir_all(world.at("project/sub")).unwrap();
        std::fs::create_dir_all(world.at("project/.git")).unwrap();
        world.write("project/.env", "B=root\nC=root\nSHARED=project\n");
        world.write("project/sub/.env", "B=cwd\n");
        let print = |file: &str| format!("echo \"$B $C $SHARED\" > $W/{file}");
        world.project(&events::shell("PreToolUse", &print("of_project")));
        world.user(&events::shell("PreToolUse", &print("of_user")));
        let more = json!({ "trust": "explicit", "cwd": world.text_at("project/sub") });
        let mut agent = world.agent_with(more).await;
        agent.invoke(&events::pre()).await;
        assert_eq!(world.read("of_project").unwrap(), "cwd root project\n");
        assert_eq!(world.read("of_user").unwrap(), "  \n");
    });
}

/// C99: what a project's `.env` may not set is named, without its value.
#[test]
fn c99_variables_of_a_file_that_are_not_taken_are_named() {
    world(async |world| {
        world.write("project/.env", "DEEPAGENTS_CLI_X=hidden\nPATH=hidden\nOK=1\n");
        world.project(&events::shell("PreToolUse", "true"));
        let agent = world.agent_with(json!({ "trust": "explicit" })).await;
        let told = agent.info["snapshot"]["diagnostics"].to_string();
        assert!(told.contains("DEEPAGENTS_CLI_X, PATH not taken") && !told.contains("hidden"), "{told}");
        let agent = world.agent().await;
        let told = agent.info["snapshot"]["diagnostics"].to_string();
        assert!(told.contains(".env is not read: the project is not trusted"), "{told}");
    });
}

/// C100: the hooks of enabled plugins take part behind the bridge and in `invoke`; where they are switched off, each event
/// says so.
#[test]
fn c100_enabled_plugins_take_part_behind_the_bridge() {
    daemon(async |world| {
        let config = world.at("config/.state");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::create_dir_all(world.at("plug/hooks")).unwrap();
        world.write(
            "config/.state/plugin_state.json",
            json!({ "version": 1, "enabledPlugins": { "demo@m": true } }).to_string(),
        );
        let installed = json!({ "installPath": world.text_at("plug"), "version": "1" });
        world.write(
            "config/.state/installed_plugins.json",
            json!({ "version": 2, "plugins": { "demo@m": [installed] } }).to_string(),
        );
        let guard = events::shell("PreToolUse", "echo 'not here' >&2; exit 2");
        world.write("plug/hooks/hooks.json", guard.to_string());
        assert!(hook(world, &[], &pre(world)).await.stdout.contains("not here"));
        let left_out = hook(world, &["--plugins", "none"], &pre(world)).await;
        assert!(!left_out.stdout.contains("not here"), "{left_out:?}");
        let event = world.write("event.json", pre(world).to_string());
        let invoked = program::run_with(world.ctl(&["invoke", event.to_str().unwrap()]), "").await;
        assert!(invoked.stdout.contains("not here"), "{invoked:?}");
    });
}

/// C101: trust for one call, for CI: whatever the document says, or its bytes alone.
#[test]
fn c101_the_bridge_can_be_trusted_with_a_project_for_one_call() {
    daemon(async |world| {
        world.project(&events::shell("PreToolUse", "echo guarded >&2; exit 2"));
        let headless = ["--mode", "headless"];
        assert!(!hook(world, &headless, &pre(world)).await.stdout.contains("guarded"));
        let explicit = [&headless[..], &["--trust", "explicit"]].concat();
        assert!(hook(world, &explicit, &pre(world)).await.stdout.contains("guarded"));
        let agent = world.agent().await;
        let digest = agent.info["project"]["fingerprint"].as_str().unwrap().to_owned();
        let these = [&headless[..], &["--trust", &digest]].concat();
        assert!(hook(world, &these, &pre(world)).await.stdout.contains("guarded"));
        let zeros = "0".repeat(64);
        let others = [&headless[..], &["--trust", &zeros]].concat();
        assert!(!hook(world, &others, &pre(world)).await.stdout.contains("guarded"));
        let wrong = hook(world, &["--trust", "yes"], &pre(world)).await;
        assert!(wrong.stderr.contains("--trust is explicit, or the SHA-256"), "{wrong:?}");
    });
}

/// C103: what the guide does not say is as docs/hooks.md has it: `session.start` comes with each prompt and not with
/// SessionStart, automatic compaction derives nothing, and an entry of `updatedPermissions` that is none voids the allow.
/// D39 and D40 have tests of their own.
#[test]
fn c103_differences_from_the_guide_are_as_documented() {
    daemon(async |world| {
        let touch = |file: &str, event: &str| json!({ "command": ["/usr/bin/touch", world.text_at(file)], "events": [event] });
        world.user(
            &json!({ "hooks": [touch("start", "session.start"), touch("compact", "context.compact")] }),
        );
        let mut agent = world.agent().await;
        agent.invoke(&events::session_start()).await;
        let compact = |trigger: &str| payload(world, "PreCompact", json!({ "trigger": trigger }));
        let params = json!({ "session": agent.session(), "payload": compact("auto") });
        agent.line.call("hook/invoke", params).await.unwrap();
        world.nothing_runs().await;
        assert_eq!((world.read("start"), world.read("compact")), (None, None));
        agent.invoke(&events::prompt()).await;
        world.appears("start").await;
        let params = json!({ "session": agent.session(), "payload": compact("manual") });
        agent.line.call("hook/invoke", params).await.unwrap();
        world.appears("compact").await;

        let allow = |change: Value| {
            let specific = json!({ "hookEventName": "PermissionRequest",
                "decision": { "behavior": "allow", "updatedPermissions": [change] } });
            format!("echo '{}'", json!({ "hookSpecificOutput": specific }))
        };
        let known = json!({ "type": "setMode", "mode": "plan", "destination": "session" });
        for (change, behavior) in [(known, "allow"), (json!({ "type": "nope" }), "none")] {
            world.user(&events::shell("PermissionRequest", &allow(change)));
            let mut agent = world.agent_with(json!({ "accepts": ["updated_permissions"] })).await;
            let request = events::tool("PermissionRequest", "execute", json!({}));
            assert_eq!(agent.invoke(&request).await.behavior(), behavior);
        }
    });
}
