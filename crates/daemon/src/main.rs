//! The `hooksd` program.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::{Parser, Subcommand};
use hooksd::background::{self, Starter};
use hooksd::listen::{ListenError, listen, listen_in_turn};
use hooksd::{Settings, Shutdown, demo};
use hooksd_protocol::socket::socket_path;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
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

/// How long a thread that reads files stays without work. One day: where threads run short, those that are there are
/// all there will be, and an idle one costs a few kilobytes.
const BLOCKING_KEEP_ALIVE: Duration = Duration::from_secs(24 * 60 * 60);

/// The most threads that read files and match expressions. Threads. More work waits for one of them.
const MAX_BLOCKING_THREADS: usize = 32;

fn main() -> ExitCode {
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
            tracing::error!("{error:#}");
            if let Some(starter) = starter {
                starter.failed(&format!("{error:#}"));
            }
            match error.downcast_ref() {
                Some(ListenError::AlreadyRunning(_)) => ExitCode::from(ALREADY_RUNNING),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run(arguments: Arguments, starter: &mut Option<Starter>) -> Result<()> {
    let demo = matches!(arguments.command, Some(Command::Demo));
    let settings = if demo { None } else { Some(settings(&arguments)) };
    if let (Some(_), Some(Ok(settings))) = (&starter, &settings) {
        // Without a log the daemon works all the same.
        let _ = background::log_to_file(&settings.config_dir);
    }
    let filter = EnvFilter::try_from_env("HOOKSD_LOG")
        .unwrap_or_else(|_| EnvFilter::new(if demo { "error" } else { "info" }));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init();
    let settings = settings.transpose()?;
    hooksd_runner::seal_descriptors().context("cannot keep inherited descriptors from handlers")?;
    if let Err(error) = hooksd_runner::adopt_orphans() {
        tracing::warn!(%error, "cannot adopt orphans: what handlers leave behind is not reaped here");
    }
    let runtime = runtime()?;
    match settings {
        Some(settings) => serve(&runtime, settings, starter),
        None => runtime.block_on(demo::play(&mut anstream::stdout())),
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

/// What the command line and the environment say.
fn settings(arguments: &Arguments) -> Result<Settings> {
    let absolute = |path: &PathBuf| std::path::absolute(path).context("cannot resolve a path");
    let socket = match &arguments.socket {
        Some(path) => absolute(path)?,
        None => socket_path(&|name| std::env::var_os(name))?,
    };
    let settings = match (Settings::from_environment(), &arguments.config_dir) {
        (Some(settings), Some(folder)) => Settings { config_dir: absolute(folder)?, ..settings },
        (Some(settings), None) => settings,
        (None, Some(folder)) => Settings::new(absolute(folder)?),
        (None, None) => {
            return Err(anyhow!("no config dir: set HOME or HOOKSD_CONFIG_DIR, or use --config-dir"));
        }
    };
    Ok(Settings { socket: Some(socket), poll: arguments.poll, ..settings })
}

fn serve(runtime: &Runtime, settings: Settings, starter: &mut Option<Starter>) -> Result<()> {
    let socket = settings.socket.clone().context("no socket")?;
    let (held, listener) = if starter.is_some() { listen_in_turn(&socket)? } else { listen(&socket)? };
    // A daemon must not keep anybody's folder busy, nor notice when its own is removed (B48).
    std::env::set_current_dir("/").context("cannot change to /")?;
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::from_std(listener).context("cannot use the socket")?;
        let shutdown = Shutdown::default();
        let signals = tokio::spawn(watch_signals(shutdown.clone()));
        tracing::info!(socket = %socket.display(), config_dir = %settings.config_dir.display(), "listening");
        if let Some(starter) = starter.take() {
            starter.listening();
        }
        hooksd::run(listener, settings, shutdown).await;
        signals.abort();
        anyhow::Ok(())
    })?;
    drop(held);
    Ok(())
}

/// TERM and INT stop the daemon, the second one without waiting for running events. HUP is heard and changes nothing: sessions reload when they ask to.
async fn watch_signals(shutdown: Shutdown) {
    let (Ok(mut term), Ok(mut interrupt), Ok(mut hangup)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()), signal(SignalKind::hangup()))
    else {
        tracing::error!("signals cannot be watched; stop the daemon with `hooksctl shutdown`");
        return;
    };
    loop {
        tokio::select! {
            _ = term.recv() => shutdown.once_more(),
            _ = interrupt.recv() => shutdown.once_more(),
            _ = hangup.recv() => tracing::info!("HUP: each session reads its documents anew at session/reload"),
        }
    }
}
