//! `hooksctl install`, `uninstall` and `agents` with configurations as people have them (tests/install): other keys and
//! hooks, comments, tabs, CRLF, a byte order mark, no line end at the end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hooksd_tests::harness::{World, events, program, world};
use serde_json::{Value, json};

use crate::ctl::{ctl, ctl_json};

/// Every agent with a document in tests/install, where it is, and how many events it has.
const AGENTS: [(&str, &[&str], usize); 12] = [
    ("claude-code", &["home/.claude/settings.json"], 12),
    ("codex", &["home/.codex/hooks.json"], 10),
    ("gemini-cli", &["home/.gemini/settings.json"], 8),
    ("cursor", &["home/.cursor/hooks.json"], 12),
    ("copilot-cli", &["home/.copilot/hooks/hooksd.json"], 12),
    ("vscode", &["project/.github/hooks/hooksd.json"], 8),
    ("qwen-code", &["home/.qwen/settings.json"], 12),
    ("droid", &["home/.factory/settings.json"], 9),
    ("kiro-cli", &["home/.kiro/agents/default.json", "home/.kiro/agents/reviewer.json"], 5),
    ("kiro-ide", &["project/.kiro/hooks/hooksd.json"], 6),
    ("goose", &["home/.agents/plugins/hooksd/hooks/hooks.json"], 7),
    ("kimi", &["home/.kimi-code/config.toml"], 11),
];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("install").join(name)
}

/// All files below a folder, with their bytes, without what the daemon keeps for itself.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.ends_with("config/.state")));
            } else if path.is_file() {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// What people see; our backups are beside it.
fn visible(world: &World) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = tree(&world.at(""));
    all.retain(|(path, _)| !path.to_string_lossy().contains(".hooksd-") && !path.starts_with("run"));
    all
}

/// A home and a project as people have them.
fn settle(world: &World) {
    for (path, bytes) in tree(&source("")) {
        world.write(path.to_str().unwrap(), bytes);
    }
}

fn scope(documents: &[&str]) -> &'static str {
    if documents[0].starts_with("project") { "--project" } else { "--user" }
}

fn is_part(short: &[u8], long: &[u8]) -> bool {
    let mut long = long.iter();
    short.iter().all(|byte| long.any(|other| other == byte))
}

#[test]
fn every_agent_is_installed_and_uninstalled_without_a_trace() {
    world(async |world| {
        settle(world);
        let before = visible(world);
        for (agent, documents, events) in AGENTS {
            let scope = scope(documents);
            let dry = ctl(world, &["install", agent, scope, "--dry-run"]).await;
            assert_eq!((dry.status, dry.stderr.as_str()), (Some(0), ""), "{agent}");
            assert!(
                dry.stdout.contains("\n@@ ") && dry.stdout.contains(" would be updated\n"),
                "{}",
                dry.stdout
            );
            assert_eq!(visible(world), before, "{agent}: a dry run has changed something");

            let report = ctl_json(world, &["install", agent, scope]).await;
            let files = report["agents"][0]["files"].as_array().unwrap();
            assert_eq!(report["agents"][0]["error"], Value::Null, "{agent}");
            for document in documents {
                let file = files.iter().find(|file| file["path"] == world.text_at(document)).unwrap();
                assert_eq!(file["action"], "updated", "{agent}");
                let backup = fs::read(file["backup"].as_str().unwrap()).unwrap();
                let old = fs::read(source(document)).unwrap();
                let new = fs::read(world.at(document)).unwrap();
                assert_eq!(backup, old, "{agent}");
                assert!(
                    is_part(&old, &new),
                    "{agent}: something else was changed\n{}",
                    String::from_utf8_lossy(&new)
                );
                let crlf = |bytes: &[u8]| bytes.windows(2).filter(|two| *two == b"\r\n").count();
                let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
                assert!(
                    crlf(&old) == 0 && crlf(&new) == 0 || crlf(&new) == lines(&new),
                    "{agent}: line ends are mixed"
                );
            }
            let listed = ctl_json(world, &["agents"]).await;
            let listed =
                listed["agents"].as_array().unwrap().iter().find(|listed| listed["name"] == agent).unwrap();
            let installed = listed["installed"].as_array().unwrap();
            assert_eq!(installed.len(), documents.len(), "{agent}: {installed:?}");
            for one in installed {
                let entries = one["entries"].as_array().unwrap();
                assert_eq!((entries.len(), &one["missing"]), (events, &json!([])), "{agent}");
                assert!(entries.iter().all(|entry| entry["calls"] == "this"), "{agent}");
            }

            let installed = visible(world);
            let again = ctl_json(world, &["install", agent, scope]).await;
            let files = again["agents"][0]["files"].as_array().unwrap();
            assert!(
                files.iter().all(|file| file["action"] == "unchanged" && file["backup"].is_null()),
                "{again}"
            );
            assert_eq!(visible(world), installed, "{agent}: a second installation has changed something");

            let report = ctl_json(world, &["uninstall", agent, scope]).await;
            assert_eq!(report["agents"][0]["error"], Value::Null, "{agent}");
            assert_eq!(visible(world), before, "{agent}: something is left, or missing");
        }
    });
}

/// The same when the files are edited in between: nothing is known by heart, ours goes and the edit stays.
#[test]
fn an_edit_after_the_installation_stays() {
    world(async |world| {
        settle(world);
        for (agent, documents, _) in AGENTS {
            assert_eq!(ctl(world, &["install", agent, scope(documents)]).await.status, Some(0));
            let edit = |text: String| match text.find('{').filter(|_| !documents[0].ends_with("toml")) {
                Some(at) => format!("{}{{ \"later\": \"edited\",{}", &text[..at], &text[at + 1..]),
                None => format!("later = \"edited\"\n{text}"),
            };
            for document in documents {
                let text = fs::read_to_string(world.at(document)).unwrap();
                fs::write(world.at(document), edit(text)).unwrap();
            }
            assert_eq!(ctl(world, &["uninstall", agent, scope(documents)]).await.status, Some(0));
            for document in documents {
                let expected = edit(fs::read_to_string(source(document)).unwrap());
                assert_eq!(world.read(document).unwrap(), expected, "{agent}");
            }
        }
    });
}

#[test]
fn what_was_made_goes_as_a_whole() {
    world(async |world| {
        for agent in ["claude", "codex", "gemini", "cursor", "copilot", "qwen", "droid", "goose", "kimi"] {
            let made = ctl_json(world, &["install", agent]).await;
            let files = made["agents"][0]["files"].as_array().unwrap();
            assert!(files.iter().all(|file| file["action"] == "created"), "{made}");
            for file in files {
                let mode = fs::metadata(file["path"].as_str().unwrap()).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{file}");
            }
            assert_eq!(ctl(world, &["uninstall", agent]).await.status, Some(0));
        }
        assert_eq!(tree(&world.at("home")), []);
        assert!(!world.at("home/.agents/plugins/hooksd").exists());
        let nothing = ctl(world, &["uninstall", "claude"]).await;
        assert_eq!(nothing.stdout, "claude-code: nothing of ours is there\n");
    });
}

#[test]
fn what_cannot_be_understood_is_left_alone_and_keeps_nobody_else() {
    world(async |world| {
        let path = world.write("home/.claude/settings.json", "{\n  \"hooks\": {,}\n}\n");
        world.write("home/.codex/config.toml", "a = \n");
        let before = tree(&world.at("home"));
        let done = ctl(world, &["install", "claude-code", "codex", "qwen-code"]).await;
        assert_eq!(done.status, Some(6));
        let path = path.display();
        let claude = format!(
            "error: claude-code: {path} cannot be understood, so it was left as it is: line 2, column 13: "
        );
        assert!(done.stderr.starts_with(&claude), "{}", done.stderr);
        assert!(
            done.stderr.contains("config.toml") && done.stderr.contains("line 1, column"),
            "{}",
            done.stderr
        );
        assert!(world.at("home/.qwen/settings.json").exists());
        fs::remove_file(world.at("home/.qwen/settings.json")).unwrap();
        assert_eq!(
            tree(&world.at("home")),
            before,
            "codex's hooks.json must not be there without its approval"
        );
        let done = ctl(world, &["install", "zzz"]).await;
        assert_eq!(done.status, Some(2));
        assert!(done.stderr.contains("known are claude-code, codex, "), "{}", done.stderr);
        fs::create_dir_all(world.at("home/.cursor/hooks.json")).unwrap();
        assert!(ctl(world, &["install", "cursor"]).await.stderr.contains("is not a regular file"));
    });
}

#[test]
fn links_and_modes_stay() {
    world(async |world| {
        let real = world.write("dotfiles/claude.json", "{}\n");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        fs::create_dir(world.at("home/.claude")).unwrap();
        let link = world.at("home/.claude/settings.json");
        std::os::unix::fs::symlink("../../dotfiles/claude.json", &link).unwrap();
        assert_eq!(ctl(world, &["install", "claude"]).await.status, Some(0));
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("../../dotfiles/claude.json"));
        assert!(fs::read_to_string(&real).unwrap().contains("hook --agent claude-code"));
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(ctl(world, &["uninstall", "claude"]).await.status, Some(0));
        assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
    });
}

/// Agents read the user's and the project's configuration: who installs into both is told.
#[test]
fn an_installation_in_two_places_is_said() {
    world(async |world| {
        let first = ctl(world, &["install", "gemini"]).await.stdout;
        assert!(!first.contains("as well"), "{first}");
        let second = ctl(world, &["install", "gemini", "--project"]).await.stdout;
        let path = world.text_at("home/.gemini/settings.json");
        let note = format!("note: hooksd is in {path} as well: gemini-cli may run it twice for an event\n");
        assert!(second.contains(&note) && second.contains("do not commit them"), "{second}");
    });
}

/// Codex: each entry of ours has its record, by the place it has in the document; others' records are not touched.
#[test]
fn codex_finds_our_entries_approved() {
    world(async |world| {
        settle(world);
        assert_eq!(ctl(world, &["install", "codex"]).await.status, Some(0));
        let config = world.read("home/.codex/config.toml").unwrap();
        let hooks = world.text_at("home/.codex/hooks.json");
        for (event, group) in [("pre_tool_use", 1), ("session_end", 1), ("stop", 0)] {
            assert!(
                config.contains(&format!("\n[hooks.state.\"{hooks}:{event}:{group}:0\"]\nenabled = true\n")),
                "{config}"
            );
        }
        assert_eq!(config.matches("trusted_hash").count(), 11);
        // The path of this program is part of the hash: another program, another hash.
        let older = config.replacen("sha256:", "sha256:0", 11).replace("sha256:04f53", "sha256:4f53");
        fs::write(world.at("home/.codex/config.toml"), older).unwrap();
        assert_eq!(ctl(world, &["install", "codex"]).await.status, Some(0));
        assert_eq!(world.read("home/.codex/config.toml").unwrap(), config);
    });
}

/// D15: dcode reads the daemon's own documents. Nothing is installed there, and what somebody has put there goes.
#[test]
fn deepagents_gets_no_entry_that_would_come_back_to_us() {
    world(async |world| {
        settle(world);
        let before = visible(world);
        for scope in ["--user", "--project"] {
            let done = ctl(world, &["install", "deepagents", scope]).await;
            assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""));
            assert!(
                done.stdout.contains("would run every handler twice, so nothing is installed"),
                "{}",
                done.stdout
            );
        }
        assert_eq!(visible(world), before);
        let document = json!({ "hooks": { "Stop": [{ "hooks": [
            { "type": "command", "command": "'/opt/my tools/hooksctl' hook --agent dcode" },
            { "type": "command", "command": "true" },
        ]}]}});
        world.write("home/.deepagents/hooks.json", document.to_string());
        assert_eq!(ctl(world, &["uninstall", "dcode"]).await.status, Some(0));
        let left: Value = serde_json::from_str(&world.read("home/.deepagents/hooks.json").unwrap()).unwrap();
        assert_eq!(left, events::shell("Stop", "true"));
        // What install writes is dropped by a daemon that meets it, also when its path has to be quoted.
        world.user(&document);
        assert_eq!(world.agent().await.load_diagnostics(), ["self_reference command"]);
    });
}

#[test]
fn agents_says_what_is_called_and_whether_it_is_there() {
    world(async |world| {
        let other = world.script("bin/hooksctl", "#!/bin/sh\n", 0o755);
        let entry = |program: &str| json!([{ "hooks": [{ "type": "command", "command": format!("{program} hook --agent claude") }] }]);
        let mine = program::path("hooksctl").display().to_string();
        let document = json!({ "hooks": { "Stop": entry("/gone/hooksctl"), "PreToolUse": entry(&other), "SessionEnd": entry(&mine) } });
        let path = world.write("home/.claude/settings.json", document.to_string()).display().to_string();
        world.write("home/.qwen/settings.json", "{");
        let listed = ctl_json(world, &["agents"]).await;
        let claude = &listed["agents"][0];
        let calls: Vec<(&str, &str)> = claude["installed"][0]["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["event"].as_str().unwrap(), entry["calls"].as_str().unwrap()))
            .collect();
        let mut sorted = calls.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [("PreToolUse", "other"), ("SessionEnd", "this"), ("Stop", "gone")]);
        assert_eq!((&claude["name"], &claude["installed"][0]["path"]), (&json!("claude-code"), &json!(path)));
        let text = ctl(world, &["agents"]).await.stdout;
        for part in [
            "claude-code (",
            "    user     ",
            "missing: SessionStart, ",
            "calls /gone/hooksctl, which is not there: install again",
            "which is not this hooksctl",
            "line 1, column 2: a key in double quotes is missing",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // Installing brings them to this program where they stand.
        assert_eq!(ctl(world, &["install", "claude"]).await.status, Some(0));
        let listed = ctl_json(world, &["agents"]).await;
        let entries = listed["agents"][0]["installed"][0]["entries"].as_array().unwrap().clone();
        assert!(entries.len() == 12 && entries.iter().all(|entry| entry["calls"] == "this"), "{entries:?}");
    });
}
