//! `hooksctl service`: units that systemd and launchd can read, put in place and taken away.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use hooksd_tests::harness::program::{self, Done};
use hooksd_tests::harness::{World, world};
use serde_json::{Value, json};

async fn service(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    let mut command = world.ctl(&[&["service"], arguments].concat());
    command
        .env_remove("HOOKSD_SOCKET")
        .env("XDG_RUNTIME_DIR", world.at("run"))
        .envs(variables.iter().copied());
    program::run(command).await
}

fn json_of(done: &Done) -> Value {
    assert_eq!((done.status, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

/// The files are written with the path of the real program, are what systemd takes without a word, and go again.
#[test]
fn units_are_written_verified_and_removed() {
    world(async |world| {
        let folder = world.at("config home/systemd/user");
        let config = world.text_at("config home");
        let variables = [("XDG_CONFIG_HOME", config.as_str())];
        let dry = json_of(&service(world, &["install", "--dry-run", "--json"], &variables).await);
        assert_eq!((&dry["dry_run"], folder.exists()), (&json!(true), false));
        let installed = json_of(&service(world, &["install", "--json"], &variables).await);
        let commands =
            json!(["systemctl --user daemon-reload", "systemctl --user enable --now hooksd.socket"]);
        assert_eq!((&installed["to_run"], &installed["ran"]), (&commands, &json!([])));
        for (file, dry) in installed["files"].as_array().unwrap().iter().zip(dry["files"].as_array().unwrap())
        {
            assert_eq!(file["state"], "written");
            let written = fs::read_to_string(file["path"].as_str().unwrap()).unwrap();
            assert_eq!(dry["content"], written);
        }
        let unit = fs::read_to_string(folder.join("hooksd.service")).unwrap();
        let start = format!("ExecStart=\"{}\"", program::path("hooksd").display());
        assert!(unit.lines().any(|line| line == start), "{unit}");
        verify(world, &folder);

        let again = json_of(&service(world, &["install", "--json"], &variables).await);
        assert!(again["files"].as_array().unwrap().iter().all(|file| file["state"] == "unchanged"));
        fs::write(folder.join("hooksd.socket"), "[Socket]\n").unwrap();
        let status = json_of(&service(world, &["status", "--json"], &variables).await);
        let states: Vec<&Value> =
            status["files"].as_array().unwrap().iter().map(|file| &file["state"]).collect();
        assert_eq!(states, ["differs", "current"]);
        let removed = json_of(&service(world, &["uninstall", "--json"], &variables).await);
        assert!(removed["files"].as_array().unwrap().iter().all(|file| file["state"] == "removed"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left");
    });
}

/// A socket or a config dir of one's own reaches the units, whatever characters are in it.
#[test]
fn paths_of_ones_own_reach_the_units() {
    world(async |world| {
        let socket = world.text_at("run/50% own.sock");
        let config = world.text_at("con$fig \"x\"");
        let variables = [("HOOKSD_SOCKET", socket.as_str()), ("HOOKSD_CONFIG_DIR", config.as_str())];
        json_of(&service(world, &["install", "--json"], &variables).await);
        let folder = world.at("home/.config/systemd/user");
        let unit = fs::read_to_string(folder.join("hooksd.socket")).unwrap();
        assert!(unit.contains(&format!("ListenStream={}\n", socket.replace('%', "%%"))), "{unit}");
        verify(world, &folder);

        let agent =
            service(world, &["install", "--json", "--dry-run", "--manager", "launchd"], &variables).await;
        let content = json_of(&agent)["files"][0]["content"].as_str().unwrap().to_owned();
        let agent = plist::Value::from_reader_xml(content.as_bytes()).unwrap();
        let agent = agent.as_dictionary().unwrap();
        let words: Vec<&str> = agent["ProgramArguments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_string().unwrap())
            .collect();
        let hooksd = program::path("hooksd");
        assert_eq!(words, [hooksd.to_str().unwrap(), "--config-dir", &config]);
        assert_eq!(agent["Label"].as_string(), Some("hooksd"));
        let listener = agent["Sockets"].as_dictionary().unwrap()["Listener"].as_dictionary().unwrap();
        assert_eq!(listener["SockPathName"].as_string(), Some(socket.as_str()));
        assert_eq!(listener["SockPathMode"].as_signed_integer(), Some(0o600));
    });
}

#[allow(clippy::print_stdout, reason = "says why nothing is verified")]
fn verify(world: &World, folder: &Path) {
    let analyze = Path::new("/usr/bin/systemd-analyze");
    if !analyze.exists() {
        println!("skipped: {} is not there", analyze.display());
        return;
    }
    let mut command = Command::new(analyze);
    command
        .args(["--user", "verify"])
        .args(["hooksd.service", "hooksd.socket"].map(|name| folder.join(name)));
    command
        .env_clear()
        .env("HOME", world.at("home"))
        .env("XDG_RUNTIME_DIR", world.at("run"))
        .stdin(Stdio::null());
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!((done.status.code(), said.as_ref()), (Some(0), ""));
}

/// Where a user manager runs it is told, after a daemon that runs already has ended; what it refuses is exit 7.
#[test]
fn a_running_manager_is_told() {
    world(async |world| {
        fs::create_dir_all(world.at("run/systemd/private")).unwrap();
        let fake = |status: u8| {
            let script = format!("#!/bin/sh\necho \"$*\" >> $W/asked\necho no >&2\nexit {status}\n");
            world.script("bin/systemctl", &script, 0o755);
        };
        let path = format!("{}:/usr/bin:/bin", world.text_at("bin"));
        let socket = world.text_at("run/hooksd.sock");
        let variables = [("PATH", path.as_str()), ("HOOKSD_SOCKET", socket.as_str())];
        fake(0);
        let installed = json_of(&service(world, &["install", "--json"], &variables).await);
        assert_eq!(installed["to_run"], json!([]));
        assert_eq!(world.read("asked").unwrap(), "--user daemon-reload\n--user enable --now hooksd.socket\n");
        world.ended().await;
        assert!(!world.socket().exists(), "the daemon that ran has made way");
        fake(1);
        let refused = service(world, &["uninstall"], &variables).await;
        assert_eq!(refused.status, Some(7));
        assert!(
            refused.stderr.contains("`systemctl --user disable --now hooksd.socket hooksd.service` failed")
        );
        assert!(world.at("home/.config/systemd/user/hooksd.service").exists(), "nothing half removed");
    });
}
