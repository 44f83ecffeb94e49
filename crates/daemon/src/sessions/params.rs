//! What a client says of a session: read, checked, and reduced to what decides which configuration applies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hooksd_json::ReadError;
use hooksd_protocol::methods::{Mode, Plugins, SessionOpen, Trust};

use crate::base::variables::SessionVariables;

/// What a client says of a session, as far as it decides which configuration applies.
#[derive(Debug, Clone)]
pub(crate) struct SessionParams {
    /// The session's working directory: an absolute path.
    pub(crate) cwd: PathBuf,
    /// Whether a person is there to be asked.
    pub(crate) mode: Mode,
    /// The trust that the client gives for this session alone.
    pub(crate) trust: Option<Trust>,
    /// The environment that the client has sent; without one, the daemon's own applies (D14).
    pub(crate) env: Option<Arc<SessionVariables>>,
    /// The plugins whose hooks the session wants.
    pub(crate) plugins: Option<Plugins>,
}

/// A request for a session whose fields were checked.
#[derive(Debug)]
pub(crate) struct Opening {
    /// What the client has sent, without its environment.
    pub(crate) open: SessionOpen,
    /// The environment that the client has sent, if it has.
    env: Option<Arc<SessionVariables>>,
}

impl Opening {
    /// Checks what a client says of a session.
    ///
    /// # Errors
    /// What is wrong with which field.
    pub(crate) fn new(mut open: SessionOpen) -> Result<Opening, ReadError> {
        check_open(&open)?;
        let env = open.env.take().map(|env| Arc::new(SessionVariables::sent(env)));
        Ok(Opening { open, env })
    }

    /// What decides which configuration applies.
    pub(crate) fn params(&self) -> SessionParams {
        SessionParams {
            cwd: PathBuf::from(&self.open.cwd),
            mode: self.open.mode,
            trust: self.open.trust.clone(),
            env: self.env.clone(),
            plugins: self.open.plugins.clone(),
        }
    }
}

/// Checks what a request says of a session, as far as types do not.
fn check_open(open: &SessionOpen) -> Result<(), ReadError> {
    hooksd_protocol::invocation::check_cwd(&open.cwd)?;
    check_env(open.env.as_ref())?;
    check_trust(open.trust.as_ref())
}

/// The longest variable of a session's environment, with name and `=`. Bytes. The kernel takes 128 KiB with the NUL
/// that ends it (execve(2), MAX_ARG_STRLEN); one that is longer would keep every handler from starting.
const MAX_VARIABLE: usize = 128 * 1024 - 1;

/// The largest environment of a session. Bytes. The kernel's limit for it is a quarter of the stack's, 2 MiB as a
/// rule, arguments included.
const MAX_ENVIRONMENT: usize = 1024 * 1024;

pub(crate) fn check_env(env: Option<&BTreeMap<String, String>>) -> Result<(), ReadError> {
    let mut total = 0;
    for (name, value) in env.into_iter().flatten() {
        let length = name.len() + 1 + value.len();
        if length > MAX_VARIABLE {
            let message = format!(
                "is {length} bytes long with its name; no process can have more than {MAX_VARIABLE}: leave it out"
            );
            return Err(ReadError::new(format!("env.{name}"), message));
        }
        total += length + 1;
    }
    if total > MAX_ENVIRONMENT {
        let message =
            format!("is {total} bytes long; the limit is {MAX_ENVIRONMENT}: send what handlers need");
        return Err(ReadError::new("env", message));
    }
    Ok(())
}

pub(crate) fn check_trust(trust: Option<&Trust>) -> Result<(), ReadError> {
    let Some(Trust::Fingerprint(grant)) = trust else { return Ok(()) };
    let digits = &grant.fingerprint;
    if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    {
        return Ok(());
    }
    Err(ReadError::new("trust.fingerprint", "expected a SHA-256 in 64 lowercase hexadecimal digits"))
}
