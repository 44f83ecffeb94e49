//! `hooksctl`: exit statuses, messages, and output for people and for machines.

use std::ffi::OsStr;
use std::fs;

use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{World, daemon, events, world};
use serde_json::{Value, json};

/// Runs `hooksctl` against the world's daemon.
pub(crate) async fn ctl(world: &World, arguments: &[&str]) -> Done {
    ctl_with(world, arguments, "").await
}

/// The same with this standard input.
pub(crate) async fn ctl_with(world: &World, arguments: &[&str], stdin: &str) -> Done {
    let done = program::run_with(world.ctl(arguments), stdin).await;
    assert!(
        !done.stdout.contains('\u{1b}') && !done.stderr.contains('\u{1b}'),
        "colours or escapes in a pipe: {done:?}"
    );
    done
}

/// The one JSON value that `--json` prints.
pub(crate) async fn ctl_json(world: &World, arguments: &[&str]) -> Value {
    let done = ctl(world, &[&["--json"], arguments].concat()).await;
    assert_eq!(
        (done.status, done.stderr.as_str(), done.stdout.matches('\n').count()),
        (Some(0), "", 1),
        "{done:?}"
    );
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn status_tells_how_the_daemon_is() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        agent.invoke(&events::pre()).await;
        let done = ctl(world, &["status"]).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        let lines: Vec<&str> = done.stdout.lines().collect();
        let places = &agent.line.call("daemon/status", json!({})).await.unwrap()["max_handlers"];
        let (version, pid, socket) =
            (env!("CARGO_PKG_VERSION"), world.pid(), world.text_at("run/hooksd.sock"));
        assert_eq!(lines[0], format!("hooksd {version} (protocol 1), process {pid}"));
        assert!(lines[1].starts_with("up for ") && lines[1].ends_with(" s"), "{}", lines[1]);
        assert_eq!(
            lines[2..],
            [
                format!("socket       {socket}"),
                format!("config dir   {}", world.text_at("config")),
                "changes      watching".to_owned(),
                "connections  2".to_owned(),
                "sessions     1 (1 with the daemon's environment)".to_owned(),
                format!(
                    "events       1 answered, 0 handlers running, 0 waiting (at most {places} at once), 0 processes warm"
                ),
            ]
        );
        let status = ctl_json(world, &["status"]).await;
        assert_eq!((&status["pid"], &status["sessions"]), (&json!(pid), &json!(1)));
    });
}

/// 3: nobody answers. The message names the socket and what to do.
#[test]
fn no_daemon_is_exit_3() {
    world(async |world| {
        world.write("file", "not a socket");
        for socket in ["gone/s.sock", "file", "project"] {
            let socket = world.text_at(socket);
            for command in [&["status"][..], &["shutdown"]] {
                let done = ctl(world, &[&["--socket", &socket], command].concat()).await;
                assert_eq!((done.status, done.stdout.as_str()), (Some(3), ""), "{socket}");
                let start = format!("error: no daemon answers on {socket}: start it with `hooksd`");
                assert!(done.stderr.starts_with(&start), "{}", done.stderr);
            }
        }
        // A daemon that has gone and left its socket.
        let stale = world.at("stale.sock");
        drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
        assert_eq!(ctl(world, &["--socket", stale.to_str().unwrap(), "status"]).await.status, Some(3));
    });
}

/// 2: the command line is wrong. A path that fits no socket is explained with path, length and limit (B71).
#[test]
fn a_wrong_command_line_is_exit_2() {
    world(async |world| {
        for arguments in [
            &["zzz"][..],
            &[],
            &["status", "zzz"],
            &["invoke", "--mode", "zzz"],
            &["invoke", "--session", "x", "--trust", "explicit"],
            &["shutdown", "--drain", "soon"],
            &["check", "--format", "zzz"],
        ] {
            let done = ctl(world, arguments).await;
            assert_eq!((done.status, done.stdout.as_str()), (Some(2), ""), "{arguments:?}");
            assert!(!done.stderr.is_empty());
        }
        let long = format!("/{}", "x".repeat(200));
        let done = ctl(world, &["--socket", &long, "status"]).await;
        assert_eq!(done.status, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(&long) && done.stderr.contains("201"), "{}", done.stderr);

        for (name, value, part) in [
            ("HOOKSD_SOCKET", long.as_str(), "201"),
            ("HOOKSD_SOCKET", "here", "here"),
            ("X", "", "HOOKSD_SOCKET"),
        ] {
            let mut command = program::command("hooksctl", &[(name, OsStr::new(value))]);
            command.arg("status");
            let done = program::run(command).await;
            assert_eq!(done.status, Some(2));
            assert!(done.stderr.contains(part), "{}", done.stderr);
        }
        for arguments in [&["--help"][..], &["--version"], &["invoke", "--help"]] {
            let done = ctl(world, arguments).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        }
        let help = ctl(world, &["--help"]).await.stdout;
        assert!(help.contains("Exit status: 0 done, 1 check or doctor found something"), "{help}");
    });
}

/// `check` needs no daemon: 0 all of it would be used, 1 most of it, 2 nothing.
#[test]
fn check_tells_what_would_be_used() {
    world(async |world| {
        let good = world.write("good.json", events::shell("Stop", "true").to_string());
        let good = good.to_str().unwrap();
        let done = ctl(world, &["--socket", "/nowhere", "check", good]).await;
        let expected = format!("{good}: 1 handler would be used\n");
        assert_eq!(done, Done { status: Some(0), stdout: expected, stderr: String::new() });

        let mixed = json!({ "hooks": { "Stop": [{ "hooks": [
            { "type": "command", "command": "true" }, { "type": "command", "command": "true" }, { "type": "http" },
        ]}]}});
        let document = mixed.to_string();
        let column = document.find("\"http\"").unwrap();
        let caret = format!("    {}^", " ".repeat(column));
        let mixed = world.write("mixed.json", &document);
        let mixed = mixed.to_str().unwrap();
        let done = ctl(world, &["check", mixed]).await;
        let expected = format!(
            "{mixed}:1:{}: warning[invalid_config]: type: only \"command\" is supported, not \"http\"\n\
             \x20   {document}\n\
             {caret}\n\
             \x20   fix: write \"type\": \"command\"\n\
             {mixed}: 2 handlers would be used\n",
            column + 1
        );
        assert_eq!(done, Done { status: Some(1), stdout: expected, stderr: String::new() });

        fs::File::create(world.at("huge.json")).unwrap().set_len(5 << 20).unwrap();
        world.write("broken.json", "{bad");
        for name in ["gone.json", "project", "huge.json", "broken.json"] {
            let done = ctl(world, &["check", &world.text_at(name)]).await;
            assert_eq!(done.status, Some(2), "{name}");
            let summary = format!("{}: nothing of it would be used\n", world.text_at(name));
            assert!(
                done.stdout.contains("warning[config_read_failed]: ") && done.stdout.ends_with(&summary),
                "{}",
                done.stdout
            );
            let json = ctl(world, &["--json", "check", &world.text_at(name)]).await;
            assert_eq!(json.status, Some(2));
            let json: Value = serde_json::from_str(&json.stdout).unwrap();
            assert_eq!((&json["usable"], &json["handlers"]), (&json!(false), &json!(0)));
        }
    });
}

#[test]
fn show_lists_the_handlers_of_a_folder() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "true"));
        world.user(&json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [
            { "type": "command", "command": "guard \u{1b}[31m", "timeout": 5, "onFailure": "block" },
        ]}]}}));
        let agent = world.agent().await;
        let done = ctl(world, &["show"]).await;
        let (project, user) = (world.text_at("project"), world.text_at("config/hooks.json"));
        let expected = [
            format!("snapshot {}", agent.snapshot()),
            format!("project  {project} (hooks.json NOT trusted, so not loaded)"),
            format!("project  {project}/.deepagents/hooks.json (not loaded)"),
            format!("user     {user} (loaded)"),
            String::new(),
            "PreToolUse:0:0 matcher Bash".to_owned(),
            "    guard \\u{1b}[31m".to_owned(),
            format!("    5 s, on failure block, from {user}"),
            String::new(),
            format!(
                "warning[project_untrusted]: {project}/.deepagents/hooks.json is present but not trusted; none of its hooks is loaded"
            ),
            String::new(),
        ];
        assert_eq!(done, Done { status: Some(0), stdout: expected.join("\n"), stderr: String::new() });
        // The folder may be named, relative to the current one.
        let home = ctl_json(world, &["show", "../home/."]).await;
        assert_eq!(home["project"]["hooks_present"], false);
        assert!(home["project"]["root"].as_str().unwrap().ends_with("/home"));
    });
}

#[test]
fn shutdown_stops_the_daemon() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/runs; sleep 30")).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        let done = ctl(world, &["shutdown", "--drain", "0"]).await;
        assert_eq!(
            done,
            Done { status: Some(0), stdout: "the daemon is stopping\n".to_owned(), stderr: String::new() }
        );
        assert_eq!(agent.line.answer(id).await.unwrap_err()["code"], -32006);
        assert_eq!(world.ended().await, Some(0));
        assert_eq!(ctl(world, &["shutdown"]).await.status, Some(3));
    });
}
