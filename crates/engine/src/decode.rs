//! Decodes a handler's output as Python's `json.loads` decodes bytes: as UTF-8, UTF-16 or UTF-32, which a byte order
//! mark or the positions of the zero bytes tell apart. A surrogate without a partner becomes U+FFFD (D4).

/// The text of `bytes`; `None` when they are not text in the encoding that they seem to have.
pub(crate) fn json_text(bytes: &[u8]) -> Option<String> {
    match detect(bytes) {
        Encoding::Utf8 { mark } => utf8(bytes.get(mark..)?),
        Encoding::Utf16 { mark, big } => utf16(bytes.get(mark..)?, big),
        Encoding::Utf32 { mark, big } => utf32(bytes.get(mark..)?, big),
    }
}

#[derive(Debug, Clone, Copy)]
/// An encoding: `mark` is how long its byte order mark is, in bytes, and `big` whether the high byte comes first.
enum Encoding {
    Utf8 { mark: usize },
    Utf16 { mark: usize, big: bool },
    Utf32 { mark: usize, big: bool },
}

fn detect(bytes: &[u8]) -> Encoding {
    for (mark, encoding) in [
        (&b"\xFF\xFE\0\0"[..], Encoding::Utf32 { mark: 4, big: false }),
        (b"\0\0\xFE\xFF", Encoding::Utf32 { mark: 4, big: true }),
        (b"\xFF\xFE", Encoding::Utf16 { mark: 2, big: false }),
        (b"\xFE\xFF", Encoding::Utf16 { mark: 2, big: true }),
        (b"\xEF\xBB\xBF", Encoding::Utf8 { mark: 3 }),
    ] {
        if bytes.starts_with(mark) {
            return encoding;
        }
    }
    match bytes {
        [0, 0, _, _, ..] => Encoding::Utf32 { mark: 0, big: true },
        [0, _, _, _, ..] => Encoding::Utf16 { mark: 0, big: true },
        [_, 0, 0, 0, ..] => Encoding::Utf32 { mark: 0, big: false },
        [_, 0, _, _, ..] => Encoding::Utf16 { mark: 0, big: false },
        [0, _] => Encoding::Utf16 { mark: 0, big: true },
        [_, 0] => Encoding::Utf16 { mark: 0, big: false },
        _ => Encoding::Utf8 { mark: 0 },
    }
}

fn utf8(bytes: &[u8]) -> Option<String> {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                out.push_str(text);
                return Some(out);
            }
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                out.push_str(std::str::from_utf8(valid).ok()?);
                // A surrogate that is spelled in three bytes is read. Anything else is not UTF-8.
                match after {
                    [0xED, 0xA0..=0xBF, 0x80..=0xBF, after @ ..] => {
                        out.push(char::REPLACEMENT_CHARACTER);
                        rest = after;
                    }
                    _ => return None,
                }
            }
        }
    }
}

fn utf16(bytes: &[u8], big: bool) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let units =
        pairs.iter().map(|pair| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) });
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn utf32(bytes: &[u8], big: bool) -> Option<String> {
    let (quads, []) = bytes.as_chunks::<4>() else { return None };
    quads
        .iter()
        .map(|quad| {
            let code = if big { u32::from_be_bytes(*quad) } else { u32::from_le_bytes(*quad) };
            match code {
                0xD800..0xE000 => Some(char::REPLACEMENT_CHARACTER),
                _ => char::from_u32(code),
            }
        })
        .collect()
}
