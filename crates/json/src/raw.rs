//! JSON that is only passed on, held as the text that it came as.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use crate::value::decode;

/// The newtype name by which [`RawJson`] asks the reader for a value's own text instead of its content.
pub(crate) const RAW_TOKEN: &str = "$hooksd_json::raw";
/// The newtype name by which [`Text`] asks the reader for a string's own token instead of its content.
pub(crate) const TEXT_TOKEN: &str = "$hooksd_json::text";

/// Any JSON value as it was spelled, with key order, digits and escapes untouched. A clone shares the text.
///
/// As a field of a type it is filled by [`read`](crate::read()) and by no other deserializer: one that has no access
/// to the text would have to spell the value anew.
///
/// ```
/// use hooksd_json::RawJson;
///
/// let raw = RawJson::new(r#"{"b": 1.0, "a": 1e2}"#.to_owned())?;
/// assert_eq!(serde_json::to_string(&raw)?, r#"{"b": 1.0, "a": 1e2}"#);
/// assert_eq!(RawJson::string("a\"b").get(), r#""a\"b""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// Takes `text` as one JSON value.
    ///
    /// # Errors
    /// serde_json's error when `text` is not one value of RFC 8259.
    pub fn new(text: String) -> Result<RawJson, serde_json::Error> {
        RawValue::from_string(text).map(|raw| RawJson(raw.into()))
    }

    /// The JSON string with this content.
    #[must_use]
    pub fn string(content: &str) -> RawJson {
        // A string always serializes; the fallback is never taken.
        let token = serde_json::to_string(content).unwrap_or_else(|_| "\"\"".to_owned());
        RawJson::new(token).unwrap_or_else(|_| RawJson::null())
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> RawJson {
        RawJson(RawValue::NULL.to_owned().into())
    }

    /// The text of the value, without white space around it.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &RawJson) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

struct RawVisitor(&'static str);

impl<'de> de::Visitor<'de> for RawVisitor {
    type Value = RawJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_string<E: de::Error>(self, raw: String) -> Result<RawJson, E> {
        RawJson::new(raw).map_err(|_| E::custom("a value that is not JSON"))
    }

    fn visit_str<E: de::Error>(self, raw: &str) -> Result<RawJson, E> {
        self.visit_string(raw.to_owned())
    }

    // Other deserializers, serde's own buffers among them, come here. They are refused: they could only spell the
    // value anew.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, _: D) -> Result<RawJson, D::Error> {
        Err(de::Error::custom("raw JSON can only be read by hooksd_json::read"))
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawJson, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_TOKEN, RawVisitor("a JSON value"))
    }
}

impl JsonSchema for RawJson {
    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "Any JSON value; passed on as it was spelled." })
    }
}

/// A JSON string that is held as it was spelled, with its escapes and its surrogates without a partner.
///
/// ```
/// use hooksd_json::{Dialect, Reading, Text, Value, read};
///
/// let value = Value::parse(r#""a\u0062\ud800""#, Dialect::Strict)?;
/// let text: Text = read(&value, Reading::Strict)?;
/// assert_eq!(text.raw(), r#""a\u0062\ud800""#);
/// assert_eq!(text.decoded(), "ab\u{fffd}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Text(RawJson);

impl Text {
    /// The string with this content.
    #[must_use]
    pub fn new(content: &str) -> Text {
        Text(RawJson::string(content))
    }

    /// The JSON string token, with its quotes.
    #[must_use]
    pub fn raw(&self) -> &str {
        self.0.get()
    }

    /// The content of the string. A surrogate without a partner is U+FFFD in it.
    #[must_use]
    pub fn decoded(&self) -> Cow<'_, str> {
        decode(self.0.get()).0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::new("")
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_newtype_struct(TEXT_TOKEN, RawVisitor("a string")).map(Text)
    }
}

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
