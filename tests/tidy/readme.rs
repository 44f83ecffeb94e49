//! What README shows is what happens: its demo, its hooks.json, its transcript are run and compared.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use hooksd::server::listen::listen;
use hooksd::{Settings, Shutdown, demo};

use crate::text;

/// The fenced blocks of README in this language.
fn blocks(language: &str) -> Vec<String> {
    let readme = text("README.md");
    let fence = format!("```{language}\n");
    readme.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

/// Replaces what differs from run to run: durations, ids made for a run.
fn settled(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words = line.split(' ').map(|word| if word.parse::<u64>().is_ok() { "N" } else { word });
        out.push_str(&words.collect::<Vec<_>>().join(" "));
        out.push('\n');
    }
    for key in ["\"session\":\"", "\"invocation_id\":\""] {
        out = replaced(&out, key, '"');
    }
    for key in ["\"duration_ms\":", "\"queue_ms\":"] {
        let mut parts = out.split(key);
        let mut next = parts.next().unwrap().to_owned();
        for part in parts {
            next.push_str(key);
            next.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        out = next;
    }
    out
}

fn replaced(text: &str, key: &str, end: char) -> String {
    let mut parts = text.split(key);
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let rest = part.split_once(end).map(|(_, rest)| rest).unwrap_or_default();
        out.push_str(&format!("{key}X{end}{rest}"));
    }
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_prints_what_readme_shows() {
    let mut out = Vec::new();
    demo::play(&mut out, Shutdown::default()).await.unwrap();
    let printed = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
    let shown =
        blocks("text").into_iter().find(|block| block.contains("DENIED")).expect("README shows the demo");
    let from = printed.find("Two agents have").unwrap();
    assert_eq!(settled(shown.trim()), settled(printed[from..].trim()));
}

#[test]
fn the_two_commands_are_there() {
    let commands = blocks("sh").concat();
    for command in ["cargo run --release -p hooksd -- demo", "cargo test --workspace"] {
        assert!(commands.contains(command), "README does not name {command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_transcript_is_what_the_daemon_answers() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let home = root.join("home");
    fs::create_dir_all(home.join(".deepagents")).unwrap();
    fs::create_dir_all(home.join("project")).unwrap();
    let document = blocks("json")
        .into_iter()
        .find(|block| block.contains("\"hooks\""))
        .expect("README has a hooks.json");
    fs::write(home.join(".deepagents/hooks.json"), document + "\n").unwrap();

    let socket = root.join("run/hooksd.sock");
    let (held, listener) = listen(&socket).unwrap();
    let listener = tokio::net::UnixListener::from_std(listener).unwrap();
    let environment = std::sync::Arc::new(std::env::vars_os().filter(|(name, _)| name == "PATH").collect());
    let settings = Settings { environment, ..Settings::new(home.join(".deepagents")) };
    let shutdown = Shutdown::default();
    let server = tokio::spawn(hooksd::run(listener, settings, shutdown.clone()));

    let transcript =
        blocks("text").into_iter().find(|block| block.starts_with("> ")).expect("README has a transcript");
    let you = home.display().to_string();
    let played = tokio::task::spawn_blocking(move || {
        let mut stream = UnixStream::connect(socket).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        let shown_session =
            transcript.split("\"result\":{\"session\":\"").nth(1).unwrap().split('"').next().unwrap();
        let mut session = shown_session.to_owned();
        for line in transcript.lines() {
            let here = line[2..].replace("/home/you", &you);
            if line.starts_with("> ") {
                writeln!(stream, "{}", here.replace(shown_session, &session)).unwrap();
                continue;
            }
            let mut answer = String::new();
            answers.read_line(&mut answer).unwrap();
            if let Some(opened) = answer.split("\"result\":{\"session\":\"").nth(1) {
                session = opened.split('"').next().unwrap().to_owned();
            }
            assert_eq!(settled(&here), settled(answer.trim()));
        }
    });
    played.await.unwrap();
    shutdown.stop.cancel();
    server.await.unwrap();
    drop(held);
}
