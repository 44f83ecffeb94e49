//! Kind 11: socket and daemon life, where another user has a part in it (B70, B72).

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hooksd_tests::harness::{World, daemon, processes, program, until};
use nix::sys::signal::Signal;

/// The user and the group that own nothing.
const NOBODY: u32 = 65534;

/// Starts during which another user knocks.
const STARTS: usize = 10;

/// How long a process that knocks goes on when nobody tells it to stop.
const KNOCKING: Duration = Duration::from_secs(60);

/// (e) A socket that cannot be asked is not known to be dead. Nothing is forbidden to the superuser, who becomes another.
#[test]
fn b70_a_socket_that_cannot_be_asked_is_left_alone() {
    daemon(async |world| {
        world.kill().await;
        for lock in ["run/hooksd.sock.lock", "run/hooksd.sock.start"] {
            fs::remove_file(world.at(lock)).unwrap();
        }
        fs::set_permissions(world.socket(), fs::Permissions::from_mode(0o000)).unwrap();
        let before = fs::metadata(world.socket()).unwrap().ino();
        let mut command = world.daemon_command();
        if nix::unistd::geteuid().is_root() {
            fs::set_permissions(world.folder(), fs::Permissions::from_mode(0o755)).unwrap();
            chown(world.at("run"), Some(NOBODY), Some(NOBODY)).unwrap();
            let program = world.at("hooksd");
            fs::copy(command.get_program(), &program).unwrap();
            let plain = command;
            command = Command::new(program);
            command.args(plain.get_args()).env_clear().uid(NOBODY).gid(NOBODY).current_dir("/");
            command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let done = program::run(command).await;
        assert_eq!(done.status, Some(1), "{}", done.stderr);
        assert_eq!(done.stderr.matches("Permission denied").count(), 1, "{}", done.stderr);
        assert_eq!(fs::metadata(world.socket()).unwrap().ino(), before);
        fs::remove_file(world.socket()).unwrap();
    });
}

/// Whatever mask the daemon is started with, folder and socket are the user's alone.
#[test]
fn b72_a_mask_of_zero_opens_nothing() {
    daemon(async |world| {
        world.stop().await;
        fs::remove_dir_all(world.at("run")).unwrap();
        let mut child = with_a_mask_of_zero(world);
        // From the first moment on: the mode is looked at as soon as there is one.
        until("the socket is there", || world.socket().exists()).await;
        let mode = |name: &str| fs::metadata(world.at(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("run"), mode("run/hooksd.sock")), (0o700, 0o600));
        assert_eq!((mode("run/hooksd.sock.lock"), mode("run/hooksd.sock.start")), (0o600, 0o600));
        processes::signal(child.id(), Signal::SIGTERM);
        until("it ends", || child.try_wait().unwrap().is_some()).await;
    });
}

/// Another user is kept out by the modes, and by the daemon itself where somebody has opened them.
#[test]
fn b72_another_user_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: only the superuser can be another user");
        return;
    }
    daemon(async |world| {
        let open = |name: &str, mode| {
            fs::set_permissions(world.at(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        open("", 0o755);
        fs::copy(std::env::current_exe().unwrap(), world.at("probe")).unwrap();
        let as_nobody = async || said(&program::run(nobody(world, "probe")).await.stdout);
        assert_eq!(as_nobody().await, "PermissionDenied");
        open("run", 0o755);
        assert_eq!(as_nobody().await, "PermissionDenied");
        open("run/hooksd.sock", 0o666);
        assert_eq!(as_nobody().await, "closed");
        assert!(world.read("daemon.log").unwrap().contains("refused a connection of another user"));
        world.agent().await;
    });
}

/// Not even while a daemon starts, with a mask of zero, is there a moment in which another user can connect.
#[test]
fn b72_nobody_else_can_connect_during_a_start() {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: only the superuser can be another user");
        return;
    }
    daemon(async |world| {
        world.stop().await;
        for folder in ["", "run"] {
            fs::set_permissions(world.at(folder), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::copy(std::env::current_exe().unwrap(), world.at("probe")).unwrap();
        let knocking = tokio::spawn(program::run(nobody(world, "knock")));
        for _ in 0..STARTS {
            let mut daemon = with_a_mask_of_zero(world);
            until("it listens", || UnixStream::connect(world.socket()).is_ok()).await;
            processes::signal(daemon.id(), Signal::SIGTERM);
            until("it ends", || daemon.try_wait().unwrap().is_some()).await;
        }
        world.write("stop", "");
        assert_eq!(said(&knocking.await.unwrap().stdout), "NotFound, PermissionDenied");
    });
}

fn with_a_mask_of_zero(world: &World) -> Child {
    let plain = world.daemon_command();
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "umask 0; exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// The helper as another user.
fn nobody(world: &World, helper: &str) -> Command {
    let mut command = Command::new(world.at("probe"));
    command.args(["--exact", "users::helper", "--ignored", "--nocapture"]).uid(NOBODY).gid(NOBODY);
    command.env_clear().env("HELPER", helper).env("SOCKET", world.socket()).env("STOP", world.at("stop"));
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What the helper has said.
fn said(stdout: &str) -> String {
    let result = stdout.lines().find_map(|line| line.split_once("probe: "));
    result.unwrap_or_else(|| panic!("{stdout}")).1.to_owned()
}

/// Not a test: what is run as another user.
#[test]
#[ignore = "a helper of other tests"]
fn helper() {
    let Some(socket) = std::env::var_os("SOCKET") else { return };
    let seen = match std::env::var("HELPER").unwrap().as_str() {
        "knock" => knock(Path::new(&socket)),
        _ => probe(&UnixStream::connect(socket)),
    };
    println!("probe: {seen}");
}

fn probe(connected: &std::io::Result<UnixStream>) -> String {
    let mut stream = match connected {
        Ok(stream) => stream,
        Err(error) => return format!("{:?}", error.kind()),
    };
    // It may be closed before or after this is written.
    let _ = stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon/status\"}\n");
    let mut answer = String::new();
    match BufReader::new(stream).read_line(&mut answer) {
        Ok(0) | Err(_) => "closed".to_owned(),
        Ok(_) => "answered".to_owned(),
    }
}

/// All that came of connecting again and again, until there is a file that says to stop.
fn knock(socket: &Path) -> String {
    let stop = std::env::var_os("STOP").unwrap();
    let (start, mut seen) = (Instant::now(), BTreeSet::new());
    while !Path::new(&stop).exists() && start.elapsed() < KNOCKING {
        seen.insert(match UnixStream::connect(socket) {
            Ok(_) => "connected".to_owned(),
            Err(error) => format!("{:?}", error.kind()),
        });
    }
    seen.into_iter().collect::<Vec<_>>().join(", ")
}
