//! transport: requests, interrupts and responses as they are read, and requests fulfilled by the real daemon.

mod fulfil;
mod read;

use crate::vector::{Checked, Vector};
use crate::world::World;

pub(crate) async fn check(world: &World, vector: &Vector) -> Checked {
    match vector.input().need("kind")?.str()? {
        "request" => read::request(vector),
        "interrupt" => read::interrupt(vector),
        "response" => read::response(vector),
        "fulfil" => fulfil::check(world, vector).await,
        kind => Err(format!("unknown kind {kind:?}")),
    }
}
