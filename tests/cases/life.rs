//! Kind 11: socket and daemon life.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use hooksd_protocol::socket::MAX_SOCKET_PATH;
use hooksd_tests::harness::{World, daemon, events, processes, program, until};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::json;

fn second(world: &World) -> Child {
    world.daemon_command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A daemon removes the socket file it has made, and no other that stands there now.
#[test]
fn b69_an_old_daemon_does_not_remove_the_new_ones_socket() {
    daemon(async |world| {
        // Somebody has moved socket and lock aside, or cleaned them up.
        fs::rename(world.socket(), world.at("run/aside.sock")).unwrap();
        fs::remove_file(world.at("run/hooksd.sock.lock")).unwrap();
        let mut new = second(world);
        until("the new one listens", || UnixStream::connect(world.socket()).is_ok()).await;
        assert_eq!(world.stop().await, Some(0));
        let mut line = world.connect().await;
        assert_eq!(line.call("daemon/status", json!({})).await.unwrap()["pid"], new.id());
        line.call("daemon/shutdown", json!({})).await.unwrap();
        until("the new one ends", || new.try_wait().unwrap().is_some()).await;
        assert!(!world.socket().exists());
    });
}

/// (a) After a kill the socket is stale, and a start takes it.
#[test]
fn b70_a_start_after_a_kill_works() {
    daemon(async |world| {
        let document = events::shell("PreToolUse", "exit 2");
        for _ in 0..3 {
            let mut before = world.agent_of(&document).await;
            world.kill().await;
            assert_eq!(before.line.next_line().await, None, "clients of the killed one see its end");
            assert!(world.socket().exists());
            world.start().await;
        }
        assert_eq!(world.agent().await.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// (b) Of ten that start at once, one serves; the others say that one is running.
#[test]
fn b70_of_ten_starts_one_serves() {
    daemon(async |world| {
        world.stop().await;
        let mut starts: Vec<Child> = (0..10).map(|_| second(world)).collect();
        let mut ended = Vec::new();
        until("nine have ended", || {
            starts.retain_mut(|child| match child.try_wait().unwrap() {
                Some(status) => {
                    ended.push(status.code());
                    false
                }
                None => true,
            });
            starts.len() == 1
        })
        .await;
        assert_eq!(ended, [Some(3); 9]);
        until("the one listens", || UnixStream::connect(world.socket()).is_ok()).await;
        let mut line = world.connect().await;
        assert_eq!(line.call("daemon/status", json!({})).await.unwrap()["pid"], starts[0].id());
        line.call("daemon/shutdown", json!({})).await.unwrap();
        until("it ends", || starts[0].try_wait().unwrap().is_some()).await;
    });
}

/// (c) A daemon that is stopped and does not answer is alive: its socket is not taken.
#[test]
fn b70_a_stopped_daemon_is_not_dead() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        processes::signal(world.pid(), Signal::SIGSTOP);
        let done = program::run(world.daemon_command()).await;
        processes::signal(world.pid(), Signal::SIGCONT);
        assert_eq!(done.status, Some(3), "{}", done.stderr);
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// A path that fits is used; one byte more, or a runtime folder that is too long, is explained by both programs alike.
#[test]
fn b71_a_path_that_is_too_long_is_explained() {
    daemon(async |world| {
        let base = world.text_at("run");
        let of_length = |length: usize| format!("{base}/{}", "x".repeat(length - base.len() - 1));
        let daemon = |socket: &str| {
            let mut command = program::command("hooksd", &[("HOME", world.at("home").as_os_str())]);
            command.args(["--socket", socket]);
            command
        };
        let ctl = |socket: &str| {
            let mut command = program::command("hooksctl", &[]);
            command.args(["--socket", socket, "status"]);
            command
        };
        for length in [103, 104, MAX_SOCKET_PATH] {
            let socket = of_length(length);
            let mut child = daemon(&socket).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            until("it listens", || UnixStream::connect(&socket).is_ok()).await;
            assert_eq!(program::run(ctl(&socket)).await.status, Some(0));
            processes::signal(child.id(), Signal::SIGTERM);
            until("it ends", || child.try_wait().unwrap().is_some()).await;
        }
        let long = of_length(MAX_SOCKET_PATH + 1);
        let runtime = of_length(120);
        let by_runtime = |name: &str, arguments: &[&str]| {
            let mut command = program::command(
                name,
                &[("XDG_RUNTIME_DIR", OsStr::new(&runtime)), ("HOME", world.at("home").as_os_str())],
            );
            command.args(arguments);
            command
        };
        let in_runtime = format!("{runtime}/hooksd/hooksd.sock");
        for (command, status, path) in [
            (daemon(&long), 1, &long),
            (ctl(&long), 2, &long),
            (by_runtime("hooksd", &[]), 1, &in_runtime),
            (by_runtime("hooksctl", &["status"]), 2, &in_runtime),
        ] {
            let done = program::run(command).await;
            assert_eq!(done.status, Some(status), "{}", done.stderr);
            for part in
                [path.as_str(), &path.len().to_string(), &MAX_SOCKET_PATH.to_string(), "HOOKSD_SOCKET"]
            {
                assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
            }
            assert!(!done.stderr.contains("SUN_LEN"), "{}", done.stderr);
        }
    });
}

/// Not a test: a daemon of another version, as a process of its own.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(socket) = std::env::var_os("SOCKET") else { return };
    pretend(&UnixListener::bind(socket).unwrap(), &std::env::var("HELPER").unwrap());
}

/// A daemon of another version: `older` says so, `mute` understands nothing.
fn pretend(listener: &UnixListener, kind: &str) {
    for stream in listener.incoming() {
        let mut writer = stream.unwrap();
        let lines = BufReader::new(writer.try_clone().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            let request: serde_json::Value = serde_json::from_str(&line).unwrap();
            let method = request["method"].as_str().unwrap();
            let own = json!({ "name": "hooksd", "version": "0.0.9", "protocol_version": 0, "pid": std::process::id() });
            let answer = match (kind, method) {
                ("older", "initialize" | "daemon/status") => json!({ "result": own }),
                ("older", "daemon/shutdown") => json!({ "result": {} }),
                _ => json!({ "error": { "code": -32601, "message": format!("no method {method}") } }),
            };
            let mut answer = answer;
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = request["id"].clone();
            writeln!(writer, "{answer}").unwrap();
            if (kind, method) == ("older", "daemon/shutdown") {
                return;
            }
        }
    }
}

async fn pretender(world: &World, kind: &str) -> Child {
    let _ = fs::remove_file(world.socket());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "life::helper", "--ignored", "--nocapture"])
        .env_clear()
        .envs(world.environment());
    command.env("HELPER", kind).env("SOCKET", world.socket());
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it listens", || UnixStream::connect(world.socket()).is_ok()).await;
    child
}

fn ctl(world: &World, arguments: &[&str]) -> Command {
    let environment = world.environment();
    let environment: Vec<(&str, &OsStr)> =
        environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
    let mut command = program::command("hooksctl", &environment);
    command.env("HOOKSD_SOCKET", world.socket()).args(arguments);
    command
}

/// A hooksctl that meets a daemon of another version says so with both, shows what it can, and stops it: by its method,
/// by a signal to its very process when it has none.
#[test]
fn b73_another_versions_daemon_is_named_shown_and_stopped() {
    daemon(async |world| {
        world.stop().await;
        let ours = env!("CARGO_PKG_VERSION");
        for (kind, named, how) in [
            ("older", "hooksd 0.0.9 (protocol 0)", "the daemon is stopping"),
            ("mute", "hooksd of an unknown version (an unknown protocol)", "was told to stop by a signal"),
        ] {
            let mut child = pretender(world, kind).await;
            let mismatch = format!("{named} is running, this is hooksctl {ours} (protocol 1)");
            let shown = program::run(ctl(world, &["show"])).await;
            assert_eq!((shown.status, shown.stdout.as_str()), (Some(4), ""));
            assert!(
                shown.stderr.contains(&mismatch) && shown.stderr.contains("hooksctl restart"),
                "{}",
                shown.stderr
            );
            let status = program::run(ctl(world, &["status"])).await;
            assert_eq!(status.status, Some(0));
            assert!(status.stderr.contains(&mismatch), "{}", status.stderr);
            assert!(
                status.stdout.starts_with(&format!("{named}, process {}\n", child.id())),
                "{}",
                status.stdout
            );
            let stopped = program::run(ctl(world, &["shutdown"])).await;
            assert_eq!(stopped.status, Some(0), "{}", stopped.stderr);
            assert!(stopped.stdout.contains(how), "{}", stopped.stdout);
            until("it ends", || child.try_wait().unwrap().is_some()).await;
        }
        let mut child = pretender(world, "mute").await;
        let restart = tokio::spawn(program::run(ctl(world, &["--json", "restart"])));
        until("the old one ends", || child.try_wait().unwrap().is_some()).await;
        let restarted = restart.await.unwrap();
        assert_eq!(restarted.status, Some(0), "{}", restarted.stderr);
        let status = program::run(ctl(world, &["--json", "status"])).await;
        let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
        assert_eq!((&status["version"], &status["protocol_version"]), (&json!(ours), &json!(1)));
        assert_eq!(program::run(ctl(world, &["shutdown"])).await.status, Some(0));
        world.nothing_runs().await;
    });
}

/// TERM: no new connections, what runs is answered, nothing is left, status 0. HUP kills nothing.
#[test]
fn b74_term_drains_and_hup_kills_nothing() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/runs; sleep 2; exit 2")).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        processes::signal(world.pid(), Signal::SIGHUP);
        world.tell_to_stop();
        until("it accepts no more", || UnixStream::connect(world.socket()).is_err()).await;
        assert_eq!(agent.answer(id).await.behavior(), "deny");
        assert_eq!(world.ended().await, Some(0));
        assert!(!world.socket().exists());
    });
}

/// HUP for the daemon's whole process group, as a terminal that goes away sends it: handlers are in sessions of their own
/// and go on, and the daemon does as well.
#[test]
fn b74_a_hup_for_the_whole_group_costs_no_handler() {
    daemon(async |world| {
        world.stop().await;
        let mut command = world.daemon_command();
        let mut child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it listens", || UnixStream::connect(world.socket()).is_ok()).await;
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/runs; sleep 1; exit 2")).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        let group = Pid::from_raw(child.id().cast_signed());
        killpg(group, Signal::SIGHUP).unwrap();
        assert_eq!(agent.answer(id).await.behavior(), "deny");
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        processes::signal(child.id(), Signal::SIGTERM);
        until("it ends", || child.try_wait().unwrap().is_some()).await;
        assert!(child.wait().unwrap().success());
    });
}
