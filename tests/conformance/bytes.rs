//! Byte specs, file trees and long strings of the vectors.

use std::fs;
use std::path::Path;

use crate::json::{Json, Node, quote};

/// The bytes that a spec means: a string, `{"base64"}`, `{"repeat", "times"}`, or a list of these.
pub(crate) fn bytes(spec: &Json<'_>) -> Result<Vec<u8>, String> {
    bytes_with(spec, false)
}

/// The same, with every repetition cut to one: the ordinary value in place of the extraordinary one.
pub(crate) fn bytes_once(spec: &Json<'_>) -> Result<Vec<u8>, String> {
    bytes_with(spec, true)
}

fn bytes_with(spec: &Json<'_>, once: bool) -> Result<Vec<u8>, String> {
    match &spec.node {
        Node::Text(text) => Ok(text.lossy.clone().into_bytes()),
        Node::Array(parts) => {
            let parts: Result<Vec<Vec<u8>>, String> =
                parts.iter().map(|part| bytes_with(part, once)).collect();
            Ok(parts?.concat())
        }
        _ => match (spec.get("base64"), spec.get("repeat")) {
            (Some(text), None) => base64(text.str()?),
            (None, Some(text)) => {
                let times = if once { 1 } else { spec.need("times")?.number()? as usize };
                Ok(text.str()?.repeat(times).into_bytes())
            }
            _ => Err(format!("not a byte spec: {}", spec.raw)),
        },
    }
}

/// RFC 4648 base64 with padding.
pub(crate) fn base64(text: &str) -> Result<Vec<u8>, String> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value =
            ALPHABET.iter().position(|known| *known == byte).ok_or_else(|| format!("not base64: {text}"))?;
        bits = bits << 6 | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Ok(out)
}

/// Lays out a tree below `top`: `{"dir"}`, `{"file", "text"|"base64"}`, `{"symlink", "to"}`. `place` puts real paths
/// in for placeholders.
pub(crate) fn lay_out(top: &Path, tree: &[Json<'_>], place: &dyn Fn(&str) -> String) -> Result<(), String> {
    for item in tree {
        if let Some(name) = item.get("dir") {
            fs::create_dir_all(top.join(name.str()?)).map_err(|error| error.to_string())?;
            continue;
        }
        let name = item.get("file").or_else(|| item.get("symlink"));
        let path = top.join(name.ok_or_else(|| format!("not an item of a tree: {}", item.raw))?.str()?);
        fs::create_dir_all(path.parent().unwrap()).map_err(|error| error.to_string())?;
        let made = match (item.get("to"), item.get("base64"), item.get("text")) {
            (Some(target), _, _) => std::os::unix::fs::symlink(place(target.str()?), &path),
            (_, Some(encoded), _) => fs::write(&path, base64(encoded.str()?)?),
            (_, _, Some(text)) => fs::write(&path, place(text.str()?)),
            _ => return Err(format!("not an item of a tree: {}", item.raw)),
        };
        made.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// The text of a value with each `{"$repeat": {"text", "times"}}` spelled out; everything else as it is spelled.
pub(crate) fn spelled_out(value: &Json<'_>) -> Result<String, String> {
    if !value.raw.contains("$repeat") {
        return Ok(value.raw.to_owned());
    }
    match &value.node {
        Node::Array(items) => {
            let items: Result<Vec<String>, String> = items.iter().map(spelled_out).collect();
            Ok(format!("[{}]", items?.join(",")))
        }
        Node::Object(members) => {
            if let Some(repeat) = value.get("$repeat") {
                let times = repeat.need("times")?.number()? as usize;
                return Ok(quote(&repeat.need("text")?.str()?.repeat(times)));
            }
            let members: Result<Vec<String>, String> = members
                .iter()
                .map(|(key, member)| Ok(format!("{}:{}", quote(&key.lossy), spelled_out(member)?)))
                .collect();
            Ok(format!("{{{}}}", members?.join(",")))
        }
        _ => Ok(value.raw.to_owned()),
    }
}
