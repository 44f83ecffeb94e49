//! terminal: which escape sequences pass.

use hooksd_engine::terminal::is_allowed;

use crate::vector::{Checked, Held, Vector};

pub(crate) fn check(vector: &Vector) -> Checked {
    if vector.decision().is_some() {
        return vector.no_rule();
    }
    let sequence = vector.input().need("sequence")?.str()?;
    let expected = vector.expect().need("valid")?.bool().ok_or("valid is no boolean")?;
    match is_allowed(sequence) {
        got if got == expected => Ok(Held::AsRecorded),
        got => Err(format!("{sequence:?}: expected {expected}, got {got}")),
    }
}
