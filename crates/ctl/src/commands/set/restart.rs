//! `hooksctl restart`: what runs gets its time, then the daemon that came with this program takes over.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use hooksd_client::ClientError;
use serde::Serialize;

use crate::arguments::{Arguments, Shutdown};
use crate::connect::{connect, start_and_greet};
use crate::daemon_info::DaemonInfo;
use crate::daemon_process::{DaemonProcess, stop};
use crate::failure::Failure;
use crate::print::{Printer, safe};

/// How long the old daemon may take beyond the time its running events have. Seconds: it kills and cleans up then.
const END_SECONDS: u64 = 20;

/// What was done.
#[derive(Serialize)]
struct Restarted {
    /// The version that ran; null when none did, or it did not say.
    replaced: Option<String>,
    /// The version that runs.
    version: Option<String>,
    /// Its process.
    pid: Option<u32>,
}

pub(crate) fn run(
    arguments: &Arguments,
    shutdown: &Shutdown,
    printer: &mut Printer,
) -> Result<ExitCode, Failure> {
    let before = match connect(arguments) {
        Ok(mut client) => {
            let info = DaemonInfo::greet(&mut client)?;
            stop(&mut client, shutdown.drain)?;
            let longest = Duration::from_secs(shutdown.drain.unwrap_or(0).min(600) + END_SECONDS);
            if !client.wait_closed(Instant::now() + longest) {
                return Err(Failure::Foreign(format!(
                    "{} was told to stop and has not within {} s; no other was started",
                    info.name(),
                    longest.as_secs()
                )));
            }
            Some(info)
        }
        Err(Failure::Client(ClientError::NotRunning { .. })) => None,
        Err(failure) => return Err(failure),
    };
    let (mut client, now) = start_and_greet(arguments)?;
    let pid = DaemonProcess::of(&mut client).map(|process| process.pid);
    let done = Restarted {
        replaced: before.as_ref().and_then(|info| info.version.clone()),
        version: now.version.clone(),
        pid,
    };
    printer.result(&done, |lines| {
        let replaced = match &before {
            Some(info) => format!("{} has stopped", info.name()),
            None => "no daemon was running".to_owned(),
        };
        let process = pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
        lines.push(format!("{}; {} is running{process}", safe(&replaced), safe(&now.name())));
    })
}
