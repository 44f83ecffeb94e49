//! The id of an action. Agents deliver one action twice, when they fire two events for it or when two configuration
//! files name the same command. The daemon answers the second delivery with the decision on the first, which it knows
//! by the id.
//!
//! Guarantees: an id is made from the whole content, so that it never stands for two contents (D21). What may rightly
//! happen again, such as a stop or a prompt, has no id.

use hooksd_protocol::event::EventName;
use uuid::Uuid;

use crate::dialect::{Dialect, Identity};
use crate::rewrite::{Member, text};

/// For how long two events of one turn with the same content are one action, for agents that give calls no id.
/// Seconds. It is longer than a guard takes, and shorter than an agent needs to do the same again on purpose.
pub(crate) const TURN_SECONDS: u64 = 20;

/// The namespace of the ids that are made here. It was chosen at random.
const NAMESPACE: Uuid = Uuid::from_u128(0x8d1c_6f0e_52a4_4b1f_9a37_1f6b_e0c4_d2b5);

/// The id of the action; `None` when nothing tells it from the next one. `now` is in seconds since 1970.
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
    // The agent's name is no part of the id: two agents that read one configuration file fire the same event twice.
    let name = format!("{}\0{mark}\0{payload}", member("session_id")?);
    Some(Uuid::new_v5(&NAMESPACE, name.as_bytes()))
}
