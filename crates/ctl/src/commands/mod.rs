//! One file a command.

pub(crate) mod agents;
pub(crate) mod check;
pub(crate) mod conformance;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod invoke;
pub(crate) mod kill;
pub(crate) mod log;
pub(crate) mod openmetrics;
pub(crate) mod pages;
pub(crate) mod reload;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod restart;
pub(crate) mod service;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod shutdown;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod timeline;
pub(crate) mod top;
pub(crate) mod trust;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hooksd_client::blocking::Client;
use hooksd_client::default_socket;
use hooksd_client::retry::{Begun, insist};
use hooksd_client::start::START_SECONDS;
use hooksd_protocol::socket::check_length;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::input::absolute;
use crate::met::Met;
use crate::print::Printer;

/// How long the daemon may take to answer a question about itself. Seconds.
const QUESTION_SECONDS: u64 = 10;

/// Connects to the daemon, and has one started first if there is none. One of another version is remarked, one of
/// another protocol is an error.
fn connect_or_start(arguments: &Arguments, printer: &mut Printer) -> Result<Client, Failure> {
    let (client, met) = start_and_greet(arguments)?;
    if !met.speaks_ours() {
        return Err(Failure::Foreign(met.difference().unwrap_or_default()));
    }
    if let Some(difference) = met.difference() {
        printer.remark(&difference);
    }
    Ok(client)
}

/// The same, whatever version answers.
fn start_and_greet(arguments: &Arguments) -> Result<(Client, Met), Failure> {
    let deadline = Instant::now() + Duration::from_secs(START_SECONDS);
    let (met, client) = insist(&socket(arguments)?, deadline, Begun::AskOnceMore, Met::greet)?;
    Ok((patient(client), met))
}

/// Connects to the daemon there is: for questions about its life, which must not begin it.
fn connect(arguments: &Arguments) -> Result<Client, Failure> {
    Ok(patient(Client::connect(&socket(arguments)?)?))
}

fn patient(client: Client) -> Client {
    client.with_timeout(Duration::from_secs(QUESTION_SECONDS))
}

fn socket(arguments: &Arguments) -> Result<PathBuf, Failure> {
    let Some(path) = &arguments.socket else { return Ok(default_socket()?) };
    let path = absolute(Some(path))?;
    check_length(&path)?;
    Ok(path)
}
