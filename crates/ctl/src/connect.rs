//! Connections to the daemon, which is started first where the command wants one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hooksd_client::blocking::Client;
use hooksd_client::default_socket;
use hooksd_client::retry::{Begun, insist};
use hooksd_client::start::START_SECONDS;
use hooksd_protocol::socket::check_length;

use crate::arguments::Arguments;
use crate::daemon_info::DaemonInfo;
use crate::failure::Failure;
use crate::input::absolute;
use crate::print::Printer;

/// How long the daemon may take to answer a question about itself. Seconds.
const QUESTION_SECONDS: u64 = 10;

/// Connects to the daemon, and has one started first if there is none. One of another version is remarked, one of
/// another protocol is an error.
pub(crate) fn connect_or_start(arguments: &Arguments, printer: &mut Printer) -> Result<Client, Failure> {
    let (client, info) = start_and_greet(arguments)?;
    if !info.speaks_ours() {
        return Err(Failure::Foreign(info.difference().unwrap_or_default()));
    }
    if let Some(difference) = info.difference() {
        printer.remark(&difference);
    }
    Ok(client)
}

/// The same, whatever version answers.
pub(crate) fn start_and_greet(arguments: &Arguments) -> Result<(Client, DaemonInfo), Failure> {
    let deadline = Instant::now() + Duration::from_secs(START_SECONDS);
    let (info, client) = insist(&socket(arguments)?, deadline, Begun::AskOnceMore, DaemonInfo::greet)?;
    Ok((patient(client), info))
}

/// Connects to the daemon there is: for questions about its life, which must not begin it.
pub(crate) fn connect(arguments: &Arguments) -> Result<Client, Failure> {
    Ok(patient(Client::connect(&socket(arguments)?)?))
}

pub(crate) fn patient(client: Client) -> Client {
    client.with_timeout(Duration::from_secs(QUESTION_SECONDS))
}

pub(crate) fn socket(arguments: &Arguments) -> Result<PathBuf, Failure> {
    let Some(path) = &arguments.socket else { return Ok(default_socket()?) };
    let path = absolute(Some(path))?;
    check_length(&path)?;
    Ok(path)
}
