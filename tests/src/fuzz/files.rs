//! Files beside hooks.json: plugin manifests, the trust store, hooksd.toml, `.env`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hooksd::server::configure;
use hooksd_config::dotenv;
use hooksd_config::layers::compile;
use hooksd_config::plugins::{collect, manifest};
use hooksd_config::read::Found;
use hooksd_config::trust::Store;
use tempfile::TempDir;

use super::shape::Words;
use super::text;

pub(super) const MANIFEST: Words = Words(&[
    "name",
    "demo",
    "hooks",
    "version",
    "./hooks",
    "./extra",
    "./a.json",
    "./out",
    "./in",
    "../outside",
    "./../outside",
    "./.",
    "./",
    "/etc/passwd",
    "./missing",
    "./hooks/../a.json",
    "./C:",
    "PreToolUse",
    "command",
    "type",
    "guard",
    r#"{"PreToolUse":[{"hooks":[{"type":"command","command":"guard"}]}]}"#,
    r#"["./a.json","./out","./in","./extra"]"#,
]);

pub(super) const STORE: Words = Words(&[
    "version",
    "projects",
    "trusted_at",
    "sha256",
    "/",
    "/proj",
    "1",
    "2",
    "true",
    "2026-01-01T00:00:00+00:00",
    "aa",
    r#"{"/":{"trusted_at":"t"},"/proj":{"trusted_at":"t","sha256":"aa"}}"#,
    r#"{"trusted_at":"t"}"#,
    r#"{"version":1,"projects":{"/":{"trusted_at":"t","sha256":"aa"}}}"#,
]);

pub(super) const SETTINGS: Words = Words(&[
    "socket = \"/s\"\n",
    "log = \"debug\"\n",
    "log = \"a=debug,b\"\n",
    "poll = true\n",
    "drain_seconds = 5\n",
    "idle_exit_seconds = 0x10\n",
    "[limits]\n",
    "handlers = 5\n",
    "connections = 7\n",
    "[journal]\n",
    "enabled = false\n",
    "payloads = true\n",
    "max_mb = 1_000\n",
    "max_days = 99999999999999999999\n",
    "journal.enabled",
    "limits",
    " = ",
    "{",
    "}",
    "\"\"\"",
    "'",
    "#",
    "-1",
    "nan",
    "inf",
    "1979-05-27T07:32:00Z",
    "[[journal]]\n",
    ".",
]);

pub(super) const VARIABLES: Words = Words(&[
    "export ",
    "NAME=value\n",
    "=",
    "\"",
    "'",
    "#",
    "\\",
    "\n",
    "\r\n",
    "\\n",
    "$A",
    " ",
    "\t",
    "A=\"x\ny\"\n",
]);

/// A plugin's folder with everything a path of its manifest can lead to.
struct Ground {
    _folder: TempDir,
    root: PathBuf,
    outside: PathBuf,
}

impl Ground {
    fn new() -> Ground {
        const DOCUMENT: &str = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"inside"}]}]}}"#;
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let (root, outside) = (top.join("p"), top.join("outside"));
        for folder in [&root, &root.join("hooks"), &root.join("extra"), &outside] {
            fs::create_dir(folder).unwrap();
        }
        for file in ["p/hooks/hooks.json", "p/extra/hooks.json", "p/a.json"] {
            fs::write(top.join(file), DOCUMENT).unwrap();
        }
        fs::write(outside.join("hooks.json"), DOCUMENT.replace("inside", "outside")).unwrap();
        symlink(&outside, root.join("out")).unwrap();
        symlink("extra", root.join("in")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        Ground { _folder: folder, root, outside }
    }
}

/// Whatever a manifest says, nothing outside the plugin is read.
pub(super) fn plugins(data: &[u8]) {
    thread_local!(static GROUND: Ground = Ground::new());
    let data = text(data, MANIFEST);
    GROUND.with(|ground| {
        fs::write(ground.root.join("plugin.json"), &data).unwrap();
        let config = ground.outside.join("config");
        let Ok(plugin) = manifest::load(&config, "demo@market", &ground.root) else { return };
        assert!(plugin.data_dir.starts_with(&config));
        for file in &plugin.hook_files {
            assert_eq!(&fs::canonicalize(file).unwrap(), file);
            assert!(file.starts_with(&ground.root), "{}", file.display());
        }
        let (documents, _) = collect(std::slice::from_ref(&plugin), Some(Path::new("/project")));
        let snapshot = compile(&Found::Absent, &Found::Absent, &|_| false, &documents).snapshot;
        assert!(snapshot.handlers().iter().all(|handler| handler.command != "outside"));
    });
}

/// What is read of a store is written as it was read, and trusts exactly what it names.
pub(super) fn trust(data: &[u8]) {
    let data = text(data, STORE);
    let Ok(store) = Store::parse(&data) else { return };
    let written = Store::text(store.entries());
    let again = Store::parse(written.as_bytes()).expect("what was written can be read");
    let mut expected = store.entries().to_vec();
    expected.sort_by(|a, b| a.root.cmp(&b.root));
    let mut found = again.entries().to_vec();
    found.sort_by(|a, b| a.root.cmp(&b.root));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((&found.root, &found.trusted_at), (&expected.root, &expected.trusted_at));
        assert_eq!(found.fingerprint, expected.fingerprint);
    }
    assert_eq!(Store::text(again.entries()), written);
    for fingerprint in ["aa", "bb"] {
        let named = store.entries().iter().any(|entry| {
            entry.root == "/" && entry.fingerprint.as_deref().is_none_or(|hash| hash == fingerprint)
        });
        assert_eq!(store.trusts(Path::new("/"), fingerprint), named);
    }
}

/// Settings are taken whole or not at all, and an error says where.
pub(super) fn settings(data: &[u8]) {
    let path = Path::new("/config/hooksd.toml");
    let settings = match configure::read(data, path) {
        Ok(settings) => settings,
        Err(error) => {
            assert!(error.place.starts_with("/config/hooksd.toml"), "{error}");
            return assert!(!error.message.is_empty());
        }
    };
    let mut file = String::new();
    for (setting, key) in
        settings.iter().zip(configure::KEYS).filter(|(setting, _)| setting.origin != "default")
    {
        let value = match key.kind {
            configure::Kind::Text => toml_string(&setting.value),
            configure::Kind::Switch | configure::Kind::Number(..) => setting.value.clone(),
        };
        file.push_str(&format!("{} = {value}\n", setting.key));
    }
    let again = configure::read(file.as_bytes(), path).expect("what was told can be set");
    for (again, setting) in again.iter().zip(&settings) {
        assert_eq!((&again.key, &again.value), (&setting.key, &setting.value));
    }
}

fn toml_string(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04X}", c as u32),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// Every name can be a variable's, every value too, and each is there once.
pub(super) fn variables(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let read = dotenv::parse(text);
    for (at, (name, value)) in read.pairs.iter().enumerate() {
        assert!(dotenv::is_name(name) && !value.contains('\0'));
        assert!(read.pairs[at + 1..].iter().all(|(later, _)| later != name));
    }
    let plain = |value: &str| !value.contains(['\'', '\r']);
    if read.pairs.iter().all(|(_, value)| plain(value)) {
        let written: String = read.pairs.iter().map(|(name, value)| format!("{name}='{value}'\n")).collect();
        assert_eq!(dotenv::parse(&written).pairs, read.pairs);
    }
}
