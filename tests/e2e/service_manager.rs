//! Under a service manager: the socket it passes, and what it is told.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hooksd_tests::harness::{World, daemon, events, processes, program, until};
use nix::sys::signal::Signal;

use crate::ctl::{ctl, ctl_json};

/// A daemon under a service manager that listens to what it is told; stopped at the end, with its words.
async fn told(world: &World, variables: &[(&str, &str)], test: impl AsyncFnOnce(&UnixDatagram, u32)) {
    let ear = UnixDatagram::bind(world.at("notify")).unwrap();
    ear.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut command = world.daemon_command();
    command.env("NOTIFY_SOCKET", world.at("notify")).envs(variables.iter().copied());
    let log = fs::File::create(world.at("daemon.log")).unwrap();
    let mut child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
    assert_eq!(hear(&ear), "READY=1\n");
    assert!(UnixStream::connect(world.socket()).is_ok(), "ready is when it listens");
    test(&ear, child.id()).await;
    until("it ends", || child.try_wait().unwrap().is_some()).await;
    assert_eq!(child.wait().unwrap().code(), Some(0));
    fs::remove_file(world.at("notify")).unwrap();
}

fn hear(ear: &UnixDatagram) -> String {
    let mut words = [0; 4096];
    let length = loop {
        match ear.recv(&mut words) {
            // A child of this process has changed its state.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            heard => break heard.unwrap(),
        }
    };
    String::from_utf8(words[..length].to_vec()).unwrap()
}

#[test]
fn it_is_told_of_start_reload_and_stop() {
    daemon(async |world| {
        world.stop().await;
        told(world, &[], async |ear, pid| {
            let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
            processes::signal(pid, Signal::SIGHUP);
            let reloading = hear(ear);
            let time =
                reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect("the time of the reload");
            assert!(time.trim().parse::<u64>().unwrap() > 0);
            assert_eq!(hear(ear), "READY=1\n");
            assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
            processes::signal(pid, Signal::SIGTERM);
            assert_eq!(hear(ear), "STOPPING=1\n");
        })
        .await;
    });
}

/// HUP has documents looked at that nothing was heard of.
#[test]
fn a_reload_reads_what_has_changed() {
    daemon(async |world| {
        let mut agent = world.agent_with(serde_json::json!({ "follow": true })).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "none");
        world.user(&events::shell("PreToolUse", "exit 2"));
        processes::signal(world.pid(), Signal::SIGHUP);
        until("it has reloaded", || world.read("daemon.log").unwrap().contains("looked at all documents"))
            .await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
    });
}

/// The accept loop says that it lives, in time, also while it drains; a daemon that is stopped says nothing.
#[test]
fn the_watchdog_hears_the_accept_loop() {
    daemon(async |world| {
        world.stop().await;
        told(world, &[("WATCHDOG_USEC", "200000")], async |ear, pid| {
            for _ in 0..3 {
                assert_eq!(hear(ear), "WATCHDOG=1\n");
            }
            processes::signal(pid, Signal::SIGSTOP);
            ear.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            let mut words = [0; 64];
            let silent = |heard: std::io::Result<usize>| {
                heard.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock)
            };
            while !silent(ear.recv(&mut words)) {}
            processes::signal(pid, Signal::SIGCONT);
            ear.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            assert_eq!(hear(ear), "WATCHDOG=1\n");

            let wait = "touch $W/runs; until [ -e $W/go ]; do sleep 0.02; done; exit 2";
            let mut agent = world.agent_of(&events::shell("PreToolUse", wait)).await;
            let id = agent.start(&events::pre()).await;
            world.appears("runs").await;
            processes::signal(pid, Signal::SIGTERM);
            while hear(ear) != "STOPPING=1\n" {}
            for _ in 0..3 {
                assert_eq!(hear(ear), "WATCHDOG=1\n");
            }
            world.write("go", "");
            assert_eq!(agent.answer(id).await.behavior(), "deny");
        })
        .await;
    });
}

/// systemd's own tool passes the socket; the first question starts the daemon, which serves that socket and leaves it.
#[test]
fn a_passed_socket_is_served_and_left() {
    let activate = Path::new("/usr/bin/systemd-socket-activate");
    if !activate.exists() {
        println!("skipped: {} is not there", activate.display());
        return;
    }
    daemon(async |world| {
        world.stop().await;
        let socket = world.text_at("run/hooksd.sock");
        let mut command = Command::new(activate);
        // It passes on what it is told to, and nothing else of its environment.
        for (name, value) in world.environment() {
            command.arg("-E").arg(format!("{name}={value}"));
        }
        command.args(["-l", &socket]).arg(program::path("hooksd")).env_clear();
        let log = fs::File::create(world.at("daemon.log")).unwrap();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        until("the socket is there", || world.socket().exists()).await;
        let status = ctl_json(world, &["status"]).await;
        assert_eq!((&status["pid"], &status["socket"]), (&child.id().into(), &socket.as_str().into()));
        let settings = ctl_json(world, &["show", "--settings"]).await;
        assert_eq!(settings["settings"][0]["origin"], "service manager");
        world.write("home/.deepagents/hooks.json", events::shell("PreToolUse", "env; exit 2").to_string());
        let mut agent = world.agent().await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        drop(agent);
        // A second daemon leaves it alone.
        let done = program::run(world.daemon_command()).await;
        assert_eq!(done.status, Some(3), "{}", done.stderr);
        assert_eq!(ctl(world, &["shutdown"]).await.status, Some(0));
        until("it ends", || child.try_wait().unwrap().is_some()).await;
        assert!(world.socket().exists(), "the service manager's file");
        fs::remove_file(world.socket()).unwrap();
    });
}
