//! Why a handler did not start, for people: one line with the program or the folder that is to blame and what
//! to do about it. The kernel's "no such file" alone may mean four different files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use crate::exec_strings::{ExecStrings, SHELL, search_path};
use crate::job::Job;
use crate::limits::{LONGEST_STRING, SHEBANG_BYTES};

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) enum Obstacle {
    /// Neither the cwd nor any fallback can be entered.
    NoFolder,
    /// The folder went away between the look and the spawn.
    FolderVanished,
    /// No program of that name in the search path.
    NotFound,
    /// The search path has only this, which may not be executed.
    Denied(PathBuf),
    /// The kernel refused to make the pipes.
    Pipes(Errno),
    /// The kernel refused to start this file, seen from the daemon.
    Spawn(Errno, PathBuf),
}

/// Whether the system may have it again in a moment.
pub(crate) fn is_shortage(errno: Errno) -> bool {
    [Errno::EAGAIN, Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::ENOBUFS, Errno::ENOSPC]
        .contains(&errno)
}

/// Why the handler did not start, in one line.
pub(crate) fn explain(obstacle: &Obstacle, job: &Job, strings: &ExecStrings<'_>, waited: Duration) -> String {
    let name = &strings.name;
    match obstacle {
        Obstacle::NoFolder | Obstacle::FolderVanished => {
            let cwd = &job.template.cwd;
            let state = if cwd.is_dir() {
                "may not be entered"
            } else if cwd.exists() {
                "is not a directory"
            } else {
                "does not exist"
            };
            let others = match job.template.fallback_cwds.as_slice() {
                [] => String::new(),
                others => format!(", nor can it run in {others:?}"),
            };
            format!("no directory to run in: {cwd:?} {state}{others}; create the directory again")
        }
        Obstacle::NotFound if name.is_empty() => {
            "the first word of the argument list is empty: name a program".to_owned()
        }
        Obstacle::NotFound => match search_path(job) {
            Some(path) => {
                format!(
                    "{name:?} was not found in the handler's PATH {path:?}; give its full path or correct PATH"
                )
            }
            None => {
                format!("{name:?} was not found in /bin:/usr/bin, and the handler's PATH is not set; set it")
            }
        },
        Obstacle::Denied(file) => denied(file),
        Obstacle::Pipes(errno) => format!("no pipes for {name:?}: {}", shortage(*errno, waited)),
        Obstacle::Spawn(errno, file) => match *errno {
            Errno::ENOENT | Errno::ENOTDIR => missing(name, file, *errno),
            Errno::EACCES | Errno::EPERM => denied(file),
            Errno::ENOEXEC => format!(
                "{file:?} is not a program this system can run (exec format error): a script needs a first line \
                 like \"#!/bin/sh\""
            ),
            Errno::ETXTBSY => {
                format!("{file:?} is still open for writing (text file busy): finish saving it")
            }
            Errno::E2BIG => too_big(strings),
            Errno::ELOOP => format!("{file:?} leads through too many symbolic links"),
            Errno::ENAMETOOLONG => format!("the path {file:?} is longer than the system allows"),
            errno if is_shortage(errno) => format!("cannot start {name:?}: {}", shortage(errno, waited)),
            errno => format!("cannot start {file:?}: {}", text(errno)),
        },
    }
}

/// Denied: a folder, a file without the x bit, or an interpreter without it.
fn denied(file: &Path) -> String {
    if file.is_dir() {
        return format!("{file:?} is a directory, not a program (permission denied)");
    }
    let executable = access(file, AccessFlags::X_OK).is_ok();
    match interpreter(file).filter(|_| executable) {
        Some(interpreter) => {
            format!("{file:?} needs {interpreter:?}, which may not be executed (permission denied)")
        }
        None => format!("{file:?} may not be executed (permission denied); chmod +x it"),
    }
}

/// Missing: the program itself, its interpreter, or the loader of a binary for another system.
fn missing(name: &str, file: &Path, errno: Errno) -> String {
    if !file.exists() {
        let hint = if name == SHELL { "this system has no shell there" } else { "correct the path" };
        return format!("{file:?} does not exist ({}); {hint}", text(errno));
    }
    match interpreter(file) {
        Some(interpreter) if interpreter.ends_with('\r') => format!(
            "{file:?} has Windows line ends, so its interpreter is {interpreter:?}; save it with LF line ends"
        ),
        Some(interpreter) => {
            format!(
                "{file:?} needs the interpreter {interpreter:?} of its first line, which does not exist; install it"
            )
        }
        None => format!("{file:?} exists, but not the loader it needs: it was built for another system"),
    }
}

/// The program that the first line names, if it names one.
fn interpreter(file: &Path) -> Option<String> {
    if !file.is_file() {
        return None;
    }
    let mut start = Vec::new();
    File::open(file).ok()?.take(SHEBANG_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    line.trim_start_matches([' ', '\t']).split([' ', '\t']).next().map(str::to_owned)
}

fn too_big(strings: &ExecStrings<'_>) -> String {
    let longest = strings.longest();
    if cfg!(target_os = "linux") && longest > LONGEST_STRING {
        return format!(
            "one argument or variable has {longest} bytes, more than the {LONGEST_STRING} that the system \
             allows (argument list too long); put the command into a script file"
        );
    }
    format!(
        "arguments and environment together have {} bytes, more than the system allows (argument list too long, \
         see getconf ARG_MAX); shorten the command or the environment",
        strings.size()
    )
}

fn shortage(errno: Errno, waited: Duration) -> String {
    let cure = match errno {
        Errno::EMFILE => "raise the limit of open files of the daemon (ulimit -n, LimitNOFILE=)",
        Errno::ENFILE => "the whole system is out of open files",
        Errno::EAGAIN => "raise the limit of processes (ulimit -u, TasksMax=)",
        Errno::ENOMEM => "the system is out of memory",
        _ => "try again later",
    };
    format!("{} for {:.1} s; {cure}", text(errno), waited.as_secs_f64())
}

/// What the kernel calls it.
fn text(errno: Errno) -> String {
    std::io::Error::from(errno).to_string()
}
