//! `journal/query`: what is kept, what is not, and what becomes of a journal that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use hooksd_protocol::methods::JournalRecord;
use hooksd_protocol::timestamp::Timestamp;
use hooksd_tests::harness::{Agent, Setup, daemon, events, eventually, until, world, world_with};
use serde_json::{Value, json};

use crate::refuses;

/// The records that a query finds, newest first.
pub(crate) async fn records(agent: &mut Agent, wanted: Value) -> Vec<Value> {
    let mut page = agent.line.call("journal/query", wanted).await.unwrap();
    page["records"].take().as_array().unwrap().clone()
}

const DATABASE: &str = "config/.state/hooksd/journal.db";

#[test]
fn what_ran_and_why_is_kept() {
    world(async |world| {
        world.user(&events::hooks(
            "PreToolUse",
            json!([
                { "type": "command", "command": "echo never >&2; exit 2" },
                { "type": "command", "command": "exit 7" },
            ]),
        ));
        let mut line = world.connect().await;
        line.call("initialize", json!({ "client": { "name": "tester" } })).await.unwrap();
        let mut agent = world.agent().await;
        let params = agent.params(&events::pre());
        let answer = line.call("hook/invoke", params).await.unwrap();
        agent.invoke(&events::stop(0)).await;
        let id = answer["invocation_id"].clone();
        let found = records(&mut agent, json!({})).await;
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0]["event"], &found[0]["handlers"]), (&json!("Stop"), &json!([])));
        let mut record = found[1].clone();
        assert!(record["duration_us"].as_u64().unwrap() > 0 && record["time"].is_string(), "{record}");
        let record_duration = record["duration_us"].as_u64();
        for handler in record["handlers"].as_array_mut().unwrap() {
            assert!(handler["run_us"].as_u64().unwrap() > 100, "{handler}");
            assert!(handler["spawn_us"].as_u64().unwrap() > 0, "{handler}");
            for name in ["start_us", "queue_us", "run_us", "spawn_us", "drain_us"] {
                assert!(handler[name].as_u64() <= record_duration, "{name}: {handler}");
                handler[name] = json!(1);
            }
        }
        let source = world.text_at("config/hooks.json");
        let handler = |number: u32, command: &str, status: &str, exit: u32, stderr: u32| {
            json!({
                "id": format!("PreToolUse:0:{number}"), "source": source, "command": command, "status": status,
                "exit_code": exit, "signal": null, "start_us": 1, "queue_us": 1, "run_us": 1,
                "spawn_us": 1, "drain_us": 1, "stdout_bytes": 0,
                "stderr_bytes": stderr, "truncated": false, "warm": false,
            })
        };
        let expected = json!({
            "time": record["time"], "duration_us": record["duration_us"], "invocation_id": id,
            "session": agent.session(), "thread_id": "s1", "client": "tester", "event": "PreToolUse",
            "tool": "execute", "snapshot_id": agent.snapshot(), "cwd": world.text_at("project"),
            "outcome": "deny", "reason": "never", "winner": "PreToolUse:0:0",
            "handlers": [
                handler(0, "echo never >&2; exit 2", "blocked", 2, 6),
                handler(1, "exit 7", "failed", 7, 0),
            ],
            "diagnostics": answer["decision"]["diagnostics"],
        });
        assert_eq!(record, expected);
        for (wanted, count) in [
            (json!({ "session": agent.session() }), 2),
            (json!({ "session": "none" }), 0),
            (json!({ "event": "Stop" }), 1),
            (json!({ "handler": "PreToolUse:0:1" }), 1),
            (json!({ "outcome": "deny" }), 1),
            (json!({ "outcome": "failed" }), 1),
            (json!({ "invocation_id": id }), 1),
            (json!({ "until": "2020-01-01T00:00:00Z" }), 0),
            (json!({ "since": "2020-01-01T00:00:00Z", "limit": 1 }), 1),
        ] {
            assert_eq!(records(&mut agent, wanted.clone()).await.len(), count, "{wanted}");
        }
        let page = agent.line.call("journal/query", json!({ "limit": 1 })).await.unwrap();
        let rest = json!({ "limit": 1, "cursor": page["cursor"] });
        let rest = agent.line.call("journal/query", rest).await.unwrap();
        assert_eq!((&rest["records"][0]["event"], &rest["cursor"]), (&json!("PreToolUse"), &Value::Null));
        let mode = |name| fs::metadata(world.at(name)).unwrap().permissions().mode() & 0o777;
        for file in [DATABASE, "config/.state/hooksd/journal.db-wal"] {
            assert_eq!(mode(file), 0o600, "{file}");
        }
        assert_eq!(mode("config/.state/hooksd"), 0o700);
    });
}

/// Secrets are in no file of the journal, whether payloads are kept or not; without that setting no payload is.
#[test]
fn no_secret_and_no_unwanted_payload_is_written() {
    for payloads in [false, true] {
        let mut setup = Setup::default();
        setup.journal.payloads = payloads;
        world_with(setup, async |world| {
            let command = "cat; echo the word is $W_NAME of sk-abcdefghijklmnop and hunter2hunter2 >&2; exit 2; : API_TOKEN=tok-abcdef123";
            world.user(&events::shell("PreToolUse", command));
            let env =
                json!({ "PATH": "/usr/bin:/bin", "MY_PASSWORD": "hunter2hunter2", "W_NAME": "visible" });
            let mut agent = world.agent_with(json!({ "env": env })).await;
            let args = json!({ "command": "plainword hunter2hunter2", "password": "letmein12" });
            agent.invoke(&events::tool("PreToolUse", "execute", args)).await;
            let found = records(&mut agent, json!({})).await;
            let reason = found[0]["reason"].as_str().unwrap();
            assert!(reason.contains("visible") && reason.contains("[redacted]"), "{reason}");
            let mut kept = Vec::new();
            for file in fs::read_dir(world.at("config/.state/hooksd")).unwrap() {
                kept.extend(fs::read(file.unwrap().path()).unwrap());
            }
            let kept = String::from_utf8_lossy(&kept);
            for secret in ["hunter2hunter2", "sk-abcdefghijklmnop", "letmein12", "tok-abcdef123"] {
                assert!(!kept.contains(secret), "{secret} was written");
            }
            assert_eq!(kept.contains("plainword"), payloads, "the payload");
            assert_eq!(found[0]["handlers"][0]["stdout"].is_string(), payloads);
        });
    }
}

/// A remark quotes a piece of what a handler printed. Of a secret that is cut by it, what is left is not recognised: not one
/// piece of it is written.
#[test]
fn no_piece_of_a_secret_is_written() {
    let long = "x".repeat(60);
    // All that is kept of an output but a few bytes, and nothing of it once the key is taken out.
    let key =
        |body: usize| format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "x".repeat(body));
    let flood = key(99_990 - key(0).len());
    // What is printed, how it goes on, and the piece of a secret that the agent is shown.
    let cases = [
        (
            format!("{long} eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"),
            ">&2; exit 1",
            "eyJhbGciOiJIUzI1NiJ",
        ),
        (format!("{long} it is battery-staple-7"), ">&2; exit 1", "battery-stap"),
        (format!("{long} see https://me:swordfish@host"), ">&2; exit 1", "me:swor"),
        (format!("{long} it is a key sk-qwertyuiop"), ">&2; kill -9 $$", "sk-qwer"),
        ("API_TOKEN=\"first\nfollowing-9\"".to_owned(), ">&2; exit 1", "following-9"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIB\nKoZIhvcN".to_owned(), ">&2; exit 1", "KoZIhvcN"),
        ("not JSON\nghp_asdfghjklq".to_owned(), "", "ghp_asdfghjklq"),
        (format!("{flood}\nsk-zxcvbnmasdf"), ">&2; exit 1", "sk-zxcvbn"),
        (
            format!("{long} it is a key sk-mnbvcxzlkj\n"),
            "; [ -z $HOOKSD_LIFECYCLE ] || exec sleep 600",
            "sk-mnbv",
        ),
    ];
    for payloads in [false, true] {
        let mut setup = Setup::default();
        setup.journal.payloads = payloads;
        world_with(setup, async |world| {
            let handlers = cases.iter().enumerate().map(|(number, (printed, rest, _))| {
                let file = world.at(&format!("printed{number}"));
                fs::write(&file, printed).unwrap();
                // One prints before it is asked, and is asked again where that does no harm.
                let lifecycle = if rest.contains("LIFECYCLE") { "persistent" } else { "per_event" };
                let command = format!("cat {} {rest}", file.display());
                json!({ "type": "command", "command": command, "lifecycle": lifecycle })
            });
            let command = format!("exit 1 # {} bearer lkjhgfdsapoiuy", "x".repeat(58));
            let blocks = json!({ "type": "command", "command": command, "onFailure": "block" });
            let handlers: Vec<Value> = std::iter::once(blocks).chain(handlers).collect();
            world.user(&events::hooks("PreToolUse", json!(handlers)));
            let env = json!({ "PATH": "/usr/bin:/bin", "MY_PASSWORD": "battery-staple-7" });
            let mut agent = world.agent_with(json!({ "env": env })).await;
            let answer = agent.invoke(&events::pre()).await;
            assert!(answer.message("out_of_step").contains("sk-mnbv"));
            let shown = answer.0.to_string();
            records(&mut agent, json!({})).await;
            let mut kept = Vec::new();
            for file in fs::read_dir(world.at("config/.state/hooksd")).unwrap() {
                kept.extend(fs::read(file.unwrap().path()).unwrap());
            }
            let kept = String::from_utf8_lossy(&kept);
            for piece in cases.iter().map(|(.., piece)| *piece).chain(["lkjhg"]) {
                assert!(shown.contains(piece), "the agent is shown {piece}: {shown}");
                assert!(!kept.contains(piece), "{piece} was written (payloads: {payloads})");
            }
        });
    }
}

/// What cannot be written costs records and no decision, and is said.
#[test]
fn a_journal_that_cannot_be_written_costs_no_decision() {
    world(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        assert_eq!(records(&mut agent, json!({})).await.len(), 1);
        // Something else in its place: it is not touched, and nothing is kept.
        for file in ["", "-wal", "-shm"] {
            fs::remove_file(world.at(&format!("{DATABASE}{file}"))).unwrap();
        }
        fs::create_dir(world.at(DATABASE)).unwrap();
        let (mut line, _) =
            super::events_subscribe::observer(world, json!({ "kinds": ["diagnostic"] })).await;
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        let told = super::events_subscribe::next(&mut line, "events/item").await;
        assert_eq!(told["code"], "journal_failed", "{told}");
        let status = agent.line.call("daemon/status", json!({})).await.unwrap();
        assert_eq!((&status["journal"]["lost"], &status["journal"]["ready"]), (&json!(1), &json!(false)));
        assert!(status["journal"]["problem"].as_str().unwrap().contains("journal.db"), "{status}");
        assert_eq!(agent.line.refusal("journal/query", json!({})).await.0, -32012);
        // Once it has gone, a new one is begun.
        fs::remove_dir(world.at(DATABASE)).unwrap();
        let mut tries = 0;
        while agent.line.call("daemon/status", json!({})).await.unwrap()["journal"]["ready"] != true {
            tries += 1;
            assert!(tries < 1000, "the journal does not come back");
            agent.invoke(&events::pre()).await;
        }
        assert!(!records(&mut agent, json!({})).await.is_empty());
    });
}

/// A damaged database is moved aside with a reason.
#[test]
fn a_damaged_journal_is_moved_aside() {
    // The real program: it is started when it has looked at its journal, so that no question comes before that.
    daemon(async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        agent.invoke(&events::pre()).await;
        world.stop().await;
        world.write(DATABASE, "no database\n".repeat(1000));
        world.start().await;
        let mut agent = world.agent().await;
        assert_eq!(records(&mut agent, json!({})).await.len(), 0);
        assert_eq!(agent.invoke(&events::pre()).await.behavior(), "deny");
        assert_eq!(records(&mut agent, json!({})).await.len(), 1);
        until("it is aside", || world.at(&format!("{DATABASE}.damaged")).exists()).await;
    });
}

/// Also when no event comes: the daemon looks at its start, and every minute.
#[test]
fn what_is_too_old_goes() {
    let mut setup = Setup::default();
    setup.journal.max_age = Duration::from_secs(24 * 60 * 60);
    world_with(setup, async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        agent.invoke(&events::pre()).await;
        let young = records(&mut agent, json!({})).await.remove(0);
        world.stop().await;
        let mut old: JournalRecord = serde_json::from_value(young.clone()).unwrap();
        old.time = Timestamp::parse("2020-01-01T00:00:00Z").unwrap();
        let path = world.at(DATABASE);
        rusqlite::Connection::open(&path).unwrap().execute("DELETE FROM event", []).unwrap();
        let (mut writer, _) = hooksd_journal::Writer::open(&path).unwrap();
        writer.append(&vec![old; 3000]).unwrap();
        writer.append(&[serde_json::from_value(young.clone()).unwrap()]).unwrap();
        drop(writer);
        world.start().await;
        let mut agent = world.agent().await;
        eventually("the old ones have gone", async || {
            (records(&mut agent, json!({})).await == [young.clone()]).then_some(())
        })
        .await;
    });
}

#[test]
fn off_means_off() {
    let mut setup = Setup::default();
    setup.journal.enabled = false;
    world_with(setup, async |world| {
        let mut agent = world.agent_of(&events::shell("PreToolUse", "exit 2")).await;
        agent.invoke(&events::pre()).await;
        assert_eq!(agent.line.refusal("journal/query", json!({})).await.0, -32012);
        assert!(!world.at(DATABASE).exists());
    });
}

#[test]
fn bad_params_are_refused() {
    world(async |world| {
        let mut line = world.connect().await;
        let cases = [
            (json!({ "limit": 0 }), "limit"),
            (json!({ "limit": 1001 }), "limit"),
            (json!({ "since": "yesterday" }), "since"),
            (json!({ "zzz": 1 }), "zzz"),
        ];
        refuses(&mut line, "journal/query", &cases).await;
    });
}
