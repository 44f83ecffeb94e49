//! JSON as this product needs it: nothing that is only passed on is re-encoded (D4).
//!
//! serde_json's own value type loses key order, 30-digit integers, `NaN`, lone surrogates and anything nested
//! deeper than 128. Handlers, agents and people produce all of these, and a parse error must not skip a guard.
//! This module reads text into a [`Value`] that knows where each part stands in the text:
//!
//! * duplicate keys: the last wins, whatever the position;
//! * any depth, without recursion (a parser that recurses is a crash on demand);
//! * numbers keep their spelling; `NaN` and `Infinity` only in [`Dialect::Python`];
//! * memory grows with the *shallow* structure: containers below [`RECORD_DEPTH`] are checked but only opened
//!   when somebody asks for their members.
//!
//! [`read`] turns a value into a type by serde, strictly for requests and leniently for what people write (D23).

mod lenient;
mod number;
mod parse;
pub mod python;
mod raw;
mod reader;
mod value;

pub use lenient::{lenient_bool, lenient_float};
pub use number::Integer;
pub use parse::{Dialect, MAX_RECORDED, ParseError, RECORD_DEPTH};
pub use raw::{RawJson, Text};
pub use reader::{ReadError, Reading, read};
pub use value::{Kind, Value};

#[cfg(test)]
mod tests;
