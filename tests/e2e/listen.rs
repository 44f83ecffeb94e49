//! The socket file: one daemon a path, only its user, a stale file replaced, a live one never stolen.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Barrier;

use hooksd::server::listen::{ListenError, listen};
use hooksd_tests::harness::{quietly, world};
use serde_json::json;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let socket = fs::canonicalize(folder.path()).unwrap().join("run/s.sock");
    (folder, socket)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn is_occupied(found: Result<impl Sized, ListenError>) -> bool {
    matches!(found, Err(ListenError::Occupied { .. }))
}

/// Not even one that another program serves without our lock.
#[test]
fn a_live_socket_is_left_alone() {
    quietly(|| {
        let (_folder, socket) = scratch();
        let (held, _listener) = listen(&socket).unwrap();
        assert!(matches!(listen(&socket), Err(ListenError::AlreadyRunning(path)) if path == socket));
        drop(held);

        let _other = UnixListener::bind(&socket).unwrap();
        assert!(matches!(listen(&socket), Err(ListenError::AlreadyRunning(_))));
        assert!(UnixStream::connect(&socket).is_ok());
    });
}

/// B70: of ten that start at once, exactly one serves.
#[test]
fn of_many_that_start_at_once_one_serves() {
    quietly(|| {
        let (_folder, socket) = scratch();
        for _ in 0..20 {
            let barrier = Barrier::new(10);
            let served: Vec<_> = std::thread::scope(|scope| {
                let starts: Vec<_> = (0..10)
                    .map(|_| {
                        scope.spawn(|| {
                            barrier.wait();
                            listen(&socket)
                        })
                    })
                    .collect();
                starts.into_iter().map(|start| start.join().unwrap()).collect()
            });
            let (serving, refused): (Vec<_>, Vec<_>) = served.into_iter().partition(Result::is_ok);
            assert_eq!(serving.len(), 1);
            assert!(
                refused.iter().all(|error| matches!(error, Err(ListenError::AlreadyRunning(_)))),
                "{refused:?}"
            );
            assert!(UnixStream::connect(&socket).is_ok());
        }
    });
}

/// What is no socket is not ours to remove.
#[test]
fn anything_else_at_the_path_is_left_untouched() {
    quietly(|| {
        let (_folder, socket) = scratch();
        drop(listen(&socket).unwrap());
        fs::write(&socket, "precious").unwrap();
        assert!(is_occupied(listen(&socket)));
        assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
        fs::remove_file(&socket).unwrap();

        fs::create_dir(&socket).unwrap();
        assert!(is_occupied(listen(&socket)));
        assert!(socket.is_dir());
        fs::remove_dir(&socket).unwrap();

        symlink(socket.with_file_name("nowhere"), &socket).unwrap();
        assert!(is_occupied(listen(&socket)));
        assert!(socket.is_symlink());
    });
}

/// B72: a folder that others may write to is refused, and said how to mend.
#[test]
fn a_folder_that_others_can_write_is_refused() {
    quietly(|| {
        let (_folder, socket) = scratch();
        let run = socket.parent().unwrap();
        fs::create_dir(run).unwrap();
        for bad in [0o777, 0o770, 0o722, 0o1777] {
            fs::set_permissions(run, fs::Permissions::from_mode(bad)).unwrap();
            let error = listen(&socket).unwrap_err();
            assert!(matches!(&error, ListenError::Folder { folder, .. } if folder == run));
            assert!(
                error.to_string().contains(&format!("{bad:o}")) && error.to_string().contains("chmod 700"),
                "{error}"
            );
            assert!(!socket.exists());
        }
        fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(listen(&socket).is_ok());

        let (_folder, socket) = scratch();
        fs::write(socket.parent().unwrap(), "a file").unwrap();
        assert!(matches!(listen(&socket), Err(ListenError::Folder { .. })));
    });
}

/// B69: the file that is removed at the end is the one that was made.
#[test]
fn only_the_own_file_is_removed() {
    quietly(|| {
        let (_folder, socket) = scratch();
        let (held, _listener) = listen(&socket).unwrap();
        fs::rename(&socket, socket.with_extension("aside")).unwrap();
        let other = UnixListener::bind(&socket).unwrap();
        drop(held);
        assert!(socket.exists(), "somebody else's socket was removed");
        drop(other);

        let (_folder, socket) = scratch();
        let (held, _listener) = listen(&socket).unwrap();
        fs::remove_file(&socket).unwrap();
        fs::write(&socket, "precious").unwrap();
        drop(held);
        assert_eq!(fs::read_to_string(&socket).unwrap(), "precious");
    });
}

/// The lock is held by a process, not by a file: one that is left over hinders nobody, a link there is not followed.
#[test]
fn a_lock_file_that_is_left_over_hinders_nobody() {
    quietly(|| {
        let (_folder, socket) = scratch();
        let lock = PathBuf::from(format!("{}.lock", socket.display()));
        drop(listen(&socket).unwrap());
        assert!(lock.exists());
        assert_eq!(mode(&lock), 0o600);
        drop(listen(&socket).unwrap());
        fs::remove_file(&lock).unwrap();
        let victim = socket.with_file_name("victim");
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &lock).unwrap();
        assert!(matches!(listen(&socket), Err(ListenError::System { .. })));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    });
}

/// A connection made while the daemon is busy with others is accepted at once.
#[test]
fn connections_are_accepted_while_others_are_served() {
    world(async |world| {
        let mut lines = Vec::new();
        for _ in 0..20 {
            let mut line = world.connect().await;
            let id = line.request("session/list", &json!({})).await;
            lines.push((line, id));
        }
        for (mut line, id) in lines {
            assert_eq!(line.answer(id).await, Ok(json!({ "sessions": [] })));
        }
    });
}
