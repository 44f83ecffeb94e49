//! The runner can fail.
use crate::vector::{Checked, Held};
use crate::world::World;
pub(crate) async fn check(_world: &World) -> Checked { Ok(Held::AsRecorded) }
