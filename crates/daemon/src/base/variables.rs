//! The variables of a session and what is made of them. Made once for all sessions that share them: an agent that calls
//! once an event sends the same ones every time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::OnceLock;

use hooksd_engine::environment::is_secret;
use hooksd_engine::redact::Redactor;

/// The variable that says how many hooks deep an agent runs (D12).
pub(crate) const DEPTH_VARIABLE: &str = "HOOKSD_DEPTH";

/// What handlers get from hooksd, in this order; a session's own values never reach them.
pub(crate) const OWN_VARIABLES: [&str; 7] = [
    "HOOKSD_SOCKET",
    "HOOKSD_SESSION",
    "HOOKSD_INVOCATION",
    DEPTH_VARIABLE,
    "CLAUDE_PROJECT_DIR",
    "DEEPAGENTS_PROJECT_DIR",
    "HOOKSD_LIFECYCLE",
];

/// At this depth no handlers run: hooks that start agents that have hooks must end somewhere (D12). Levels.
pub(crate) const MAX_DEPTH: u32 = 3;

/// The variables of a session, each name once, and what is made of them when it is needed.
#[derive(Debug)]
pub struct SessionVariables {
    list: Vec<(OsString, OsString)>,
    depth: u32,
    /// The variables that handlers inherit: without secrets and without ours. Made when the first handler runs.
    inherited: OnceLock<Vec<(OsString, OsString)>>,
    /// Takes the secrets out of texts. Made when the first text is written down.
    redactor: OnceLock<Redactor>,
}

/// When a name comes twice, its last value counts.
impl FromIterator<(OsString, OsString)> for SessionVariables {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(pairs: I) -> SessionVariables {
        let once: BTreeMap<OsString, OsString> = pairs.into_iter().collect();
        SessionVariables::new(once.into_iter().collect())
    }
}

impl SessionVariables {
    /// Takes names and values; each name may come once.
    pub(crate) fn new(list: Vec<(OsString, OsString)>) -> SessionVariables {
        let depth = list.iter().find(|(name, _)| name == DEPTH_VARIABLE);
        let depth = depth.map(|(_, depth)| depth.to_string_lossy());
        // A value that is no number was not set by us: it counts as the limit, so that nobody gets round it that way.
        let depth = depth
            .map_or(0, |depth| if depth.is_empty() { 0 } else { depth.trim().parse().unwrap_or(MAX_DEPTH) });
        SessionVariables { list, depth, inherited: OnceLock::new(), redactor: OnceLock::new() }
    }

    /// Of what a session has sent. A name that the system cannot hold would keep every handler from starting.
    pub(crate) fn sent(env: BTreeMap<String, String>) -> SessionVariables {
        let possible = |name: &str, value: &str| {
            !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
        };
        let env = env.into_iter().filter(|(name, value)| possible(name, value));
        SessionVariables::new(env.map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// All variables, as names and values.
    pub(crate) fn list(&self) -> &[(OsString, OsString)] {
        &self.list
    }

    /// How many hooks deep the session runs.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// The variables that handlers inherit: without secrets and without ours.
    pub(crate) fn inherited(&self) -> &[(OsString, OsString)] {
        self.inherited.get_or_init(|| {
            let kept = |name: &OsString| {
                let name = name.to_string_lossy();
                !is_secret(&name) && !OWN_VARIABLES.contains(&name.as_ref())
            };
            self.list.iter().filter(|(name, _)| kept(name)).cloned().collect()
        })
    }

    /// Takes the secrets out of texts that are written down.
    pub(crate) fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| {
            // Variables that are no text are left out: nothing that is written down could spell them.
            Redactor::new(
                self.list.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?))),
            )
        })
    }
}
