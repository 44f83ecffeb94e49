//! What we add, as text in the style of the file it is added to.

/// A value of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Object(Vec<(&'static str, Value)>),
    Array(Vec<Value>),
    String(String),
    Number(u64),
    True,
}

/// How a text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// The end of a line: `\n` or `\r\n`.
    pub(crate) newline: &'static str,
    /// One level of indentation; `None`: everything on one line.
    pub(crate) unit: Option<String>,
}

impl Value {
    /// The text; `indent` is that of the line it begins on.
    pub(crate) fn render(&self, style: &Style, indent: &str) -> String {
        match self {
            Value::String(text) => quoted(text),
            Value::Number(number) => number.to_string(),
            Value::True => "true".to_owned(),
            Value::Object(members) => {
                let parts = members.iter().map(|(key, value)| member(key, value, style, indent));
                bracketed(['{', '}'], parts.collect(), style, indent)
            }
            Value::Array(elements) => {
                let inner = deeper(style, indent);
                let parts = elements.iter().map(|element| element.render(style, &inner));
                bracketed(['[', ']'], parts.collect(), style, indent)
            }
        }
    }
}

/// A member inside a container whose own line is indented so.
fn member(key: &str, value: &Value, style: &Style, indent: &str) -> String {
    format!("{}: {}", quoted(key), value.render(style, &deeper(style, indent)))
}

/// The indentation one level further in.
pub(crate) fn deeper(style: &Style, indent: &str) -> String {
    format!("{indent}{}", style.unit.as_deref().unwrap_or_default())
}

fn bracketed([open, close]: [char; 2], parts: Vec<String>, style: &Style, indent: &str) -> String {
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    if style.unit.is_none() {
        return format!("{open}{}{close}", parts.join(", "));
    }
    let inner = format!("{}{}", style.newline, deeper(style, indent));
    let body = parts.join(&format!(",{inner}"));
    format!("{open}{inner}{body}{}{indent}{close}", style.newline)
}

/// A string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    // A string always has a JSON form.
    serde_json::to_string(text).unwrap_or_default()
}
