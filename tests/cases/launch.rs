//! Kind 8: launch environment: folder, shell, descriptors, signals.

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use hooksd_tests::harness::{Line, Setup, daemon, decision, deny, events, until, world, world_with};
use serde_json::json;

fn denied() -> serde_json::Value {
    deny("Hook blocked the operation")
}

/// The daemon's own folder may go as well: it does not live there.
#[test]
fn b48_the_daemons_own_folder_may_go() {
    daemon(async |world| {
        world.stop().await;
        fs::create_dir(world.at("own")).unwrap();
        let mut command = world.daemon_command();
        let mut child =
            command.current_dir(world.at("own")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it listens", || UnixStream::connect(world.socket()).is_ok()).await;
        fs::remove_dir(world.at("own")).unwrap();
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        let expected = json!({ "permission": denied() });
        assert_eq!(agent.invoke(&events::pre()).await.decision(), decision("PreToolUse", expected));
        agent.line.call("daemon/shutdown", json!({})).await.unwrap();
        until("it ends", || child.try_wait().unwrap().is_some()).await;
    });
}

/// `/bin/sh -c`, never `$SHELL`; a line break separates commands; an interpreter that is missing is exit 127.
#[test]
fn b49_the_shell_is_bin_sh() {
    let shell = ("SHELL".to_owned(), "/usr/bin/fish".to_owned());
    world_with(Setup { environment: vec![shell], ..Setup::default() }, async |world| {
        for command in ["x=1; [ $x = 1 ] && exit 2", "true\nexit 2"] {
            let answer =
                world.agent_of(&events::shell("PreToolUse", command)).await.invoke(&events::pre()).await;
            assert_eq!(
                answer.decision(),
                decision("PreToolUse", json!({ "permission": denied() })),
                "{command:?}"
            );
        }
        let script = world.script("guard.sh", "#!/nonexistent/bash\nexit 2\n", 0o755);
        let answer = world.agent_of(&events::shell("PreToolUse", &script)).await.invoke(&events::pre()).await;
        assert_eq!(answer.handlers(), ["PreToolUse:0:0 failed exit 127"]);
        assert_eq!(
            answer.decision(),
            decision("PreToolUse", json!({ "diagnostics": ["nonzero_exit PreToolUse:0:0"] }))
        );
    });
}

/// A script that was saved a moment ago is busy for a moment, and is tried again.
#[test]
fn b53_a_script_saved_a_moment_ago_is_tried_again() {
    world(async |world| {
        let mut busy = Vec::new();
        for _ in 0..8 {
            let mut agent = world.agent_of(&events::shell("PreToolUse", "true")).await;
            for _ in 0..2 {
                agent.start(&events::pre()).await;
            }
            busy.push(agent);
        }
        let script = world.text_at("h.sh");
        let mut agent = world.agent_of(&events::program("PreToolUse", &[&script])).await;
        let expected = decision("PreToolUse", json!({ "permission": denied() }));
        for _ in 0..100 {
            world.script("h.sh", "#!/bin/sh\nexit 2\n", 0o755);
            let id = agent.start(&events::pre()).await;
            for other in &mut busy {
                other.start(&events::pre()).await;
            }
            assert_eq!(agent.answer(id).await.decision(), expected);
        }
    });
}

/// The same for certain: the file is still open for writing when the event comes, and closed a moment later. One that
/// stays open cannot run, and is said to be busy.
#[test]
fn b53_a_script_that_is_still_open_is_waited_for() {
    if !cfg!(target_os = "linux") {
        return;
    }
    world(async |world| {
        let script = world.script("h.sh", "#!/bin/sh\nexit 2\n", 0o755);
        let mut agent = world.agent_of(&events::program("PreToolUse", &[&script])).await;
        let open = fs::OpenOptions::new().append(true).open(&script).unwrap();
        let id = agent.start(&events::pre()).await;
        // Long enough for a first attempt, shorter than all of them.
        tokio::time::sleep(Duration::from_millis(60)).await;
        drop(open);
        let expected = json!({ "permission": denied() });
        assert_eq!(agent.answer(id).await.decision(), decision("PreToolUse", expected));

        let _open = fs::OpenOptions::new().append(true).open(&script).unwrap();
        let answer = agent.invoke(&events::pre()).await;
        let expected = json!({ "diagnostics": ["launch_failed PreToolUse:0:0"] });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
        assert!(answer.message("launch_failed").contains("text file busy"));
    });
}

/// Handlers get descriptors 0, 1 and 2 and nothing of the daemon's; after a kill of the daemon a new one binds at once,
/// and clients see the end, although a helper lives on.
#[test]
fn b54_no_descriptor_of_the_daemon_reaches_a_handler() {
    daemon(async |world| {
        let command = "echo $(ls /proc/self/fd | wc -w) descriptors; sleep 60 >/dev/null 2>&1 </dev/null &";
        let mut agent = world.agent_of(&events::shell("SessionStart", command)).await;
        let mut others = Vec::new();
        for _ in 0..20 {
            others.push(world.connect().await);
        }
        let answer = agent.invoke(&events::session_start()).await;
        if cfg!(target_os = "linux") {
            // The fourth is that of `ls` itself.
            assert_eq!(answer.context(), ["4 descriptors"]);
            assert_eq!(world.alive(), ["sleep 60"]);
        }
        world.kill().await;
        for mut line in others {
            assert_eq!(line.next_line().await, None);
        }
        world.start().await;
        Line::connect(&world.socket()).await.call("daemon/status", json!({})).await.unwrap();
        world.kill_helpers();
    });
}

/// Handlers start with clean signals, without a terminal, in a session of their own.
#[test]
fn b55_signals_are_clean_and_there_is_no_terminal() {
    if !cfg!(target_os = "linux") {
        return;
    }
    daemon(async |world| {
        let command = r#"grep -E 'Sig(Ign|Blk)' /proc/self/status; yes | head -1; tty; cat < /dev/tty || echo none
            set -- $(cat /proc/$$/stat); echo $(($1 == $5)) $(($1 == $6))"#;
        let answer = world
            .agent_of(&events::shell("SessionStart", command))
            .await
            .invoke(&events::session_start())
            .await;
        let expected = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\ny\nnot a tty\nnone\n1 1";
        assert_eq!(answer.context(), [expected]);
        assert_eq!(answer.handlers(), ["SessionStart:0:0 ok exit 0"]);
    });
}
