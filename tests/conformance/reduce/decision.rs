//! Decisions compared: diagnostics by code, severity, handler, field and order, all else exactly.

use crate::compare::{Rules, same};
use crate::json::Json;

/// The first difference.
pub(crate) fn same_decision(expected: &str, got: &str) -> Result<(), String> {
    let (_, expected) = split(expected, |_| false)?;
    let (_, got) = split(got, |_| false)?;
    same(&Json::parse(&expected)?, &Json::parse(&got)?, Rules::default())
}

/// A diagnostic without its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) code: String,
    pub(crate) severity: String,
    pub(crate) handler: Option<String>,
    pub(crate) field: Option<String>,
}

impl Remark {
    fn read(diagnostic: &Json<'_>) -> Result<Remark, String> {
        let known = ["code", "severity", "message", "handler_id", "field"];
        if let Some((key, _)) =
            diagnostic.entries().into_iter().find(|(key, _)| !known.contains(&key.lossy.as_str()))
        {
            return Err(format!("a diagnostic has {:?}", key.lossy));
        }
        let optional = |name: &str| diagnostic.need(name).map(|value| value.text().map(str::to_owned));
        Ok(Remark {
            code: diagnostic.need("code")?.str()?.to_owned(),
            severity: diagnostic.need("severity")?.str()?.to_owned(),
            handler: optional("handler_id")?,
            field: optional("field")?,
        })
    }

    fn told(&self) -> String {
        let Remark { code, severity, handler, field } = self;
        serde_json::json!({"code": code, "severity": severity, "handler_id": handler, "field": field})
            .to_string()
    }
}

/// Takes diagnostics out of a decision; the rest is the decision without messages.
pub(crate) fn split(decision: &str, out: impl Fn(&Remark) -> bool) -> Result<(Vec<Remark>, String), String> {
    let decision = Json::parse(decision)?;
    let mut taken = Vec::new();
    let mut members = Vec::new();
    for (key, value) in decision.entries() {
        let value = if key.lossy == "diagnostics" {
            let remarks: Result<Vec<Remark>, String> = value.items().iter().map(Remark::read).collect();
            let (removed, left): (Vec<Remark>, Vec<Remark>) = remarks?.into_iter().partition(&out);
            taken = removed;
            format!("[{}]", left.iter().map(Remark::told).collect::<Vec<_>>().join(","))
        } else {
            value.raw.to_owned()
        };
        members.push(format!("{}:{value}", crate::json::quote(&key.lossy)));
    }
    Ok((taken, format!("{{{}}}", members.join(","))))
}
