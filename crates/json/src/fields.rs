//! The names of a struct's fields, as serde's derive knows them.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// The names of the fields that `T` is read from, in the order of its declaration; none for what is no struct, and for
/// a struct with a flattened field. A list of known fields made of this is true whatever is added to the struct.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Options {
///     deadline: Option<f64>,
///     #[serde(rename = "runId")]
///     run_id: Option<String>,
/// }
/// assert_eq!(hooksd_json::field_names::<Options>(), ["deadline", "runId"]);
/// ```
#[must_use]
pub fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It reads nothing and always fails: the names are asked for before that.
    let _ = T::deserialize(Names(&mut names));
    names
}

/// Notes the fields that a struct asks for, and gives none.
struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("only names are asked for"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
