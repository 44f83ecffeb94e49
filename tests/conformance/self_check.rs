//! The runner itself: what it reports when a vector is wrong. A runner that cannot fail proves nothing.

use crate::summary::Summary;
use crate::vector::{Checked, Held, Vector};
use crate::world::World;

/// A vector that holds, and changes after each of which it must not: a text in it, and what to put there.
type Case = (&'static str, &'static [(&'static str, &'static str)]);

const CASES: [Case; 20] = [
    (
        r#"{"id":"config/self","input":{"trusted":true,"user":"{\"hooks\":{\"Nope\":[],\"Stop\":[]}}"},"expect":{"load_diagnostics":[{"code":"invalid_config","severity":"warning","field":"<USER>:hooks.Nope"}],"sources":["<USER>"],"canonical":"{\"hooks\":{\"Stop\":[]}}"}}"#,
        &[
            (":hooks.Nope", ":hooks.Nop"),
            (r#"["<USER>"]"#, "[]"),
            (r#"{\"Stop\":[]}}"}"#, r#"{\"Stop\":[ ]}}"}"#),
        ],
    ),
    (
        r#"{"id":"config/opaque","input":{"trusted":true,"opaque_handlers":true,"user":"{\"hooks\":[{\"command\":[\"old\"],\"events\":[\"session.end\"]}]}"},"expect":{"groups":{"SessionEnd":[{"source":"<USER>","matcher":null,"hooks":[{"command":"<OPAQUE>","timeout":6.0}]}]}}}"#,
        &[("6.0", "7.0"), ("SessionEnd", "SessionStart"), (r#""matcher":null"#, r#""matcher":"x""#)],
    ),
    (
        r#"{"id":"matcher/self","input":{"event":"SubagentStart","matcher":"a|b","targets":["a","ab"]},"expect":{"kind":"exact","diagnostics":[],"names":["a","b"],"matched":[true,false]}}"#,
        &[
            ("[true,false]", "[true,true]"),
            (r#"["a","b"]"#, r#"["a"]"#),
            (r#""kind":"exact""#, r#""kind":"regex""#),
        ],
    ),
    (
        r#"{"id":"charclass/self","input":{"class":"dot"},"expect":{"count":1112063,"ranges":[[0,9],[11,55295],[57344,1114111]]}}"#,
        &[("1112063", "1112062"), (r#""dot""#, r#""nonsense""#)],
    ),
    (
        r#"{"id":"projection/self","input":{"transcript_path":"/t","agent_transcript_path":null,"invocation_text":"{\"context\":{\"thread_id\":\"t\",\"cwd\":\"/w\",\"approval_mode\":\"manual\"},\"event\":{\"event\":\"PreToolUse\",\"call\":{\"id\":\"c\",\"name\":\"x\",\"args\":{\"v\":1E5,\"w\":7}}}}"},"expect":{"stdin":"{\"session_id\":\"t\",\"transcript_path\":\"/t\",\"cwd\":\"/w\",\"hook_event_name\":\"PreToolUse\",\"permission_mode\":\"default\",\"tool_name\":\"x\",\"tool_input\":{\"v\":100000.0,\"w\":7},\"tool_use_id\":\"c\"}"}}"#,
        &[
            ("100000.0", "100000"),
            ("100000.0", "100001.0"),
            ("100000.0", "null"),
            (r#"\"w\":7},\"tool_use"#, r#"\"w\":7.0},\"tool_use"#),
            (r#"{\"v\":100000.0,\"w\":7}"#, r#"{\"w\":7,\"v\":100000.0}"#),
            (r#"\"tool_use_id\":\"c\"}"#, r#"\"tool_use_id\":\"d\"}"#),
        ],
    ),
    (
        r#"{"id":"reduce/self","input":{"invocation":{"context":{"thread_id":"t","cwd":"<CWD>","approval_mode":"manual"},"event":{"event":"PreToolUse","call":{"id":"c","name":"x","args":{}}}},"handlers":[{"stdout":"","stderr":"no","exit":2},{"stdout":"","stderr":"","exit":1}],"observe":{"progress":false,"file":"plain.txt","wait_s":0}},"expect":{"decision":{"event":"PreToolUse","continue_processing":true,"stop_reason":null,"user_notices":[],"terminal_sequences":[],"diagnostics":[{"code":"nonzero_exit","severity":"warning","message":"any","handler_id":"PreToolUse:0:1","field":null}],"permission":{"behavior":"deny","reason":"no","interrupt":false},"context":[]},"elapsed_between":[0,30],"file_exists_afterwards":true}}"#,
        &[
            (r#""reason":"no""#, r#""reason":"other""#),
            ("PreToolUse:0:1", "PreToolUse:0:0"),
            (r#""context":[]"#, r#""context":[""]"#),
            (r#","context":[]"#, ""),
            (r#"[0,30]"#, "[29,30]"),
            (r#"afterwards":true"#, r#"afterwards":false"#),
            (r#""code":"nonzero_exit""#, r#""code":"timeout""#),
        ],
    ),
    (
        r#"{"id":"terminal/self","input":{"sequence":"\u0007"},"expect":{"valid":true}}"#,
        &[("true", "false"), (r"\u0007", "x")],
    ),
    (
        r#"{"id":"env/self","input":{"name":"PATH"},"expect":{"kept":true}}"#,
        &[("true", "false"), ("PATH", "A_KEY")],
    ),
    (
        r#"{"id":"env/run","input":{"process_env":{"PATH":"/usr/bin:/bin","A_TOKEN":"t"},"plugin_env":{"B":"2"}},"expect":{"handler_env":{"PATH":"/usr/bin:/bin","B":"2"}}}"#,
        &[(r#""B":"2"}}}"#, r#""B":"3"}}}"#), (r#","B":"2"}}}"#, "}}}"), (r#""A_TOKEN""#, r#""A_TOKE""#)],
    ),
    (
        r#"{"id":"transport/request","input":{"kind":"request","request":{"protocol_version":1,"invocation_id":"11111111-2222-4333-8444-555555555555","snapshot_id":"abc","run_id":"r","invocation":{"context":{"thread_id":"t","cwd":"/w","approval_mode":"manual"},"event":{"event":"UserPromptSubmit","prompt":5}},"deadline":"2030-01-02T03:04:05Z"}},"expect":{"accepted":false,"errors":[{"loc":["invocation","event","UserPromptSubmit","prompt"]}]}}"#,
        &[
            (r#""prompt"]"#, r#""model"]"#),
            (r#""accepted":false"#, r#""accepted":true"#),
            (r#""kind":"request""#, r#""kind":"nonsense""#),
        ],
    ),
    (
        r#"{"id":"transport/interrupt","input":{"kind":"interrupt","value":{"type":"other"}},"expect":{"looks_like_hook":false,"accepted":false}}"#,
        &[(r#"hook":false"#, r#"hook":true"#), (r#""accepted":false"#, r#""accepted":true"#)],
    ),
    (
        r#"{"id":"transport/response","input":{"kind":"response","value":{"protocol_version":1,"invocation_id":"11111111-2222-4333-8444-555555555555","snapshot_id":"abd","decision":{"event":"SessionEnd"}},"expected_invocation_id":"11111111-2222-4333-8444-555555555555","expected_snapshot_id":"abc"},"expect":{"accepted":false,"mismatch":"snapshot_id"}}"#,
        &[
            (r#""mismatch":"snapshot_id""#, r#""mismatch":"invocation_id""#),
            ("abd", "abc"),
            (r#""SessionEnd""#, r#""Nope""#),
        ],
    ),
    (
        r#"{"id":"transport/fulfil","input":{"kind":"fulfil","project_document":{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo x >> \"<OUT>/log\"; echo hi"}]}]}},"deliveries":[[{"protocol_version":1,"invocation_id":"11111111-2222-4333-8444-555555555555","snapshot_id":"<SNAPSHOT>","run_id":"r","invocation":{"context":{"thread_id":"t","cwd":"<CWD>","approval_mode":"manual"},"event":{"event":"SessionStart","cause":"startup"}},"deadline":"2130-01-02T03:04:05Z"}]]},"expect":{"results":[[{"snapshot_id":"<SNAPSHOT>","decision":{"continue_processing":true,"stop_reason":null,"user_notices":[],"terminal_sequences":[],"diagnostics":[],"event":"SessionStart","context":["hi"]}}]],"log_lines":["x"]}}"#,
        &[
            (r#"["hi"]"#, r#"["ho"]"#),
            (r#""log_lines":["x"]"#, r#""log_lines":[]"#),
            (r#"results":[[{"snapshot_id":"<SNAPSHOT>""#, r#"results":[[{"snapshot_id":"x""#),
        ],
    ),
    (
        r#"{"id":"trust/store","input":{"kind":"store","fs":[{"dir":"proj"}],"store":"{\"version\":1,\"projects\":{\"<ROOT>/proj\":{\"trusted_at\":\"t\"}}}","project":"<ROOT>/proj"},"expect":{"trusted":true}}"#,
        &[(r#""trusted":true"#, r#""trusted":false"#), (r#"\"version\":1"#, r#"\"version\":2"#)],
    ),
    (
        r#"{"id":"trust/policy","input":{"kind":"policy","fs":[{"dir":"p/.git"},{"file":"p/.deepagents/hooks.json","text":"{}"}],"store":null,"policy":{"kind":"for_session","granted":true},"cwd":"<ROOT>/p","steps":[{"allows":"<ROOT>/p"},{"write":"p/.deepagents/hooks.json","text":"{ }"},{"allows":"<ROOT>/p"}]},"expect":{"results":[true,null,false]}}"#,
        &[
            ("[true,null,false]", "[true,null,true]"),
            (r#""granted":true"#, r#""granted":false"#),
            (r#""text":"{ }""#, r#""text":"{}""#),
        ],
    ),
    (
        r#"{"id":"trust/root","input":{"kind":"root","fs":[{"dir":"p/.git"},{"dir":"p/a"}],"cwd":"<ROOT>/p/a"},"expect":{"project_root":"<ROOT>/p","cwd":"<ROOT>/p/a","trust_root":"<ROOT>/p"}}"#,
        &[(r#""project_root":"<ROOT>/p""#, r#""project_root":null"#), ("p/.git", "p/.hg")],
    ),
    (
        r#"{"id":"trust/write","input":{"kind":"write","fs":[{"dir":"p"}],"store":null,"project":"<ROOT>/p"},"expect":{"saved":true,"unchanged":false,"file":"{\"projects\": {\"<ROOT>/p\": {\"trusted_at\": \"<TIME>+00:00\"}}, \"version\": 1}\n","file_mode":"0o600","dir_mode":"0o700","now_trusted":true}}"#,
        &[
            ("0o600", "0o644"),
            (r#"\"version\": 1}"#, r#"\"version\":1}"#),
            ("<TIME>+00:00", "<TIME>Z"),
            (r#""saved":true"#, r#""saved":false"#),
        ],
    ),
    (
        r#"{"id":"legacy/self","input":{"document":"{\"hooks\":[{\"command\":[\"x\"],\"events\":[\"session.end\"]}]}"},"expect":{"diagnostics":[{"code":"legacy_deprecated","severity":"warning","field":"<USER>"},{"code":"legacy_migrated","severity":"warning","field":"<USER>"}],"project_source_loaded":false,"handlers":[{"id":"SessionEnd:0:0","event":"SessionEnd","matcher":null,"timeout":6.0,"statusMessage":null,"legacy_event":"session.end","argv":["x"]}]},"decision":"D17","ours":"timeout is 5.0 where 6.0 is recorded; everything else as recorded"}"#,
        &[
            ("6.0,", "7.0,"),
            (r#""argv":["x"]"#, r#""argv":["y"]"#),
            ("legacy_migrated", "legacy_unmapped"),
            ("recorded\"}", "otherwise\"}"),
        ],
    ),
    (
        r#"{"id":"plugins/layout","input":{"kind":"layout","fs":[{"file":"p/hooks/hooks.json","text":"{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"go\"}]}]}}"}],"plugins":[{"id":"d@m","root":"p"}],"project_dir":null},"expect":{"plugins":[{"loaded":true,"warnings":0,"hook_files":["<ROOT>/p/hooks/hooks.json"],"inline":false,"event_names":["Stop"]}],"diagnostics":[],"data_dirs_exist":[true],"handlers":[{"id":"Stop:0:0","plugin_id":"d@m","command":"go","argv":null,"matcher":null,"statusMessage":null}]}}"#,
        &[
            (r#""warnings":0"#, r#""warnings":1"#),
            (r#""command":"go","argv""#, r#""command":"no","argv""#),
            ("exist\":[true]", "exist\":[false]"),
        ],
    ),
    (
        r#"{"id":"plugins/data-dir","input":{"kind":"data_dir","plugin_id":"a@b"},"expect":{"folder":"a-b-7508d8b5018ea640b85269861a101203"}}"#,
        &[("1203", "1204"), ("a@b", "a@c")],
    ),
];

/// Vectors that no rule fits: each has to fail.
const UNKNOWN: [&str; 8] = [
    r#"{"id":"trust/self","input":{"kind":"nonsense"},"expect":{}}"#,
    r#"{"id":"plugins/self","input":{"kind":"nonsense","fs":[]},"expect":{}}"#,
    r#"{"id":"legacy/self","input":{"document":"{}"},"expect":{}}"#,
    r#"{"id":"nonsense/self","input":{},"expect":{}}"#,
    r#"{"id":"transport/self","input":{"kind":"nonsense"},"expect":{}}"#,
    r#"{"id":"matcher/self","input":{"event":"SubagentStart","matcher":"a","targets":[]},"expect":{"kind":"nonsense","matched":[]}}"#,
    r#"{"id":"terminal/self","input":{"sequence":"x"},"expect":{"valid":false},"decision":"D0","ours":"nonsense"}"#,
    r#"{"id":"env/self","input":{"nonsense":1},"expect":{}}"#,
];

pub(crate) async fn check(world: &World) -> Checked {
    for (right, changes) in CASES {
        let vector = Vector::read(right).map_err(|error| format!("{right}: {error}"))?;
        crate::check(world, &vector).await.map_err(|error| format!("{}: should hold: {error}", vector.id))?;
        for (from, to) in changes {
            let wrong = right.replacen(from, to, 1);
            if wrong == right {
                return Err(format!("{}: there is no {from} to change", vector.id));
            }
            let wrong = Vector::read(wrong.leak())?;
            if crate::check(world, &wrong).await.is_ok() {
                return Err(format!("{}: still holds with {to} for {from}", vector.id));
            }
        }
    }
    for text in UNKNOWN {
        let vector = Vector::read(text)?;
        if crate::check(world, &vector).await.is_ok() {
            return Err(format!("holds, but nobody knows what it means: {text}"));
        }
    }
    let mut summary = Summary::new();
    summary.add("self/skipped", Ok(Held::Skipped(String::new())));
    summary.add("self/different", Err("a difference".to_owned()));
    if summary.failed() != 2 {
        return Err(
            "a vector skipped without a reason, or one that differs, does not count as failed".to_owned()
        );
    }
    Ok(Held::AsRecorded)
}
