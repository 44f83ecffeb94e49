//! The id of an action: agents deliver one action twice (two events for it, or two configuration files that name the
//! same command), and the daemon answers the second delivery with the first's decision.
//!
//! Guarantee: the id covers the whole content, so that the same id never stands for two contents (D21), and whatever
//! may rightly happen again (a stop, a prompt) has none.

use hooksd_protocol::event::EventName;
use uuid::Uuid;

use crate::dialect::{Dialect, Identity};
use crate::rewrite::{Member, text};

/// How long two events of one turn with the same content are one action, for agents that name no calls. Seconds.
/// Longer than a guard takes, shorter than an agent needs to do the same again on purpose.
pub(crate) const TURN_SECONDS: u64 = 20;

/// What makes our ids ours. Chosen at random.
const NAMESPACE: Uuid = Uuid::from_u128(0x8d1c_6f0e_52a4_4b1f_9a37_1f6b_e0c4_d2b5);

pub(crate) fn invocation_id(
    dialect: &Dialect,
    event: EventName,
    members: &[Member],
    payload: &str,
    now: u64,
) -> Option<Uuid> {
    if !event.is_tool_event() {
        return None;
    }
    let member = |name: &str| {
        let (_, raw) = members.iter().find(|(known, _)| known == name)?;
        text(raw).filter(|value| !value.is_empty())
    };
    let mark = match dialect.identity {
        Identity::Call(names) => names.iter().find_map(|name| member(name))?,
        Identity::Turn(name) => format!("{}/{}", member(name)?, now / TURN_SECONDS),
        Identity::None => return None,
    };
    // The agent's name is left out: two that read one file fire the same event twice.
    let name = format!("{}\0{mark}\0{payload}", member("session_id")?);
    Some(Uuid::new_v5(&NAMESPACE, name.as_bytes()))
}
