//! Redaction of what is written down: a planted secret survives nowhere.

use hooksd_engine::redact::{MAX_DEPTH, REDACTED, Redactor};
use hooksd_json::{Dialect, RawJson, Value};

use super::shape::{self, Words};
use super::text;

pub(super) const TEXT: Words = Words(&[
    "TOKEN=",
    "password: ",
    "\"api_key\": \"",
    "Bearer ",
    "Authorization: Basic ",
    "://u:p@h",
    "sk-",
    "ghp_",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "--secret ",
    "Cookie: ",
    "eyJ",
    "curl -u ",
    "mysql -p",
    "discord.com/api/webhooks/",
    "/hooks/",
    "?sig=",
    "&",
    "DB_PASS=",
    "auth: ",
    "is required ",
    "$KEY",
    "\\\"",
    "'",
    "\"",
    "\\",
    "=",
    ":",
    "@",
    "<S>",
    "[redacted]",
    "\n",
]);

/// What must not come out. As long and as mixed as keys are, so that nothing else looks like it.
const SECRET: &str = "Hunter2-x9q/Z+w8Kd03vB";

/// Ways to write a secret down that are known without its variable; each on a line of its own.
const FORMS: [&str; 24] = [
    "API_KEY=<S>",
    "db_password: <S>",
    "{\"client_secret\": \"<S>\"}",
    "curl --api-key <S> x",
    "Authorization: Basic <S>",
    "Cookie: a=<S>; b=<S>",
    "bearer <S>",
    "postgres://u:<S>@host:5432/db",
    "sk-<S>",
    "(ghp_<S>)",
    "eyJhbGciOi.<S>.<S>",
    "-----BEGIN PRIVATE KEY-----\n<S>\n-----END PRIVATE KEY-----",
    "curl -u bob:<S> a.io",
    "mysql -uroot -p<S> app",
    "redis-cli -a <S> ping",
    "docker login -u bob -p <S>",
    "https://hooks.slack.com/services/T0/B0/<S>",
    "https://discord.com/api/webhooks/1/<S>",
    "https://a.io/x?a=1&sig=<S>&b=2",
    "https://a.io/cb#access_token=<S>",
    "DB_PASS=<S>",
    "export AUTH=<S>",
    "SESSION=<S>",
    "[\"x\", \"--token\", \"<S>\"]",
];

/// A value that a variable has named secret survives in no text and no JSON around it, and a form that is known by its
/// looks on no line. What is redacted stays so.
pub(super) fn secrets(data: &[u8]) {
    let knowing = Redactor::new([("SERVICE_TOKEN", SECRET), ("HOME", "/home/x")]);
    let around = String::from_utf8_lossy(data).replace("<S>", SECRET);
    let planted = format!("{around}{SECRET}{around}");
    gone(&knowing.text(&planted).unwrap_or(planted));
    // Bytes that spell it themselves name it nowhere: who does not know it cannot find it there.
    if !String::from_utf8_lossy(data).contains(SECRET) {
        let form = FORMS[data.len() % FORMS.len()].replace("<S>", SECRET);
        let line = format!("{}\n{form}\n", String::from_utf8_lossy(data));
        let clean = Redactor::default().text(&line).unwrap_or(line);
        gone(&clean);
    }
    json(&knowing, data);
}

fn gone(clean: &str) {
    assert!(!clean.contains(SECRET), "{clean}");
}

fn json(knowing: &Redactor, data: &[u8]) {
    let data = text(data, TEXT);
    let inner = match std::str::from_utf8(&data) {
        Ok(text) if Value::parse(text, Dialect::Strict).is_ok() => text.replace("<S>", SECRET),
        _ => RawJson::string(&String::from_utf8_lossy(&data).replace("<S>", SECRET)).get().to_owned(),
    };
    let record =
        format!("{{\"{SECRET}\":{inner},\"text\":\"in {SECRET}\",\"api_key\":[{{\"x\":\"plain\"}}]}}");
    let value = Value::parse(&record, Dialect::Strict).expect("a record is JSON");
    let Some(clean) = knowing.json(&value) else { return assert!(value.depth() > MAX_DEPTH) };
    let again = Value::parse(&clean, Dialect::Strict).expect("a clean record is JSON");
    assert!(!clean.contains('\n'), "one line");
    gone(&clean);
    let mut open = vec![again.clone()];
    while let Some(value) = open.pop() {
        if let Some(text) = value.as_str() {
            gone(&text);
        }
        for (name, member) in value.pairs() {
            open.extend([name, member]);
        }
        open.extend(value.items());
    }
    assert!(again.get("api_key").is_some_and(|key| key.raw() == format!("[{{\"x\":\"{REDACTED}\"}}]")));
    let twice = knowing.json(&again).expect("no deeper than before");
    gone(&twice);
    let _ = shape::spaced(&twice);
}
