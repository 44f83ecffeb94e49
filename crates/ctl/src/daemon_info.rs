//! What the daemon that answers says of itself, whatever version it is (B73).

use hooksd_client::ClientError;
use hooksd_client::blocking::Client;
use hooksd_protocol::methods::{ClientInfo, Initialize, PROTOCOL_VERSION};
use serde_json::Value;

/// This program's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What this program's daemon calls its build.
const BUILD: &str = env!("HOOKSD_BUILD_ID");

/// What a daemon says of itself. Any of it may be missing, from a version that does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DaemonInfo {
    pub(crate) version: Option<String>,
    build: Option<String>,
    protocol: Option<u64>,
}

impl DaemonInfo {
    /// Asks the daemon who it is. One that does not know the question is of an unknown version, and no error.
    pub(crate) fn greet(client: &mut Client) -> Result<DaemonInfo, ClientError> {
        let own =
            ClientInfo { name: "hooksctl".to_owned(), version: Some(VERSION.to_owned()), observer: false };
        let greeting = Initialize { client: Some(own), protocol_version: None };
        match client.call_raw("initialize", &greeting) {
            Ok(raw) => Ok(DaemonInfo::read(&serde_json::from_str(&raw).unwrap_or_default())),
            Err(ClientError::Refused(_) | ClientError::BadAnswer(_)) => Ok(DaemonInfo::default()),
            Err(error) => Err(error),
        }
    }

    /// From the answer to `initialize` or `daemon/status`.
    pub(crate) fn read(answer: &Value) -> DaemonInfo {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
        DaemonInfo {
            version: text("version"),
            build: text("build"),
            protocol: answer.get("protocol_version").and_then(Value::as_u64),
        }
    }

    /// Whether it speaks this program's protocol.
    pub(crate) fn speaks_ours(&self) -> bool {
        self.protocol == Some(u64::from(PROTOCOL_VERSION))
    }

    /// `hooksd 0.1.0 (protocol 1)`
    pub(crate) fn name(&self) -> String {
        let version = self.version.as_deref().unwrap_or("of an unknown version");
        let protocol = match self.protocol {
            Some(protocol) => format!("protocol {protocol}"),
            None => "an unknown protocol".to_owned(),
        };
        format!("hooksd {version} ({protocol})")
    }

    /// How it differs from the daemon that this program came with, and what to do; `None` when it is that one.
    pub(crate) fn difference(&self) -> Option<String> {
        let same_version = self.version.as_deref() == Some(VERSION);
        if same_version && self.speaks_ours() && self.build.as_deref() == Some(BUILD) {
            return None;
        }
        let build = match (same_version, &self.build) {
            (true, Some(build)) => format!(", build {build} instead of {BUILD}"),
            _ => String::new(),
        };
        Some(format!(
            "{} is running, this is hooksctl {VERSION} (protocol {PROTOCOL_VERSION}){build}: `hooksctl restart` \
             replaces it by the one beside hooksctl",
            self.name()
        ))
    }
}
