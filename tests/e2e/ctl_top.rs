//! `hooksctl top`: one look where there is no terminal, a screen where there is one.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use hooksd_tests::harness::{World, daemon, events, processes, until};
use nix::fcntl::{OFlag, open};
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::stat::Mode;
use nix::sys::termios::tcgetattr;
use serde_json::json;

use crate::ctl::{ctl, ctl_json};

#[test]
fn one_look_shows_what_runs_and_what_was_decided() {
    daemon(async |world| {
        let mut agent = world
            .agent_of(&json!({ "hooks": {
                "PreToolUse": [{ "hooks": [{ "type": "command", "command": "exit 2" }] }],
                "Stop": [{ "hooks": [{ "type": "command", "statusMessage": "waiting\u{1b}[2J",
                    "command": "touch \"$W/begun\"; until [ -e \"$W/go\" ]; do sleep 0.02; done" }] }],
            }}))
            .await;
        for _ in 0..3 {
            agent.invoke(&events::pre()).await;
        }
        let mut other = world.agent().await;
        let session = other.session().to_owned();
        let waiting = async {
            world.appears("begun").await;
            let look = ctl_json(world, &["top"]).await;
            let text = ctl(world, &["top"]).await;
            world.write("go", "");
            (look, text)
        };
        let stop = events::stop(0);
        let ((look, text), _) = tokio::join!(waiting, other.invoke(&stop));
        assert_eq!(look["last_minute"], json!({ "events": 3, "denied": 3 }));
        let running = look["running"].as_array().unwrap();
        assert_eq!(running.len(), 1, "{look}");
        assert_eq!(
            (&running[0]["handler"], &running[0]["session"], &running[0]["event"]),
            (&json!("Stop:0:0"), &json!(session), &json!("Stop"))
        );
        assert_eq!(
            (&look["sessions"].as_array().unwrap().len(), &look["sessions"][0]["session"]),
            (&2, &json!(session))
        );
        assert_eq!(look["slowest"][0]["id"], "PreToolUse:0:0");
        assert_eq!((text.status, text.stderr.as_str()), (Some(0), ""));
        for part in [
            "last minute  3 events, 3 denied",
            "Stop:0:0  waiting\\u{1b}[2J",
            "sessions     2 open",
            "1 running",
        ] {
            assert!(text.stdout.contains(part), "{part} is not in {}", text.stdout);
        }
    });
}

/// A `hooksctl top` on a terminal of its own.
struct Terminal {
    child: Child,
    ours: File,
    theirs: OwnedFd,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(world: &World) -> Terminal {
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let ours = posix_openpt(flags).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = open(ptsname_r(&ours).unwrap().as_str(), flags, Mode::empty()).unwrap();
        let mut size = Command::new("stty");
        size.args(["rows", "30", "cols", "60"]).stdin(theirs.try_clone().unwrap());
        assert!(size.status().unwrap().success());
        let mut command = world.ctl(&["top"]);
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let ours = File::from(OwnedFd::from(ours));
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut reader, kept) = (ours.try_clone().unwrap(), shown.clone());
        // Ends with the last descriptor of the other end.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Terminal { child, ours, theirs, shown }
    }

    fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_terminal_is_as_it_was_however_it_ends() {
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        for end in ["q", "\u{3}", "TERM", "INT"] {
            let mut terminal = Terminal::start(world);
            let before = format!("{:?}", tcgetattr(&terminal.theirs).unwrap().local_flags);
            until("it draws", || terminal.shown().contains("SESSIONS")).await;
            let during = format!("{:?}", tcgetattr(&terminal.theirs).unwrap().local_flags);
            assert!(terminal.shown().contains("\u{1b}[?1049h") && before != during, "{}", terminal.shown());
            match end {
                "TERM" => processes::signal(terminal.child.id(), nix::sys::signal::Signal::SIGTERM),
                "INT" => processes::signal(terminal.child.id(), nix::sys::signal::Signal::SIGINT),
                // It shows what happens from now on.
                "q" => {
                    agent.invoke(&events::pre()).await;
                    until("it is drawn anew", || terminal.shown().contains("1 event, 1 denied")).await;
                    terminal.ours.write_all(b"q").unwrap();
                }
                key => terminal.ours.write_all(key.as_bytes()).unwrap(),
            }
            until("it ends", || terminal.child.try_wait().unwrap().is_some()).await;
            assert_eq!(terminal.child.wait().unwrap().code(), Some(0), "{end:?}");
            until("the screen is back", || terminal.shown().ends_with("\u{1b}[?25h\u{1b}[?1049l")).await;
            let after = format!("{:?}", tcgetattr(&terminal.theirs).unwrap().local_flags);
            assert_eq!(after, before, "{end:?}");
            let rows = terminal.shown();
            let last = rows.rsplit("\u{1b}[H").next().unwrap();
            assert!(last.split("\r\n").all(|row| row.chars().count() < 60 + 20), "{last:?}");
        }
    });
}
