//! Kind 5: loading hooks.json.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use hooksd_tests::harness::{Setup, decision, deny, events, until, world, world_with};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;

fn denied() -> serde_json::Value {
    decision("PreToolUse", json!({ "permission": deny("Hook blocked the operation") }))
}

/// A bad entry costs itself alone, and each is named: every session is told, once a load.
#[test]
fn b31_a_bad_entry_does_not_silence_its_neighbours() {
    world(async |world| {
        world.user_text(
            r#"{"hooks":{"_note":"why","preToolUse":[{"hooks":[{"type":"command","command":"true"}]}],
            "PreToolUse":[{"matcher":{"a":1},"hooks":[{"type":"command","command":"true"}]},
            {"type":"command","command":"true"},{"hooks":[{"command":"true"},{"type":"Command","command":"true"},
            {"type":"command","command":"exit 2"}]}],"Stop":{"hooks":[]}}}"#,
        );
        for _ in 0..2 {
            let mut agent = world.agent().await;
            let fields = [
                "hooks._note",
                "hooks.preToolUse",
                "hooks.PreToolUse[0]",
                "hooks.PreToolUse[1].hooks",
                "hooks.PreToolUse[2].hooks[0]",
                "hooks.PreToolUse[2].hooks[1]",
                "hooks.Stop",
            ];
            assert_eq!(agent.load_diagnostics(), fields.map(|field| format!("invalid_config {field}")));
            let answer = agent.invoke(&events::pre()).await;
            assert_eq!(answer.decision(), denied());
            // What validation refuses is gone before handlers are numbered.
            assert_eq!(answer.handlers(), ["PreToolUse:0:0 blocked exit 2"]);
        }
        // A group refused for its matcher keeps its place.
        let hooks = json!([{ "type": "command", "command": "exit 2" }]);
        let groups = json!([{ "matcher": "B[a", "hooks": hooks }, { "hooks": hooks }]);
        let answer =
            world.agent_of(&json!({ "hooks": { "PreToolUse": groups } })).await.invoke(&events::pre()).await;
        assert_eq!(answer.handlers(), ["PreToolUse:1:0 blocked exit 2"]);
    });
}

/// What people really type: either it is read, or the document is named with a reason.
#[test]
fn b32_syntax_that_people_really_type() {
    world(async |world| {
        let good = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"exit 2"}]}]}}"#;
        let trailing_comma = good.replace("}]}]}}", "},]}]}}");
        let comment = format!("/* guard */ {good}");
        let latin1 = [&b"{\"description\":\"caf\xE9\","[..], &good.as_bytes()[1..]].concat();
        let refused: [(&[u8], &str); 8] = [
            (trailing_comma.as_bytes(), "config_read_failed hooks.json"),
            (comment.as_bytes(), "config_read_failed hooks.json"),
            (&latin1, "config_read_failed hooks.json"),
            (b"", "config_read_failed hooks.json"),
            (b"null", "invalid_config hooks.json"),
            (b"{}", "invalid_config hooks"),
            (br#"{"hooks":null}"#, "invalid_config hooks"),
            (br#"{"hooks":["a"]}"#, "invalid_config hooks"),
        ];
        for (document, expected) in refused {
            world.user_text(document);
            let mut agent = world.agent().await;
            assert_eq!(agent.load_diagnostics(), [expected], "{}", String::from_utf8_lossy(document));
            assert_eq!(agent.invoke(&events::pre()).await.decision(), decision("PreToolUse", json!({})));
        }
        let decorated = r#"{"$schema":"x","description":"d","hooks":{"PreToolUse":[{"id":"g","hooks":[
            {"id":"h","once":true,"if":"Bash","type":"command","command":"exit 2"}]}]}}"#;
        let mut agent = world.agent().await;
        world.user_text(decorated);
        agent.reload().await;
        assert_eq!(agent.load_diagnostics(), [""; 0]);
        assert_eq!(agent.invoke(&events::pre()).await.decision(), denied());
    });
}

/// Any time limit that is a number of seconds loads and runs, however long.
#[test]
fn b33_a_time_limit_cannot_overflow() {
    world(async |world| {
        for limit in ["1e308", "1e30", "1e10", "18446744073709551616"] {
            let handler = format!(r#"{{"type":"command","command":"exit 2","timeout":{limit}}}"#);
            world.user_text(format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{handler}]}}]}}}}"#));
            let mut agent = world.agent().await;
            assert_eq!(agent.load_diagnostics(), [""; 0], "{limit}");
            assert_eq!(agent.invoke(&events::pre()).await.decision(), denied(), "{limit}");
        }
        let start = Instant::now();
        let document = events::shell_within("PreToolUse", "sleep 5", 0.001);
        let answer = world.agent_of(&document).await.invoke(&events::pre()).await;
        let expected = json!({ "diagnostics": ["timeout PreToolUse:0:0"] });
        assert_eq!(answer.decision(), decision("PreToolUse", expected));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    });
}

/// hooks.json may be anything: what is no regular file is absent, what is far too large is refused, nothing hangs.
#[test]
fn b35_hooks_json_may_be_anything() {
    world(async |world| {
        world.user(&events::shell("PreToolUse", "exit 2"));
        let document = world.write("project/.deepagents/hooks.json", "");
        let forget = || {
            let _ = fs::remove_dir(&document).or_else(|_| fs::remove_file(&document));
        };
        let kinds: [(&str, &dyn Fn()); 6] = [
            ("a FIFO", &|| mkfifo(&document, Mode::S_IRUSR | Mode::S_IWUSR).unwrap()),
            ("an endless device", &|| symlink("/dev/zero", &document).unwrap()),
            ("a folder", &|| fs::create_dir(&document).unwrap()),
            ("a link to itself", &|| symlink(&document, &document).unwrap()),
            ("a dangling link", &|| symlink(world.at("nowhere"), &document).unwrap()),
            ("a huge file", &|| fs::File::create(&document).unwrap().set_len(2 << 30).unwrap()),
        ];
        for (kind, make) in kinds {
            forget();
            make();
            let start = Instant::now();
            let mut agent = world.agent_with(json!({ "trust": "explicit" })).await;
            assert!(start.elapsed() < Duration::from_secs(1), "{kind}: {:?}", start.elapsed());
            let huge = kind == "a huge file";
            assert_eq!(agent.info["project"]["hooks_present"], huge, "{kind}");
            let diagnostics: &[&str] =
                if huge { &["config_read_failed hooks.json", "project_untrusted hooks.json"] } else { &[] };
            assert_eq!(agent.load_diagnostics(), diagnostics, "{kind}");
            assert_eq!(agent.invoke(&events::pre()).await.decision(), denied(), "{kind}");
        }
    });
    // The user's own document may be a FIFO as well.
    world(async |world| {
        fs::create_dir_all(world.at("config")).unwrap();
        mkfifo(&world.at("config/hooks.json"), Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        let mut agent = world.agent().await;
        assert_eq!(agent.invoke(&events::pre()).await.decision(), decision("PreToolUse", json!({})));
    });
}

async fn logs(world: &hooksd_tests::harness::World, expected: usize) {
    let mut agent = world.agent().await;
    assert_eq!(agent.info["project"]["trusted"], true);
    assert_eq!(agent.load_diagnostics(), [""; 0], "nobody is asked to trust the user's own file");
    assert_eq!(agent.invoke(&events::session_start()).await.handlers().len(), expected);
    assert_eq!(world.read("log").unwrap().lines().count(), expected);
    fs::remove_file(world.at("log")).unwrap();
}

/// The home folder as project: the one file is read once, as the user's, and needs no trust.
#[test]
fn b36_the_home_folder_as_project() {
    let log = events::shell("SessionStart", "echo x >> $W/log");
    for config in ["project/.deepagents", "link/.deepagents"] {
        world_with(Setup { config_dir: config.to_owned(), ..Setup::default() }, async |world| {
            symlink(world.at("project"), world.at("link")).unwrap();
            world.project(&log);
            logs(world, 1).await;
        });
    }
}

/// The project's file is a link to the user's: the same. A hard link is another file.
#[test]
fn b36_a_link_to_the_users_file() {
    world(async |world| {
        world.user(&events::shell("SessionStart", "echo x >> $W/log"));
        fs::create_dir(world.at("project/.deepagents")).unwrap();
        let document = world.at("project/.deepagents/hooks.json");
        symlink(world.at("config/hooks.json"), &document).unwrap();
        logs(world, 1).await;

        fs::remove_file(&document).unwrap();
        fs::hard_link(world.at("config/hooks.json"), &document).unwrap();
        let mut agent = world.agent_with(json!({ "trust": "explicit" })).await;
        assert_eq!(agent.invoke(&events::session_start()).await.handlers().len(), 2);
        until("both have run", || world.read("log").unwrap().lines().count() == 2).await;
    });
}

/// The user's file as a link into an untrusted project still is the user's, and its real path is shown.
#[test]
fn b36_the_users_file_may_stand_in_a_project() {
    world(async |world| {
        world.project(&events::shell("PreToolUse", "exit 2"));
        let real = world.text_at("project/.deepagents/hooks.json");
        symlink(&real, world.at("config/hooks.json")).unwrap();
        let mut agent = world.agent().await;
        let sources = agent.info["snapshot"]["sources"].as_array().unwrap();
        assert_eq!(
            (sources.len(), &sources[0]["scope"], &sources[0]["path"]),
            (1, &json!("user"), &json!(real))
        );
        assert_eq!(agent.invoke(&events::pre()).await.decision(), denied());
    });
}
