//! A lossless JSON reader: what a program only passes on leaves exactly as it came in.
//!
//! It is for programs that stand between others and read JSON they do not own. serde_json's own value type loses key
//! order, the digits of long integers, `NaN` and lone surrogates, and refuses what is nested deeper than 128. Other
//! programs and people produce all of these. [`Value::parse`] reads a text into a [`Value`], which knows where each
//! part stands in the text; [`read`] turns a value into any type that implements serde's `Deserialize`.
//!
//! What a caller may rely on:
//!
//! * Of duplicate keys the last one wins, wherever it stands.
//! * A text may be nested to any depth: nothing here recurses over it.
//! * [`RawJson`] and [`Text`] hold a part of the text as it was spelled, and [`Integer`] holds any number of digits.
//! * `NaN` and `Infinity` are read in [`Dialect::Python`] and nowhere else.
//! * Memory grows with the shallow structure of a text: containers nested deeper than [`RECORD_DEPTH`] are checked at
//!   once, but their members are indexed only when somebody asks for them.
//!
//! ```
//! use hooksd_json::{Dialect, Value};
//!
//! let text = r#"{"size": 1.50, "name": "a\u0062", "size": 2.50}"#;
//! let value = Value::parse(text, Dialect::Strict)?;
//! assert_eq!(value.get("name").and_then(|name| name.as_str()).as_deref(), Some("ab"));
//! assert_eq!(value.get("size").map(|size| size.raw()), Some("2.50"));
//! assert_eq!(value.raw(), text);
//! # Ok::<(), hooksd_json::ParseError>(())
//! ```
#![forbid(unsafe_code)]

mod fields;
mod lenient;
mod number;
mod parse;
pub mod python;
mod raw;
mod reader;
mod value;

pub use fields::field_names;
pub use lenient::{lenient_bool, lenient_float};
pub use number::Integer;
pub use parse::{Dialect, MAX_RECORDED, ParseError, RECORD_DEPTH};
pub use raw::{RawJson, Text};
pub use reader::{ReadError, Reading, read};
pub use value::{Kind, Value};

#[cfg(test)]
mod tests;

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
