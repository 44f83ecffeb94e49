//! `install`, `uninstall`.

use crate::transcript::transcript;

#[test]
fn install() {
    transcript("install", async |page| {
        page.world.write("home/.claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
        page.both(&["install", "claude-code", "--dry-run"]).await;
        page.both(&["install", "claude-code"]).await;
        page.both(&["uninstall", "claude-code", "--dry-run"]).await;
        page.both(&["uninstall", "claude-code"]).await;
        page.run(&["install", "claude-code", "--project"]).await;
        page.run(&["install", "nobody"]).await;
        page.run(&["install"]).await;
        page.world.write("home/.claude/settings.json", "{ broken");
        page.both(&["install", "claude-code"]).await;
    });
}
