//! A world's server: inside the test's process or the real program; its start, its end, and what it must not leave.

use std::ffi::OsStr;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::{Arc, PoisonError};

use hooksd::server::listen::{Socket, listen};
use hooksd::{Settings, Shutdown};
use nix::sys::signal::Signal;
use serde_json::json;
use tokio::task::JoinHandle;

use super::line::Line;
use super::processes::KEPT_BY_JOURNAL;
use super::wait::{eventually, until};
use super::world::World;
use super::{processes, program};

/// A server that runs.
pub(super) enum Server {
    Inside { shutdown: Shutdown, task: JoinHandle<()>, held: Socket },
    Program { child: Child, descriptors: usize },
}

impl World {
    /// Starts the server. Every world has one already; this is for tests that have stopped theirs.
    pub async fn start(&self) {
        let server = if self.setup.program { self.start_program().await } else { self.start_inside() };
        *self.server() = Some(server);
    }

    fn server(&self) -> std::sync::MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_inside(&self) -> Server {
        let (held, listener) = listen(&self.socket()).unwrap();
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        let environment = self.environment().into_iter().map(|(name, value)| (name.into(), value.into()));
        let settings = Settings {
            home: Some(self.at("home")),
            socket: Some(self.socket()),
            environment: Arc::new(environment.collect()),
            drain: self.setup.drain,
            poll: self.setup.poll,
            warm: self.setup.warm.clone(),
            journal: self.setup.journal.clone(),
            ..Settings::new(self.at(&self.setup.config_dir))
        };
        let shutdown = Shutdown::default();
        let task = tokio::spawn(hooksd::run(listener, settings, shutdown.clone()));
        Server::Inside { shutdown, task, held }
    }

    /// The command that starts this world's daemon.
    #[must_use]
    pub fn daemon_command(&self) -> std::process::Command {
        let environment = self.environment();
        let environment: Vec<(&str, &OsStr)> =
            environment.iter().map(|(name, value)| (name.as_str(), OsStr::new(value))).collect();
        let mut command = match self.setup.limits.as_str() {
            "" => program::command("hooksd", &environment),
            limits => program::under(limits, "hooksd", &environment),
        };
        command.arg("--socket").arg(self.socket()).arg("--config-dir").arg(self.at(&self.setup.config_dir));
        command
    }

    async fn start_program(&self) -> Server {
        let mut command = self.daemon_command();
        let log = fs::OpenOptions::new().create(true).append(true).open(self.at("daemon.log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let pid = child.id();
        let mut server = Server::Program { child, descriptors: 0 };
        let first = eventually("the daemon listens", async || {
            let Server::Program { child, .. } = &mut server else { return None };
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "the daemon has ended: {:?}", self.read("daemon.log"));
            tokio::net::UnixStream::connect(self.socket()).await.ok()
        });
        drop(first.await);
        self.only_own_connection().await;
        // With one connection, as at the end.
        let _open = self.only_own_connection().await;
        if let Server::Program { descriptors, .. } = &mut server {
            *descriptors = processes::descriptors(pid);
        }
        server
    }

    /// A connection, when the daemon has noticed that all others are gone and no handler runs.
    async fn only_own_connection(&self) -> Line {
        let mut line = self.connect().await;
        eventually("the daemon is idle", async || {
            let status = line.call("daemon/status", json!({})).await.expect("a status");
            // Its database is open, or there is none: the descriptors that are counted are all there.
            let journal = &status["journal"];
            let settled =
                journal["enabled"] == false || journal["ready"] == true || !journal["problem"].is_null();
            (status["running_handlers"] == 0 && status["connections"] == 1 && settled).then_some(())
        })
        .await;
        line
    }

    /// The process of the real program.
    ///
    /// # Panics
    /// When the server is not one.
    #[must_use]
    pub fn pid(&self) -> u32 {
        match &*self.server() {
            Some(Server::Program { child, .. }) => child.id(),
            _ => panic!("the server is not the real program, or was stopped"),
        }
    }

    /// Living handlers of this world and what they have started: their command lines.
    #[must_use]
    pub fn alive(&self) -> Vec<String> {
        self.living().into_iter().map(|(_, line)| line).collect()
    }

    fn living(&self) -> Vec<(u32, String)> {
        let daemon = match &*self.server() {
            Some(Server::Program { child, .. }) => Some(child.id()),
            _ => None,
        };
        processes::marked(&self.mark, daemon)
    }

    /// Kills handlers and helpers that are left on purpose.
    pub fn kill_helpers(&self) {
        for (pid, _) in self.living() {
            processes::signal(pid, Signal::SIGKILL);
        }
    }

    /// Waits until no handler and no helper is left.
    pub async fn nothing_runs(&self) {
        until("no handler is left", || self.alive().is_empty()).await;
    }

    /// Waits until a file is there.
    pub async fn appears(&self, name: &str) {
        until(&format!("{name} appears"), || self.at(name).exists()).await;
    }

    /// Tells the server to stop, by its token or by SIGTERM.
    pub fn tell_to_stop(&self) {
        match &*self.server() {
            Some(Server::Inside { shutdown, .. }) => shutdown.once_more(),
            Some(Server::Program { child, .. }) => processes::signal(child.id(), Signal::SIGTERM),
            None => panic!("the server was stopped already"),
        }
    }

    /// Waits until the server has ended; the exit status of the real program.
    pub async fn ended(&self) -> Option<i32> {
        let server = self.server().take();
        match server {
            Some(Server::Inside { task, held, .. }) => {
                task.await.expect("the server ends without a panic");
                drop(held);
                None
            }
            Some(Server::Program { mut child, .. }) => {
                let status = eventually("the daemon ends", async || child.try_wait().unwrap()).await;
                status.code()
            }
            None => panic!("the server was stopped already"),
        }
    }

    /// Stops the server and waits for its end.
    pub async fn stop(&self) -> Option<i32> {
        self.tell_to_stop();
        self.ended().await
    }

    /// Kills the real program, as the system would.
    pub async fn kill(&self) {
        processes::signal(self.pid(), Signal::SIGKILL);
        self.ended().await;
    }

    /// What holds at the end of every test.
    pub(super) async fn finish(&self) {
        let program = match &*self.server() {
            None => None,
            Some(Server::Inside { .. }) => Some(None),
            Some(Server::Program { child, descriptors }) => Some(Some((child.id(), *descriptors))),
        };
        if let Some(program) = program {
            let open = self.only_own_connection().await;
            if let Some((pid, before)) = program {
                until("no child is left", || processes::children(pid).is_empty()).await;
                until("no descriptor is left", || processes::descriptors(pid) <= before + KEPT_BY_JOURNAL)
                    .await;
            }
            drop(open);
            let status = self.stop().await;
            assert!(program.is_none() || status == Some(0), "the daemon ended with {status:?}");
            assert!(!self.socket().exists(), "the socket file is left");
        }
        self.nothing_runs().await;
        let log = self.read("daemon.log").unwrap_or_default();
        assert!(!log.contains("panicked"), "{log}");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Only after a failure is there anything to do.
        let server = self.server().take();
        if let Some(Server::Program { mut child, .. }) = server {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.kill_helpers();
    }
}
