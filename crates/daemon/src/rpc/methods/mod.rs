//! The methods, one file each: from params to work.

pub(super) mod config_check;
pub(super) mod config_explain;
pub(super) mod config_show;
pub(super) mod daemon_reload;
pub(super) mod daemon_settings;
pub(super) mod daemon_shutdown;
pub(super) mod daemon_stats;
pub(super) mod daemon_status;
pub(super) mod events_subscribe;
pub(super) mod events_unsubscribe;
pub(super) mod hook_cancel;
pub(super) mod hook_invoke;
pub(super) mod initialize;
pub(super) mod journal_query;
pub(super) mod legacy_emit;
pub(super) mod rpc_discover;
pub(super) mod session_attach;
pub(super) mod session_close;
pub(super) mod session_list;
pub(super) mod session_open;
pub(super) mod session_reload;
pub(super) mod transcript_append;
pub(super) mod trust_grant;
pub(super) mod trust_list;
pub(super) mod trust_revoke;
pub(super) mod trust_status;
