//! What the daemon was told when it started, and by whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingInfo {
    /// Its name in hooksd.toml, with its section: `journal.max_mb`.
    pub key: String,
    /// Its value, spelled as there.
    pub value: String,
    /// Where the value comes from: `default`, `FILE:LINE`, the variable's name, the option, or `service manager`.
    pub origin: String,
    /// What it is without being set.
    pub default: String,
    /// What it may be.
    pub range: String,
}

/// Result of `daemon/settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonSettings {
    /// The file that would be read at the next start.
    pub file: String,
    /// All settings.
    pub settings: Vec<SettingInfo>,
}
