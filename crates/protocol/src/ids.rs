//! The version of the protocol, and the ids of events as callers spell them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The version of the protocol that this build speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// The integer 1 (D23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtocolVersion;

impl Serialize for ProtocolVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(PROTOCOL_VERSION)
    }
}

impl<'de> Deserialize<'de> for ProtocolVersion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ProtocolVersion, D::Error> {
        let version = hooksd_json::Integer::deserialize(deserializer)?;
        if version.as_str() == "1" {
            return Ok(ProtocolVersion);
        }
        Err(serde::de::Error::custom(format_args!(
            "expected 1, the protocol version of this build, got {}",
            version.as_str()
        )))
    }
}

impl JsonSchema for ProtocolVersion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProtocolVersion".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "const": 1 })
    }
}

/// A UUID in any usual spelling. How it was spelled counts when two requests are compared (D21).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvocationId {
    /// The UUID.
    pub uuid: Uuid,
    /// How it was spelled.
    pub spelling: String,
}

impl From<Uuid> for InvocationId {
    fn from(uuid: Uuid) -> InvocationId {
        InvocationId { uuid, spelling: uuid.to_string() }
    }
}

impl Serialize for InvocationId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.uuid.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InvocationId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<InvocationId, D::Error> {
        let spelling = String::deserialize(deserializer)?;
        Ok(InvocationId { uuid: uuid_from(&spelling)?, spelling })
    }
}

impl JsonSchema for InvocationId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InvocationId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "uuid" })
    }
}

/// Reads a UUID in any usual spelling: with hyphens, without, in braces, or as a URN (D23). The prefix of a URN must
/// be in lower case, as recorded (vector `transport/request/id-urn-upper`).
///
/// # Errors
/// When the text is none of these.
pub fn uuid_from<E: serde::de::Error>(text: &str) -> Result<Uuid, E> {
    let unusual = || E::custom("expected a UUID, like 0f8fad5b-d9cb-469f-a165-70867728950e");
    if text.contains(':') && !text.starts_with("urn:uuid:") {
        return Err(unusual());
    }
    Uuid::try_parse(text).map_err(|_| unusual())
}
