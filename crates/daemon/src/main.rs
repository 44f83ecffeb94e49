//! The `hooksd` program.
#![forbid(unsafe_code)]

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use hooksd::base::notify;
use hooksd::server::activation;
use hooksd::server::background::{self, Starter};
use hooksd::server::configure::{self, Given, SettingsError};
use hooksd::server::listen::{ListenError, listen, listen_in_turn};
use hooksd::{Settings, Shutdown, demo};
use nix::sys::signal::Signal;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tracing_subscriber::EnvFilter;

/// Runs hooks for coding agents: events in over a Unix socket, decisions out.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The socket to listen on; default $HOOKSD_SOCKET, else $XDG_RUNTIME_DIR/hooksd/hooksd.sock
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The folder of the user's hooks.json; default $HOOKSD_CONFIG_DIR, else ~/.deepagents
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Look at hooks.json every second instead of watching its folder: for file systems that tell nothing
    #[arg(long)]
    poll: bool,
    /// Start a daemon in the background, say on standard output when it listens, and end
    #[arg(long, hide = true)]
    background: bool,
    /// Be that daemon
    #[arg(long, hide = true, conflicts_with = "background")]
    in_background: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Play two agent sessions against a daemon on a temporary socket and show what happens
    Demo,
}

/// Exit status when another daemon is running already: nothing is wrong, but it is not this one.
const ALREADY_RUNNING: u8 = 3;

/// Exit status when a setting is wrong, as for a wrong command line.
const WRONG_SETTINGS: u8 = 2;

/// How long the service manager is told that the documents are being looked at. Seconds; longer than reading them takes
/// in a shortage.
const RELOAD_LONGEST: Duration = Duration::from_secs(10);

/// How long a thread that reads files stays without work. One day: where threads run short, those that are there are
/// all there will be, and an idle one costs a few kilobytes.
const BLOCKING_KEEP_ALIVE: Duration = Duration::from_secs(24 * 60 * 60);

/// The most threads that read files and match expressions. Threads. More work waits for one of them.
const MAX_BLOCKING_THREADS: usize = 32;

fn main() -> ExitCode {
    #[cfg(feature = "failpoints")]
    let _faults = fail::FailScenario::setup();
    let arguments = Arguments::parse();
    if arguments.background {
        return match background::start() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Whoever waits for the daemon hears this instead.
                let _ = writeln!(std::io::stdout(), "cannot start the daemon: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let mut starter = match arguments.in_background.then(Starter::leave).transpose() {
        Ok(starter) => starter,
        Err(error) => {
            let _ = writeln!(std::io::stdout(), "cannot put the daemon into the background: {error}");
            return ExitCode::FAILURE;
        }
    };
    match run(arguments, &mut starter) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let reason = reason(&error);
            tracing::error!("{reason}");
            if let Some(starter) = starter {
                starter.failed(&reason);
            }
            let running = matches!(error.downcast_ref(), Some(ListenError::AlreadyRunning(_)));
            match (running, error.is::<SettingsError>()) {
                (true, _) => ExitCode::from(ALREADY_RUNNING),
                (_, true) => ExitCode::from(WRONG_SETTINGS),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// An error with its causes; those that it names itself are said once.
fn reason(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

fn run(arguments: Arguments, starter: &mut Option<Starter>) -> Result<()> {
    let demo = matches!(arguments.command, Some(Command::Demo));
    let (settings, listener) = if demo {
        (None, None)
    } else {
        match activation::take() {
            Ok(Some((path, listener))) => (Some(settle(&arguments, Some(path))), Some(listener)),
            Ok(None) => (Some(settle(&arguments, None)), None),
            Err(error) => (Some(Err(error)), None),
        }
    };
    if let (Some(_), Some(Ok((settings, _)))) = (&starter, &settings) {
        // Without a log the daemon works all the same.
        let _ = background::log_to_file(&settings.config_dir);
    }
    let filter = match &settings {
        Some(Ok((_, log))) => log,
        _ => "error",
    };
    let log = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter)).with_writer(std::io::stderr);
    log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init();
    let settings = settings.transpose()?;
    hooksd_system::seal_descriptors().context("cannot keep inherited descriptors from handlers")?;
    if let Err(error) = hooksd_runner::raise_descriptors() {
        tracing::warn!(%error, "the soft limit of descriptors stays as it is");
    }
    if let Err(error) = hooksd_runner::adopt_orphans() {
        tracing::warn!(%error, "cannot adopt orphans: what handlers leave behind is not reaped here");
    }
    let runtime = runtime()?;
    match settings {
        Some((settings, _)) => serve(&runtime, settings, listener, starter),
        None => runtime.block_on(async {
            let shutdown = Shutdown::default();
            let _signals = watch_signals(shutdown.clone())?;
            demo::play(&mut anstream::stdout(), shutdown).await
        }),
    }
}

fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_keep_alive(BLOCKING_KEEP_ALIVE).max_blocking_threads(MAX_BLOCKING_THREADS);
    let runtime = builder.build().context("cannot start the async runtime")?;
    // One is there from the start: when processes run short, no thread can be made (D5).
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}

/// What the command line, the service manager, the environment and the settings file say.
fn settle(arguments: &Arguments, passed: Option<PathBuf>) -> Result<(Settings, String)> {
    let absolute = |path: &PathBuf| std::path::absolute(path).context("cannot resolve a path");
    configure::settings(Given {
        socket: arguments.socket.as_ref().map(absolute).transpose()?,
        passed,
        config_dir: arguments.config_dir.as_ref().map(absolute).transpose()?,
        poll: arguments.poll,
        on_demand: arguments.in_background,
    })
}

fn serve(
    runtime: &Runtime,
    settings: Settings,
    passed: Option<UnixListener>,
    starter: &mut Option<Starter>,
) -> Result<()> {
    let socket = settings.socket.clone().context("no socket")?;
    let (held, listener) = match passed {
        Some(listener) => (None, listener),
        None => {
            let (held, listener) =
                if starter.is_some() { listen_in_turn(&socket)? } else { listen(&socket)? };
            (Some(held), listener)
        }
    };
    // A daemon must not keep anybody's folder busy, nor notice when its own is removed (B48).
    std::env::set_current_dir("/").context("cannot change to /")?;
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::from_std(listener).context("cannot use the socket")?;
        let shutdown = Shutdown::default();
        let signals = watch_signals(shutdown.clone())?;
        let (activated, config_dir) = (settings.activated, settings.config_dir.display());
        tracing::info!(socket = %socket.display(), %config_dir, activated, "listening");
        for remark in &settings.remarks {
            tracing::warn!("{remark}");
        }
        if let Some(starter) = starter.take() {
            starter.listening();
        }
        notify::ready();
        // A task like those of its connections: they begin on the thread that accepted them.
        let served = tokio::spawn(hooksd::run(listener, settings, shutdown)).await;
        signals.abort();
        served.context("the server was lost")?;
        anyhow::Ok(())
    })?;
    drop(held);
    Ok(())
}

/// TERM and INT stop the daemon, the second one without waiting for running events. HUP has it look at all documents.
/// From here on none of them ends the process by itself, nor does XFSZ: a file that grows beyond the limit of files is
/// an error of that file.
fn watch_signals(shutdown: Shutdown) -> Result<JoinHandle<()>> {
    let watch = |kind| signal(kind).context("signals cannot be watched");
    let mut term = watch(SignalKind::terminate())?;
    let mut interrupt = watch(SignalKind::interrupt())?;
    let mut hangup = watch(SignalKind::hangup())?;
    let too_large = watch(SignalKind::from_raw(Signal::SIGXFSZ as i32))?;
    Ok(tokio::spawn(async move {
        let _too_large = too_large;
        loop {
            tokio::select! {
                _ = term.recv() => shutdown.once_more(),
                _ = interrupt.recv() => shutdown.once_more(),
                _ = hangup.recv() => {
                    tracing::info!("HUP: looking at all documents");
                    notify::reloading();
                    if !shutdown.reload.within(RELOAD_LONGEST).await {
                        tracing::warn!("the documents are still being looked at");
                    }
                    notify::ready();
                }
            }
        }
    }))
}
