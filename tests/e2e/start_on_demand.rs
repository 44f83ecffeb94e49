//! A daemon that is not there is started by the first that needs one: once, whatever the crowd, and without keeping
//! anything of whoever has started it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hooksd_client::asynchronous;
use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{World, daemon, events, processes, until, world};
use nix::sys::signal::Signal;
use serde_json::json;

use crate::ctl::{ctl, ctl_json};

/// A world without a daemon; what a test starts is stopped at the end.
pub(crate) fn nobody(test: impl AsyncFnOnce(&World)) {
    daemon(async |world| {
        world.stop().await;
        fs::write(world.at("daemon.log"), "").unwrap();
        test(world).await;
        ctl(world, &["shutdown"]).await;
        world.nothing_runs().await;
    });
}

pub(crate) fn daemons(world: &World) -> Vec<u32> {
    let marked = processes::marked(&world.mark(), None).into_iter();
    marked.filter(|(_, line)| line.contains("--in-background")).map(|(pid, _)| pid).collect()
}

/// How often a daemon in the background has begun to listen here.
fn starts(world: &World) -> usize {
    let log = world.read("home/.deepagents/.state/hooksd/hooksd.log");
    log.unwrap_or_default().lines().filter(|line| line.contains("listening")).count()
}

async fn crowd(world: &World, count: usize) {
    let mut calls: Vec<Child> =
        (0..count).map(|_| world.ctl(&["--json", "show"]).stdout(Stdio::null()).spawn().unwrap()).collect();
    let mut ended = Vec::new();
    until("all have ended", || {
        calls.retain_mut(|call| match call.try_wait().unwrap() {
            Some(status) => {
                let mut said = String::new();
                std::io::Read::read_to_string(&mut call.stderr.take().unwrap(), &mut said).unwrap();
                ended.push((status.code(), said));
                false
            }
            None => true,
        });
        calls.is_empty()
    })
    .await;
    assert_eq!(ended, vec![(Some(0), String::new()); count]);
}

/// Of fifty first calls at once one starts a daemon; after a kill, fifty more start one more, and nothing stale is in
/// their way.
#[test]
fn b70_of_fifty_first_calls_one_starts_a_daemon() {
    nobody(async |world| {
        crowd(world, 50).await;
        assert_eq!((daemons(world).len(), starts(world)), (1, 1));
        let first = daemons(world)[0];
        processes::signal(first, Signal::SIGKILL);
        until("it is gone", || daemons(world).is_empty()).await;
        assert!(world.socket().exists());
        crowd(world, 50).await;
        assert_eq!((daemons(world).len(), starts(world)), (1, 2));
        assert_ne!(daemons(world)[0], first);
    });
}

/// The daemon leads a session of its own in `/`, with nothing open that its starter had: no pipe keeps `$(...)` waiting.
#[test]
fn the_daemon_keeps_nothing_of_its_starter() {
    nobody(async |world| {
        let ctl = world.ctl(&[]);
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", "exec 7>&1 8<\"$0\"; answer=$(\"$1\" show) && echo \"got $answer\" >&7"]);
        shell.arg(world.at("deny.json")).arg(ctl.get_program()).env_clear().current_dir(world.at("project"));
        shell.envs(ctl.get_envs().filter_map(|(name, value)| Some((name, value?))));
        // A handler of another daemon may be the one that needs it: then it must not go with that handler.
        shell.env("HOOKSD_RUN", "0123").env("HOOKSD_SESSION", "s").env("NOTIFY_SOCKET", "/nowhere");
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // This ends at the end of the output, so only when no process holds it any more.
        let done = program::run(shell).await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        assert!(done.stdout.starts_with("got snapshot "), "{}", done.stdout);
        let pid = daemons(world)[0];
        if cfg!(target_os = "linux") {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap();
            let stat = String::from_utf8(read("stat")).unwrap();
            let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
            assert_eq!(
                (fields[2], fields[3]),
                (pid.to_string().as_str(), pid.to_string().as_str()),
                "group, session"
            );
            let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).unwrap();
            let log = world.at("home/.deepagents/.state/hooksd/hooksd.log");
            let null = std::path::PathBuf::from("/dev/null");
            assert_eq!(
                [link("cwd"), link("fd/0"), link("fd/1"), link("fd/2")],
                ["/".into(), null.clone(), null, log]
            );
            let open: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten().collect();
            let open = open.iter().filter_map(|entry| fs::read_link(entry.path()).ok());
            assert!(open.into_iter().all(|file| file != world.at("deny.json")));
            let environment = String::from_utf8(read("environ")).unwrap();
            for name in ["HOOKSD_RUN=", "HOOKSD_SESSION=", "NOTIFY_SOCKET="] {
                assert!(!environment.split('\0').any(|pair| pair.starts_with(name)), "{name}");
            }
        }
        let log = fs::metadata(world.at("home/.deepagents/.state/hooksd/hooksd.log")).unwrap();
        assert_eq!(log.permissions().mode() & 0o7777, 0o600);
    });
}

/// Questions about the daemon's life do not begin it, and nobody starts it where that is forbidden.
#[test]
fn status_and_shutdown_start_nothing() {
    nobody(async |world| {
        for command in ["status", "shutdown"] {
            assert_eq!(ctl(world, &[command]).await.status, Some(3));
        }
        let mut forbidden = world.ctl(&["show"]);
        forbidden.env("HOOKSD_AUTOSTART", "0");
        let done = program::run(forbidden).await;
        assert_eq!(done.status, Some(3));
        assert!(done.stderr.contains("start it with `hooksd`"), "{}", done.stderr);
        assert_eq!(starts(world), 0);
    });
}

async fn fails(world: &World, socket: &str, variables: &[(&str, &str)], parts: &[&str]) {
    let mut command = world.ctl(&["show"]);
    command.env("HOOKSD_SOCKET", world.at(socket)).envs(variables.iter().copied());
    let Done { status, stdout, stderr } = program::run(command).await;
    assert_eq!((status, stdout.as_str()), (Some(3), ""), "{stderr}");
    for part in parts.iter().chain([&"none could be started", &world.text_at(socket).as_str()]) {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

/// Why a daemon does not start reaches the one who asked for it, at once, and nothing is touched or left.
#[test]
fn why_it_does_not_start_is_told() {
    nobody(async |world| {
        let begun = Instant::now();
        world.write("open/x", "");
        fs::set_permissions(world.at("open"), fs::Permissions::from_mode(0o777)).unwrap();
        fails(world, "open/s.sock", &[], &["can be written by others (mode 777)", "chmod 700"]).await;
        world.write("shut/s.sock", "precious");
        fs::set_permissions(world.at("shut"), fs::Permissions::from_mode(0o700)).unwrap();
        fails(world, "shut/s.sock", &[], &["is not a socket", "left untouched"]).await;
        assert_eq!(world.read("shut/s.sock").unwrap(), "precious");
        assert!(
            begun.elapsed() < Duration::from_secs(15),
            "nobody waits for a deadline: {:?}",
            begun.elapsed()
        );
    });
}

/// The program is the one beside the one that runs, else the one named, else the one on the path.
#[test]
fn the_daemons_program_is_found_or_named() {
    nobody(async |world| {
        let lonely = world.at("lonely/hooksctl");
        fs::create_dir(world.at("lonely")).unwrap();
        // By a program of its own: a copy made here could be open for writing in a child of another test.
        let mut copy = std::process::Command::new("/bin/cp");
        assert!(copy.arg(program::path("hooksctl")).arg(&lonely).status().unwrap().success());
        let run = async |variables: &[(&str, &str)]| {
            let plain = world.ctl(&[]);
            let mut command = std::process::Command::new(&lonely);
            command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.env("PATH", "/nowhere").envs(variables.iter().copied()).arg("show");
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.current_dir(world.at("project"));
            program::run(command).await
        };
        for (variables, part) in [
            (&[][..], "install it, or set HOOKSD_BIN"),
            (&[("HOOKSD_BIN", "hooksd")], "HOOKSD_BIN names no program by its absolute path: hooksd"),
            (&[("HOOKSD_BIN", "/bin/false")], "/bin/false ended before it listened (exit status: 1)"),
        ] {
            let done = run(variables).await;
            assert_eq!(done.status, Some(3));
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
        let hooksd = program::path("hooksd");
        let folder = hooksd.parent().unwrap().to_str().unwrap();
        for variables in [("HOOKSD_BIN", hooksd.to_str().unwrap()), ("PATH", folder)] {
            let done = run(&[variables]).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
            ctl(world, &["shutdown"]).await;
            world.nothing_runs().await;
        }
    });
}

/// While the daemon before it drains, the next one waits for its end: never two at once, and no failure either.
#[test]
fn the_next_one_waits_for_the_drain_of_the_one_before() {
    daemon(async |world| {
        let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2";
        let mut agent = world.agent_of(&events::shell("PreToolUse", wait)).await;
        let id = agent.start(&events::pre()).await;
        world.appears("runs").await;
        world.tell_to_stop();
        until("it is stopping", || std::os::unix::net::UnixStream::connect(world.socket()).is_err()).await;
        let mut call = world.ctl(&["--json", "show"]).stdout(Stdio::null()).spawn().unwrap();
        until("the next one is there", || !daemons(world).is_empty()).await;
        assert_eq!(call.try_wait().unwrap(), None, "it waits");
        world.write("go", "");
        assert_eq!(agent.answer(id).await.behavior(), "deny");
        assert_eq!(world.ended().await, Some(0));
        until("the call is answered", || call.try_wait().unwrap().is_some()).await;
        assert_eq!(call.wait().unwrap().code(), Some(0));
        let status = ctl_json(world, &["status"]).await;
        assert_eq!(status["pid"], daemons(world)[0]);
        ctl(world, &["shutdown"]).await;
        world.nothing_runs().await;
    });
}

/// Where systemd owns the socket, it is asked, and nobody else starts anything: not even when it fails.
#[test]
fn a_service_manager_that_owns_the_socket_is_asked() {
    nobody(async |world| {
        let socket = world.text_at("run/hooksd.sock");
        fs::create_dir_all(world.at("runtime/systemd/private")).unwrap();
        world.write("home/.config/systemd/user/hooksd.socket", "[Socket]\n");
        let hooksd = program::path("hooksd");
        let fake = |listens: &str, state: &str, start: &str| {
            let script = format!(
                "#!/bin/sh\necho \"$*\" >> $W/asked\ncase $2 in show) echo 'Listen={listens} (Stream)'; echo \
                 ActiveState={state}; echo UnitFileState=disabled;; start) {start};; esac\n"
            );
            world.script("bin/systemctl", &script, 0o755);
        };
        let run = async || {
            let mut command = world.ctl(&["show"]);
            command.env("PATH", format!("{}:/usr/bin:/bin", world.text_at("bin")));
            command.env("XDG_RUNTIME_DIR", world.at("runtime"));
            program::run(command).await
        };
        let asked = || fs::read_to_string(world.at("asked")).unwrap_or_default();
        let start = format!(
            "env -u HOOKSD_SOCKET '{}' --background --socket '{socket}' </dev/null 2>&1",
            hooksd.display()
        );
        fake(&socket, "active", &start);
        let done = run().await;
        assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
        let question = "--user show --property=ActiveState,UnitFileState,Listen hooksd.socket\n";
        assert_eq!(asked(), format!("{question}--user start hooksd.socket\n"));
        // Somebody answers: nobody is asked.
        assert_eq!(run().await.status, Some(0));
        assert_eq!(asked().lines().count(), 2);
        ctl(world, &["shutdown"]).await;
        world.nothing_runs().await;

        let before = starts(world);
        fake(&socket, "active", "echo 'no such luck' >&2; exit 1");
        let done = run().await;
        assert_eq!(done.status, Some(3));
        assert!(
            done.stderr.contains("systemd owns the socket and does not listen: no such luck"),
            "{}",
            done.stderr
        );
        assert_eq!((starts(world), daemons(world)), (before, vec![]));

        // A unit for another socket, or one that nobody has switched on, owns nothing here.
        for (listens, state) in [("/elsewhere.sock", "active"), (socket.as_str(), "inactive")] {
            fake(listens, state, "touch $W/wrong");
            assert_eq!(run().await.status, Some(0));
            ctl(world, &["shutdown"]).await;
            world.nothing_runs().await;
        }
        assert!(!world.at("wrong").exists());
    });
}

/// The async client does the same; here it finds a daemon.
#[test]
fn the_async_client_connects_to_what_is_there() {
    world(async |world| {
        let deadline = Instant::now() + Duration::from_secs(5);
        let client = asynchronous::Client::connect_or_start(&world.socket(), deadline).await.unwrap();
        let listed: serde_json::Value = client.call("session/list", &json!({})).await.unwrap();
        assert_eq!(listed, json!({ "sessions": [] }));
    });
}

/// A daemon that was started on demand leaves when nobody needs it: not while a client is connected or a handler runs.
#[test]
fn it_leaves_when_nobody_needs_it() {
    nobody(async |world| {
        let command = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; touch $W/done";
        world.write("home/.deepagents/hooks.json", events::shell("SessionEnd", command).to_string());
        let mut first = world.ctl(&["show"]);
        first.env("HOOKSD_IDLE_EXIT_SECONDS", "1");
        assert_eq!(program::run(first).await.status, Some(0));
        let mut agent = world.agent().await;
        let opened = Instant::now();
        until("longer than it may be idle", || opened.elapsed() > Duration::from_millis(1500)).await;
        assert_eq!(daemons(world).len(), 1, "a client is connected");
        agent.start(&events::session_end()).await;
        world.appears("runs").await;
        drop(agent);
        let gone = Instant::now();
        until("longer than it may be idle", || gone.elapsed() > Duration::from_millis(1500)).await;
        assert_eq!(daemons(world).len(), 1, "a handler runs");
        world.write("go", "");
        until("it leaves", || daemons(world).is_empty()).await;
        assert!(world.at("done").exists() && !world.socket().exists());
    });
}
