//! The daemon's life: `shutdown`, `restart`, `service`, and every command without a daemon.

use crate::transcript::{denied, transcript};

#[test]
fn shutdown() {
    transcript("shutdown", async |page| {
        page.run(&["shutdown"]).await;
        page.world.ended().await;
        page.both(&["shutdown"]).await;
        page.world.start().await;
        page.run(&["shutdown", "--drain", "1", "--json"]).await;
        page.world.ended().await;
        page.world.start().await;
    });
}

#[test]
fn restart() {
    transcript("restart", async |page| {
        page.run(&["restart"]).await;
        page.world.ended().await;
        page.run(&["restart", "--json"]).await;
        page.run(&["shutdown"]).await;
        page.world.nothing_runs().await;
        page.say("Where none runs.");
        page.run(&["restart"]).await;
        page.run(&["shutdown"]).await;
        page.world.nothing_runs().await;
        page.world.start().await;
    });
}

#[test]
fn service() {
    transcript("service", async |page| {
        for more in [
            &["status"][..],
            &["install", "--dry-run"],
            &["install"],
            &["status"],
            &["uninstall", "--dry-run"],
            &["uninstall"],
            &["install", "--dry-run", "--manager", "launchd"],
        ] {
            page.both(&[&["service"], more].concat()).await;
        }
        page.run(&["service"]).await;
    });
}

/// Nobody answers, and nobody is to be started.
#[test]
fn no_daemon() {
    transcript("no_daemon", async |page| {
        page.world.stop().await;
        for command in ["status", "sessions", "reload", "stats", "top", "tail", "shutdown"] {
            page.both(&[command]).await;
        }
        page.both(&["kill", "3f2a"]).await;
        let alone = [("HOOKSD_AUTOSTART", "0")];
        page.both_with(&["show"], &alone, "").await;
        page.both_with(&["invoke"], &alone, &denied().to_string()).await;
        page.run(&["--socket", "relative.sock", "status"]).await;
        page.world.start().await;
    });
}
