//! One file a command.

pub(crate) mod check;
pub(crate) mod hook;
pub(crate) mod invoke;
pub(crate) mod show;
pub(crate) mod shutdown;
pub(crate) mod status;
pub(crate) mod trust;

use std::time::Duration;

use hooksd_client::blocking::Client;
use hooksd_client::default_socket;
use hooksd_protocol::socket::check_length;

use crate::arguments::Arguments;
use crate::failure::Failure;

/// How long the daemon may take to answer a question about itself. Seconds.
const QUESTION_SECONDS: u64 = 10;

/// Connects to the daemon for questions about itself.
fn connect(arguments: &Arguments) -> Result<Client, Failure> {
    let path = match &arguments.socket {
        Some(path) => {
            check_length(path)?;
            path.clone()
        }
        None => default_socket()?,
    };
    Ok(Client::connect(&path)?.with_timeout(Duration::from_secs(QUESTION_SECONDS)))
}
