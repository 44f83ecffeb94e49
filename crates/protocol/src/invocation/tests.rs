use hooksd_json::{Dialect, Reading, Value};

use super::{Event, Invocation};

#[test]
fn requests_are_read_strictly_and_errors_name_the_path() {
    let call = r#""call":{"id":"c","name":"n","args":{}}"#;
    let context = r#""context":{"thread_id":"t","cwd":"/w","approval_mode":"manual"}"#;
    let event = |event: &str| format!("{{{context},\"event\":{event}}}");
    let table = [
        ("[]".to_owned(), ""),
        ("{}".to_owned(), "context"),
        (format!("{{{context}}}"), "event"),
        (format!("{{{context},\"event\":{{}},\"more\":1}}"), "more"),
        (event(r#"{"event":"Nope"}"#), "event.event"),
        (event(r#"{"event":"PreToolUse"}"#), "event.call"),
        (event(r#"{"event":"PreToolUse","call":{"name":"n","args":{}}}"#), "event.call.id"),
        (event(r#"{"event":"PreToolUse","call":{"id":"c","name":"n","args":[]}}"#), "event.call.args"),
        (event(r#"{"event":"PreToolUse","call":{"id":5,"name":"n","args":{}}}"#), "event.call.id"),
        (event(&format!("{{\"event\":\"PreToolUse\",{call},\"typo\":1}}")), "event.typo"),
        (
            event(
                r#"{"event":"PostToolUse","call":{"id":"c","name":"n","args":{}},"result":1,"duration_ms":1.5}"#,
            ),
            "event.duration_ms",
        ),
        (event(r#"{"event":"SessionStart","cause":"Startup"}"#), "event.cause"),
        (
            event(
                r#"{"event":"Stop","continuation_count":0,"last_assistant_message":"","background_tasks":[{"id":"b"}]}"#,
            ),
            "event.background_tasks[0].type",
        ),
        (
            r#"{"context":{"thread_id":"t","cwd":"/w","approval_mode":"manual","prompt_id":"x"},"event":{}}"#
                .to_owned(),
            "context.prompt_id",
        ),
        (
            r#"{"context":{"thread_id":"t","cwd":"/w","approval_mode":"manual","efort":"low"},"event":{}}"#
                .to_owned(),
            "context.efort",
        ),
    ];
    for (text, path) in table {
        let error =
            Invocation::read(&Value::parse(&text, Dialect::Strict).unwrap(), Reading::Strict).unwrap_err();
        assert_eq!(error.path, path, "{text}: {error}");
    }
}

#[test]
fn d4_pass_through_json_is_never_re_encoded() {
    let args = r#"{ "b":1e5, "a":-0.0,"n":123456789012345678901234567890 ,"s":"\u00fc\ud83d","d":[[[[[1.0]]]]],"b":2 }"#;
    let text = format!(
        "{{\"context\":{{\"thread_id\":\"\\ud83d\",\"cwd\":\"/w\",\"approval_mode\":\"auto\"}},\"event\":{{\"event\":\"PostToolUse\",\
         \"call\":{{\"id\":\"c\",\"name\":\"n\",\"args\":{args}}},\"result\":{args}}}}}"
    );
    let invocation =
        Invocation::read(&Value::parse(&text, Dialect::Strict).unwrap(), Reading::Strict).unwrap();
    assert_eq!(invocation.context.thread_id.raw(), r#""\ud83d""#);
    let Event::PostToolUse(event) = &invocation.event else { panic!("another event") };
    assert_eq!(event.call.args.get(), args);
    assert_eq!(event.result.get(), args);
    assert!(serde_json::to_string(&invocation).unwrap().contains(args));
}
