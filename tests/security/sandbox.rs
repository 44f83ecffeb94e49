//! An agent inside a sandbox, and handlers that are not. SECURITY.md says what this means; here is that it is so.

use std::process::Command;

use hooksd_tests::harness::{daemon, events, program};

use crate::ctl;

fn may_make_namespaces() -> bool {
    let works = Command::new("unshare").args(["-U", "-r", "-n", "true"]).output();
    let works = works.is_ok_and(|done| done.status.success());
    if !works {
        println!("not run: no user namespace can be made here");
    }
    works
}

/// Handlers run where the daemon runs: a sandbox around the agent is none around them, and whoever can reach the socket
/// from inside can have run what the user can run. A sandbox that must hold keeps the socket out.
#[test]
fn handlers_run_outside_of_the_agents_sandbox() {
    if !may_make_namespaces() {
        return;
    }
    daemon(async |world| {
        let handler = "readlink /proc/self/ns/net >$W/handlers; readlink /proc/self/ns/user >>$W/handlers";
        world.user(&events::shell("SessionStart", handler));
        let event = world.write("event.json", events::session_start().to_string());
        let invoke = ctl(world, &["invoke", event.to_str().unwrap()]);
        let mut boxed = Command::new("unshare");
        let line = "readlink /proc/self/ns/net >$W/agents; exec \"$0\" \"$@\"";
        boxed
            .args(["-U", "-r", "-n", "/bin/sh", "-c", line])
            .arg(invoke.get_program())
            .args(invoke.get_args());
        boxed.env_clear().envs(invoke.get_envs().filter_map(|(name, value)| Some((name, value?))));
        boxed.current_dir(world.at("project"));
        let done = program::run({
            boxed.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            boxed
        })
        .await;
        assert_eq!(done.status, Some(0), "{done:?}");
        let own = |name: &str| std::fs::read_link(format!("/proc/{}/ns/{name}", world.pid())).unwrap();
        let daemons = format!("{}\n{}\n", own("net").display(), own("user").display());
        assert_eq!(world.read("handlers"), Some(daemons));
        assert!(!world.read("handlers").unwrap().contains(world.read("agents").unwrap().trim()));
    });
}
