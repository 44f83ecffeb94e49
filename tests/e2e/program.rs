//! The real `hooksd`: its start, its end, and what it does not keep.

use std::ffi::OsStr;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use hooksd_tests::harness::{Setup, beside, daemon, decision, deny, events, processes, program, until};
use nix::sys::signal::Signal;
use serde_json::json;

/// TERM: what runs gets its answer, the socket goes, the status is 0.
#[test]
fn term_drains_and_removes_the_socket() {
    daemon(async |world| {
        let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; cat $DENY";
        let mut agent = world.agent_of(&events::shell("PreToolUse", wait)).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        world.tell_to_stop();
        until("it is stopping", || std::os::unix::net::UnixStream::connect(world.socket()).is_err()).await;
        world.write("go", "");
        let denied = json!({ "permission": deny("no") });
        assert_eq!(agent.answer(id).await.decision(), decision("PreToolUse", denied));
        assert_eq!(world.ended().await, Some(0));
        assert!(!world.socket().exists());
    });
}

/// HUP changes nothing: sessions are pinned, and nothing dies.
#[test]
fn hup_is_survived() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        processes::signal(world.pid(), Signal::SIGHUP);
        until("it was heard", || world.read("daemon.log").unwrap().contains("HUP")).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

#[test]
fn a_second_one_says_so_and_leaves() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        let done = program::run(world.daemon_command()).await;
        assert_eq!((done.status, done.stdout.as_str()), (Some(3), ""));
        assert!(
            done.stderr.contains("already running")
                && done.stderr.contains(&world.text_at("run/hooksd.sock"))
        );
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// B70: after a kill the socket is stale, and the next start takes it.
#[test]
fn a_start_after_a_kill_works() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        world.kill().await;
        assert_eq!(agent.line.next_line().await, None, "clients of the killed one see its end");
        assert!(world.socket().exists());
        world.start().await;
        assert_eq!(world.agent().await.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// B48: the daemon keeps nobody's folder busy and does not mind when its own is removed.
#[test]
fn it_lives_in_the_root_folder() {
    daemon(async |world| {
        if cfg!(target_os = "linux") {
            assert_eq!(fs::read_link(format!("/proc/{}/cwd", world.pid())).unwrap().to_str(), Some("/"));
        }
        world.stop().await;
        // Paths on its command line are those of the folder it was started in.
        fs::create_dir(world.at("started")).unwrap();
        let socket = world.at("started/s.sock");
        fs::set_permissions(world.at("started"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        let mut relative = program::command("hooksd", &[("HOME", world.at("home").as_os_str())]);
        relative.args(["--socket", "s.sock", "--config-dir", "../config"]).current_dir(world.at("started"));
        let mut child = relative.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it listens", || std::os::unix::net::UnixStream::connect(&socket).is_ok()).await;
        let mut line = hooksd_tests::harness::Line::connect(&socket).await;
        let status = line.call("daemon/status", json!({})).await.unwrap();
        assert_eq!(status["socket"], socket.to_str().unwrap());
        line.call("daemon/shutdown", json!({})).await.unwrap();
        until("it ends", || child.try_wait().unwrap().is_some()).await;
    });
}

/// Started with closed or odd standard streams, and with a descriptor left open by its parent: handlers get 0, 1, 2.
#[test]
fn it_starts_without_standard_streams() {
    daemon(async |world| {
        world.stop().await;
        world.user(&events::shell("SessionStart", "echo $(ls /proc/self/fd | wc -w) descriptors"));
        let daemon = program::path("hooksd");
        let script = format!(
            "exec '{}' --socket '{}' --config-dir '{}' 7</dev/null 0<&- 1>&- 2>&-",
            daemon.display(),
            world.text_at("run/hooksd.sock"),
            world.text_at("config"),
        );
        let environment = world.environment();
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &script]).env_clear().envs(environment);
        let mut child = command.spawn().unwrap();
        until("it listens", || std::os::unix::net::UnixStream::connect(world.socket()).is_ok()).await;
        let mut agent = world.agent().await;
        let answer = agent.invoke(&events::session_start()).await;
        if cfg!(target_os = "linux") {
            // Its own folder handle is the fourth.
            assert_eq!(answer.context(), ["4 descriptors"]);
        }
        agent.line.call("daemon/shutdown", json!({})).await.unwrap();
        until("it ends", || child.try_wait().unwrap().is_some()).await;
    });
}

/// What is wrong at the start is one clear error, and nothing is left.
#[test]
fn a_start_that_cannot_work_says_why() {
    daemon(async |world| {
        let home = world.at("home");
        let long = format!("/{}", "x".repeat(200));
        let open = world.at("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        world.write("occupied/s.sock", "precious");
        fs::set_permissions(world.at("occupied"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        let [in_open, occupied, other] =
            ["open/s", "occupied/s.sock", "other/s.sock"].map(|name| world.text_at(name));
        type Case<'a> = (&'a [(&'a str, &'a OsStr)], &'a [&'a str], &'a str);
        let cases: [Case<'_>; 6] = [
            (&[], &[], "HOOKSD_SOCKET"),
            (&[("HOME", home.as_os_str()), ("HOOKSD_SOCKET", OsStr::new("relative"))], &[], "relative"),
            (&[("HOME", home.as_os_str())], &["--socket", &long], "201"),
            (&[("HOME", home.as_os_str())], &["--socket", &in_open], "chmod 700"),
            (&[("HOME", home.as_os_str())], &["--socket", &occupied], "is not a socket"),
            (&[], &["--socket", &other], "HOME"),
        ];
        for (environment, arguments, part) in cases {
            let mut command = program::command("hooksd", environment);
            command.args(arguments);
            let done = program::run(command).await;
            assert_eq!((done.status, done.stdout.as_str()), (Some(1), ""), "{arguments:?}");
            assert!(done.stderr.contains(part) && !done.stderr.contains('\u{1b}'), "{}", done.stderr);
        }
        assert_eq!(world.read("occupied/s.sock").unwrap(), "precious");
        let mut command = program::command("hooksd", &[]);
        command.arg("--zzz");
        assert_eq!(program::run(command).await.status, Some(2));
    });
}

/// Two daemons with sockets of their own do not know of each other.
#[test]
fn two_daemons_live_side_by_side() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        beside(Setup { program: true, ..Setup::default() }, async |other| {
            other.agent().await;
        })
        .await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// Nothing holds up the end: not a connected client, not a slow start of one.
#[test]
fn it_ends_promptly() {
    daemon(async |world| {
        let mut agent = world.agent().await;
        let start = Instant::now();
        assert_eq!(world.stop().await, Some(0));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        assert_eq!(agent.line.next_line().await, None);
    });
}
