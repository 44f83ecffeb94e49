//! The trust store beside other programs, and when it is broken (B68).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hooksd_tests::harness::{World, daemon, events, program, world};
use serde_json::{Value, json};

const STORE: &str = "config/.state/hooks_trust.json";

/// Another program: takes the lock, reads, adds an entry, replaces; forty times.
const PYTHON: &str = r#"
import fcntl, json, os, sys, tempfile
store = sys.argv[1]
for number in range(40):
    with open(store + ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(store) as file:
            data = json.load(file)
        data["projects"]["/python/%d" % number] = {"trusted_at": "t"}
        handle, name = tempfile.mkstemp(dir=os.path.dirname(store))
        with os.fdopen(handle, "w") as file:
            json.dump(data, file)
        os.replace(name, store)
"#;

fn hooksctl(world: &World, arguments: &[&str]) -> Command {
    let mut command = program::command("hooksctl", &[]);
    command.args(["trust", "--config-dir"]).arg(world.at("config")).args(arguments);
    command
}

/// Nothing is lost, nothing is torn, and nothing is left behind.
#[test]
fn b68_concurrent_changes_lose_nothing() {
    daemon(async |world| {
        world.stop().await;
        let folders: Vec<String> = (0..16).map(|number| world.text_at(&format!("p{number}"))).collect();
        for number in 0..16 {
            let document = events::shell("Stop", "true").to_string();
            world.write(&format!("p{number}/.deepagents/hooks.json"), document);
        }
        fs::create_dir(world.at("old")).unwrap();
        let before = json!({ "version": 1, "projects": { world.text_at("old"): { "trusted_at": "t" } } });
        world.write(STORE, before.to_string());
        fs::set_permissions(world.at(STORE), fs::Permissions::from_mode(0o644)).unwrap();

        let mut commands: Vec<Command> =
            folders.iter().map(|folder| hooksctl(world, &["grant", folder, "--yes"])).collect();
        commands.push(hooksctl(world, &["revoke", &world.text_at("old")]));
        let python =
            ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| fs::exists(path).unwrap());
        let mut python_entries = 0;
        if let Some(python) = python {
            let mut command = Command::new(python);
            command.args(["-c", PYTHON]).arg(world.at(STORE)).stdout(Stdio::null()).stderr(Stdio::piped());
            commands.push(command);
            python_entries = 40;
        }
        let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (done_ref, reads_ref, store) = (&done, &reads, world.at(STORE));
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                while !done_ref.load(Ordering::Acquire) {
                    let text = fs::read(&store).expect("the store is always there");
                    let value: Value = serde_json::from_slice(&text).expect("no torn read");
                    assert_eq!(value["version"], 1);
                    reads_ref.fetch_add(1, Ordering::Relaxed);
                }
            });
            let children: Vec<_> = commands.iter_mut().map(|command| command.spawn().unwrap()).collect();
            for child in children {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            }
            done.store(true, Ordering::Release);
            reader.join().unwrap();
        });
        let store: Value = serde_json::from_str(&world.read(STORE).unwrap()).unwrap();
        let projects = store["projects"].as_object().unwrap();
        let missing: Vec<&String> = folders.iter().filter(|folder| !projects.contains_key(*folder)).collect();
        assert_eq!(missing, Vec::<&String>::new());
        assert_eq!(
            projects.len(),
            16 + python_entries,
            "the revocation holds and no entry of another is lost"
        );
        assert!(reads.load(Ordering::Relaxed) > 0);
        // One more change of ours, since Python's file has the mode that Python gives it.
        assert!(program::run(hooksctl(world, &["grant", &folders[0], "--yes"])).await.status == Some(0));
        let mode = |name: &str| fs::metadata(world.at(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(STORE), mode("config/.state")), (0o600, 0o700));
        let mut left: Vec<String> = fs::read_dir(world.at("config/.state"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["hooks_trust.json", "hooks_trust.json.lock", "hooksd"]);
    });
}

/// A store that cannot be understood trusts nothing, is never overwritten, and every command says so.
#[test]
fn b68_a_store_that_cannot_be_read_is_never_overwritten() {
    world(async |world| {
        let document = events::shell("PreToolUse", "exit 2");
        world.project(&document);
        let project = world.text_at("project");
        let hash = hooksd_config::contents::fingerprint(document.to_string().as_bytes());
        let entry = json!({ project.as_str(): { "trusted_at": "t" } });
        let stores = [
            "garbage".to_owned(),
            String::new(),
            json!({ "version": 2, "projects": entry }).to_string(),
            json!({ "version": 1, "projects": [] }).to_string(),
        ];
        let mut line = world.connect().await;
        for store in stores {
            world.write(STORE, &store);
            let agent = world.agent().await;
            let told = ["trust_store_unreadable", "project_untrusted hooks.json"];
            assert_eq!(agent.load_diagnostics(), told, "{store}");
            let commands: [&[&str]; 5] = [
                &["grant", &project, "--yes"],
                &["grant", &project, "--fingerprint", &hash],
                &["revoke", &project],
                &["status", &project],
                &["list"],
            ];
            for arguments in commands {
                let done = program::run(hooksctl(world, arguments)).await;
                assert_eq!(done.status, Some(5), "{store} {arguments:?} {done:?}");
                assert!(done.stderr.contains("the trust store"), "{done:?}");
            }
            let grant = json!({ "cwd": project, "fingerprint": hash });
            assert_eq!(line.refusal("trust/grant", grant).await.0, -32010);
            assert_eq!(line.refusal("trust/revoke", json!({ "cwd": project })).await.0, -32010);
            assert_eq!(world.read(STORE), Some(store));
        }
        // Without `trusted_at` it is no entry.
        let empty = json!({ "version": 1, "projects": { project.as_str(): {} } }).to_string();
        world.write(STORE, &empty);
        assert_eq!(world.agent().await.load_diagnostics(), ["project_untrusted hooks.json"]);
        let store: Value = serde_json::from_str(&world.read(STORE).unwrap()).unwrap();
        assert_eq!(store["projects"][&project], json!({}));
    });
}
