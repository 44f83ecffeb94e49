//! `trust` and what is below it.

use hooksd_tests::harness::events;

use crate::transcript::transcript;

#[test]
fn trust() {
    transcript("trust", async |page| {
        page.both(&["trust"]).await;
        page.both(&["trust", "list"]).await;
        page.both(&["trust", "status"]).await;
        page.both(&["trust", "grant", "--yes"]).await;
        page.project(&events::shell("PreToolUse", "exit 2"));
        page.both(&["trust", "status"]).await;
        page.both(&["trust", "grant"]).await;
        page.run(&["trust", "grant", "--fingerprint", "00"]).await;
        page.both(&["trust", "grant", "--yes"]).await;
        page.both(&["trust"]).await;
        page.both(&["trust", "list"]).await;
        page.say("After an edit.");
        page.project(&events::shell("PreToolUse", "exit 3"));
        page.both(&["trust", "status"]).await;
        page.both(&["trust", "revoke"]).await;
        page.world.write("config/.state/hooks_trust.json", "{ broken");
        page.both(&["trust", "list"]).await;
        page.run(&["trust", "revoke"]).await;
    });
}
