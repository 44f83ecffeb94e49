//! Reads a value as a type, by way of serde.
//!
//! Guarantees on top of serde's derive: of duplicate keys the last one counts, [`RawJson`](crate::RawJson) and
//! [`Text`](crate::Text) keep their spelling, an [`Integer`] has any size, and an error names the path of the field.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

use crate::lenient::{lenient_bool, lenient_float, lenient_integer};
use crate::number::{INTEGER_TOKEN, Integer};
use crate::raw::{RAW_TOKEN, TEXT_TOKEN};
use crate::value::{Kind, Value};

/// How scalars are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A number has to be a number and a boolean a boolean. This is for what programs write.
    Strict,
    /// A boolean may be spelled as [`lenient_bool`] reads it, and an [`Integer`] as a float or a string without a
    /// fraction. This is for what people write. Python's pydantic reads so in its lax mode.
    Lenient,
}

/// Why a value does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The path of the field, like `event.calls[2].id`. It is empty when the value itself does not fit.
    pub path: String,
    /// What was expected and what was there, in one sentence for people.
    pub message: String,
}

impl ReadError {
    /// An error of the field at this path, which is empty for the value itself.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> ReadError {
        ReadError { path: path.into(), message: message.into() }
    }

    /// The error as somebody sees it who reads the parent: with the parent's name before the path.
    #[must_use]
    pub fn within(mut self, parent: &str) -> ReadError {
        self.path = match self.path.as_str() {
            "" => parent.to_owned(),
            path if path.starts_with('[') => format!("{parent}{path}"),
            path => format!("{parent}.{path}"),
        };
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads `value` as a `T`.
///
/// A struct is read from an object only, never from an array of its fields' values.
///
/// # Errors
/// The path and the reason of the first field that does not fit. The path of a missing or unknown field is that of the
/// field itself.
///
/// ```
/// use hooksd_json::{Dialect, Reading, Value, read};
///
/// #[derive(serde::Deserialize)]
/// struct Switch {
///     on: bool,
/// }
/// let value = Value::parse(r#"{"on": "yes"}"#, Dialect::Strict)?;
/// assert!(read::<Switch>(&value, Reading::Lenient)?.on);
/// let error = read::<Switch>(&value, Reading::Strict).err().expect("a string is no boolean");
/// assert_eq!((error.path.as_str(), error.message.as_str()), ("on", "expected a boolean, got a string"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<T: DeserializeOwned>(value: &Value<'_>, reading: Reading) -> Result<T, ReadError> {
    serde_path_to_error::deserialize(Reader { value: value.clone(), reading }).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let parent = if path == "." { String::new() } else { path };
        let error = ReadError { path: inner.field.unwrap_or_default(), message: inner.message };
        if parent.is_empty() || error.path == parent || parent.ends_with(&format!(".{}", error.path)) {
            ReadError { path: if parent.is_empty() { error.path } else { parent }, ..error }
        } else {
            error.within(&parent)
        }
    })
}

/// What serde hears of an error: a sentence, and the field that it adds to the path, when it is about a missing or
/// unknown field.
#[derive(Debug)]
struct Failure {
    field: Option<String>,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Failure {
        Failure { field: None, message: message.to_string() }
    }

    fn missing_field(field: &'static str) -> Failure {
        Failure { field: Some(field.to_owned()), message: "this field is required".to_owned() }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Failure {
        let message = match expected {
            [] => "unknown field; none is known here".to_owned(),
            known => format!("unknown field; known here: {}", known.join(", ")),
        };
        Failure { field: Some(field.to_owned()), message }
    }
}

/// Hands a value to serde.
struct Reader<'a> {
    value: Value<'a>,
    reading: Reading,
}

impl<'a> Reader<'a> {
    fn lenient(&self) -> bool {
        self.reading == Reading::Lenient
    }

    fn wrong(&self, expected: &dyn de::Expected) -> Failure {
        let message = format!("expected {expected}, got {}", self.value.kind().noun());
        Failure { field: None, message }
    }

    fn visit_text<'de, V: Visitor<'de>>(text: Cow<'a, str>, visitor: V) -> Result<V::Value, Failure> {
        match text {
            Cow::Borrowed(text) => visitor.visit_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.value.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(value) => visitor.visit_bool(value),
            Kind::Number(text) => {
                if let Ok(value) = text.parse::<u64>() {
                    visitor.visit_u64(value)
                } else if let Ok(value) = text.parse::<i64>() {
                    visitor.visit_i64(value)
                } else {
                    visitor.visit_f64(text.parse().unwrap_or(f64::INFINITY))
                }
            }
            Kind::Constant(_) => visitor.visit_f64(lenient_float(&self.value).unwrap_or(f64::NAN)),
            Kind::String(text) => Self::visit_text(text, visitor),
            Kind::Array => {
                let reading = self.reading;
                let items = self.value.items().into_iter().map(|value| Reader { value, reading });
                visitor.visit_seq(de::value::SeqDeserializer::new(items))
            }
            Kind::Object => {
                let reading = self.reading;
                let entries = self.value.entries().into_iter();
                visitor.visit_map(de::value::MapDeserializer::new(
                    entries.map(|(key, value)| (Key(key), Reader { value, reading })),
                ))
            }
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match (self.value.kind(), lenient_bool(&self.value)) {
            (Kind::Bool(value), _) => visitor.visit_bool(value),
            (_, Some(value)) if self.lenient() => visitor.visit_bool(value),
            _ => Err(self.wrong(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match (name, self.value.kind()) {
            (RAW_TOKEN, _) | (TEXT_TOKEN, Kind::String(_)) => visitor.visit_str(self.value.raw()),
            (TEXT_TOKEN, _) => Err(self.wrong(&visitor)),
            (INTEGER_TOKEN, Kind::Number(text)) if Integer::parse(text).is_some() => visitor.visit_str(text),
            (INTEGER_TOKEN, _) => match lenient_integer(&self.value).filter(|_| self.lenient()) {
                Some(integer) => visitor.visit_str(integer.as_str()),
                None => Err(self.wrong(&visitor)),
            },
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match self.value.kind() {
            Kind::String(text) => {
                let name: StrDeserializer<'_, Failure> = text.as_ref().into_deserializer();
                visitor.visit_enum(name)
            }
            _ => Err(self.wrong(&visitor)),
        }
    }

    /// A struct is read from an object. serde would take an array as well, whose items are the fields by position.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if self.value.kind() == Kind::Array {
            Err(self.wrong(&visitor))
        } else {
            self.deserialize_any(visitor)
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier
    }
}

impl<'de> IntoDeserializer<'de, Failure> for Reader<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Hands the key of a member to serde.
struct Key<'a>(Cow<'a, str>);

impl<'de, 'a> IntoDeserializer<'de, Failure> for Key<'a> {
    type Deserializer = de::value::CowStrDeserializer<'a, Failure>;

    fn into_deserializer(self) -> Self::Deserializer {
        self.0.into_deserializer()
    }
}
