//! Kind 11: socket and daemon life.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use hooksd_protocol::socket::MAX_SOCKET_PATH;
use hooksd_tests::harness::{World, daemon, events, processes, program, until, world};
use rustix::process::Signal;
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
        for _ in 0..3 {
            world.kill().await;
            assert!(world.socket().exists());
            world.start().await;
        }
        world.agent().await;
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
        processes::signal(world.pid(), Signal::STOP);
        let done = program::run(world.daemon_command()).await;
        processes::signal(world.pid(), Signal::CONT);
        assert_eq!(done.status, Some(3), "{}", done.stderr);
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// (d) What is no socket is refused and left as it is.
#[test]
fn b70_a_file_or_folder_at_the_path_is_refused() {
    daemon(async |world| {
        world.stop().await;
        fs::write(world.socket(), "precious").unwrap();
        assert_eq!(program::run(world.daemon_command()).await.status, Some(1));
        assert_eq!(fs::read_to_string(world.socket()).unwrap(), "precious");
        fs::remove_file(world.socket()).unwrap();
        fs::create_dir(world.socket()).unwrap();
        assert_eq!(program::run(world.daemon_command()).await.status, Some(1));
        assert!(world.socket().is_dir());
    });
}

/// (e) A socket that cannot be asked is not known to be dead. Nothing is forbidden to the superuser.
#[test]
fn b70_a_socket_that_cannot_be_asked_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return;
    }
    world(async |world| {
        fs::set_permissions(world.socket(), fs::Permissions::from_mode(0o000)).unwrap();
        fs::remove_file(world.at("run/hooksd.sock.lock")).unwrap();
        assert_eq!(program::run(world.daemon_command()).await.status, Some(1));
        assert!(world.socket().exists());
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
        for length in [103, MAX_SOCKET_PATH] {
            let socket = of_length(length);
            let mut child = daemon(&socket).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            until("it listens", || UnixStream::connect(&socket).is_ok()).await;
            assert_eq!(program::run(ctl(&socket)).await.status, Some(0));
            processes::signal(child.id(), Signal::TERM);
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

/// TERM: no new connections, what runs is answered, nothing is left, status 0. HUP kills nothing.
#[test]
fn b74_term_drains_and_hup_kills_nothing() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "touch $W/runs; sleep 2; exit 2")).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        processes::signal(world.pid(), Signal::HUP);
        world.tell_to_stop();
        until("it accepts no more", || UnixStream::connect(world.socket()).is_err()).await;
        assert_eq!(agent.answer(id).await.behavior(), "deny");
        assert_eq!(world.ended().await, Some(0));
        assert!(!world.socket().exists());
    });
}
