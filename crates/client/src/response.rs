//! Reads answers to `hook/invoke` strictly, and checks whether they belong to the request.

use hooksd_json::{Dialect, Value};
use hooksd_protocol::methods::InvokeResult;
use uuid::Uuid;

use crate::error::{ClientError, ResponseMismatch};

/// Reads the result of `hook/invoke`.
///
/// # Errors
/// When any part of it does not fit: an answer that cannot be read whole is no answer.
pub fn read_invoke_result(raw: &str) -> Result<InvokeResult, ClientError> {
    let bad = |message: String| ClientError::BadAnswer(message);
    let value = Value::parse(raw, Dialect::Strict).map_err(|error| bad(error.to_string()))?;
    InvokeResult::read(&value).map_err(|error| bad(error.to_string()))
}

/// Checks that an answer belongs to this invocation and was made from this snapshot.
///
/// # Errors
/// The first id that differs.
pub fn check_response(
    result: &InvokeResult,
    expected_invocation_id: Uuid,
    expected_snapshot_id: &str,
) -> Result<(), ResponseMismatch> {
    if result.invocation_id != expected_invocation_id {
        return Err(ResponseMismatch {
            field: "invocation_id",
            expected: expected_invocation_id.to_string(),
            got: result.invocation_id.to_string(),
        });
    }
    if result.snapshot_id != expected_snapshot_id {
        return Err(ResponseMismatch {
            field: "snapshot_id",
            expected: expected_snapshot_id.to_owned(),
            got: result.snapshot_id.clone(),
        });
    }
    Ok(())
}
