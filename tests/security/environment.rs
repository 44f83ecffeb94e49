//! A hostile `.env` in a project whose hooks.json is trusted: trust is for the bytes of that document, so the file beside
//! it must not decide what they run.

use hooksd_tests::harness::{events, world};
use serde_json::json;

/// How programs that handlers really use are made to run something else, by a variable alone.
const INJECTIONS: [&str; 32] = [
    "PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_COUNT",
    "GIT_EXEC_PATH",
    "PYTHONPATH",
    "PYTHONWARNINGS",
    "PYTHONBREAKPOINT",
    "PYTHONUSERBASE",
    "NODE_OPTIONS",
    "NPM_CONFIG_SCRIPT_SHELL",
    "PERL5DB",
    "PERL5LIB",
    "RUBYOPT",
    "BUNDLE_GEMFILE",
    "JAVA_TOOL_OPTIONS",
    "DOTNET_STARTUP_HOOKS",
    "LUA_INIT",
    "GCONV_PATH",
    "OPENSSL_CONF",
    "XDG_CONFIG_HOME",
    "BROWSER",
    "PAGER",
    "RUSTC_WRAPPER",
];

#[test]
fn a_projects_env_file_runs_nothing_of_its_own() {
    world(async |world| {
        world.project(&events::shell("SessionStart", "env; git --version >&2; python3 -c pass; true"));
        let trap = world.script("project/trap", "#!/bin/sh\ntouch \"$W/pwn\"\n", 0o755);
        let mut lines: Vec<String> = INJECTIONS.iter().map(|name| format!("{name}={trap}")).collect();
        lines.extend(
            ["HOOKSD_DEPTH=0", "HOOKSD_SOCKET=/tmp/x", "DEEPAGENTS_CODE_PATH=/tmp/x", "HARMLESS=planted"]
                .map(str::to_owned),
        );
        world.write("project/.env", lines.join("\n"));
        let params =
            json!({ "trust": "explicit", "env": { "PATH": "/usr/bin:/bin", "W": world.text_at("") } });
        let context =
            world.agent_with(params).await.invoke(&events::session_start()).await.context().join("\n");
        let given: Vec<&str> =
            context.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
        assert!(given.contains(&"HARMLESS"), "the file is read: {context}");
        for name in INJECTIONS {
            let is_session = name == "PATH" && context.contains("PATH=/usr/bin:/bin");
            assert!(is_session || !given.contains(&name), "{name} came from the project's .env");
        }
        assert!(!context.contains("/tmp/x") && !world.at("pwn").exists(), "{context}");
    });
}
