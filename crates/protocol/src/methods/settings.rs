//! The settings with which the daemon has started, and where each comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingInfo {
    /// The name of the setting in hooksd.toml, with its section: `journal.max_mb`.
    pub key: String,
    /// The value of the setting, spelled as in hooksd.toml.
    pub value: String,
    /// Where the value comes from: `default`, `FILE:LINE`, the name of a variable, an option, or `service manager`.
    pub origin: String,
    /// The value that the setting has when nobody sets it.
    pub default: String,
    /// Which values the setting may have.
    pub range: String,
}

/// Result of `daemon/settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonSettings {
    /// The path of the settings file that the next start would read.
    pub file: String,
    /// All settings.
    pub settings: Vec<SettingInfo>,
}
